// Reads requests from bytes that arrive at any split. Does no I/O and knows no clock.
import type { MessageFailure } from '../messages/failure.ts';
import type { MessageLimits } from '../messages/limits.ts';
import type { RequestPart } from '../messages/parts.ts';

export class RequestReader {
  readonly limits: MessageLimits;

  constructor(limits: MessageLimits) {
    this.limits = limits;
  }

  /** Takes bytes. The reader keeps no reference to them once `next` has returned undefined. */
  push(_bytes: Buffer): void {
    throw new Error('not there yet');
  }

  /**
   * Returns the next part, or undefined if it needs more bytes. After an end the head of the next request may follow;
   * after a failure nothing does.
   */
  next(): RequestPart | undefined {
    throw new Error('not there yet');
  }

  /** Takes the end of the peer's side. Returns the failure of a request that is not complete. */
  finish(): MessageFailure | undefined {
    throw new Error('not there yet');
  }

  /** Whether no byte of a request, except an empty line before it, has been read since the last end. */
  get betweenMessages(): boolean {
    return true;
  }

  /** Bytes that were pushed and have not been given as parts. */
  get bufferedBytes(): number {
    return 0;
  }
}
