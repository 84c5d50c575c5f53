// Bodies between a connection and whoever produces or consumes them: calls without Node streams and without a promise
// for each chunk.
import type { FieldList } from '../messages/field-list.ts';
import type { MessageFailure } from '../messages/failure.ts';

/** Takes the body of a message that is sent. */
export interface BodySink {
  /**
   * Sends bytes, which then belong to the connection. Returns false if the caller should wait for `onDrain` before it sends
   * more. Ignored after the end, and when the connection is gone. Throws a RangeError for more bytes than announced.
   */
  write(bytes: Buffer): boolean;
  /**
   * Ends the body. `trailers` is name, value, name, value and so on; only a chunked body carries them. Throws a RangeError
   * if fewer bytes were sent than announced; the message is then cut.
   */
  end(trailers?: readonly string[]): void;
  /** Breaks the message off so that the peer never sees a valid end. */
  destroy(): void;
  onDrain: (() => void) | undefined;
}

/** Receives the body of a request. Bytes that it is given belong to it. */
export interface BodyReceiver {
  data(bytes: Buffer): void;
  end(trailers: FieldList): void;
  /** The body is not complete and never will be. */
  broken(failure: MessageFailure): void;
}
