// Reads the responses to requests that the caller announces one at a time. Does no I/O and knows no clock.
import type { MessageFailure } from '../messages/failure.ts';
import type { MessageLimits } from '../messages/limits.ts';
import type { ResponsePart } from '../messages/parts.ts';

export class ResponseReader {
  readonly limits: MessageLimits;

  constructor(limits: MessageLimits) {
    this.limits = limits;
  }

  /** Announces the request that the next final response answers. Allowed only between messages. */
  expect(_requestMethod: string): void {
    throw new Error('not there yet');
  }

  /** Takes bytes. The reader keeps no reference to them once `next` has returned undefined. */
  push(_bytes: Buffer): void {
    throw new Error('not there yet');
  }

  /**
   * Returns the next part, or undefined if it needs more bytes. Bytes to which no announced request belongs are the
   * failure `unsolicited`. After a failure nothing follows.
   */
  next(): ResponsePart | undefined {
    throw new Error('not there yet');
  }

  /**
   * Takes the end of the peer's side. Returns the failure of a response that is not complete, or of one that was expected
   * and has not begun. Completes a body that lasts until then: `next` then returns its end.
   */
  finish(): MessageFailure | undefined {
    throw new Error('not there yet');
  }

  /** Whether no byte of the expected response has been read, and none of another is left. */
  get betweenMessages(): boolean {
    return true;
  }

  /** Bytes that were pushed and have not been given as parts. */
  get bufferedBytes(): number {
    return 0;
  }
}
