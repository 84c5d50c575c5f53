// KeptBytes: the bytes of one kind that a request holds in memory, counted in the service's budget. For responses these are the response until the caller has received it, the answers that its
// handler received while it waits for the disk, and the inputs of its handler's calls until they are done. For bodies
// it is the part of the request's body that has arrived, until its handler is done.
//
// Invariant: `free` releases the bytes that are counted at that moment, and no later call counts or releases any.
import type { ByteBudget } from './byte-budget.ts';
import { SvcError } from '@svc/kit/svc-error';

/** Bytes that each request may hold whether the service has room or not. */
export const SMALL_BYTES = 16 * 1024;

export class KeptBytes {
  readonly #budget: ByteBudget;
  #bytes = 0;
  #isFreed = false;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Returns whether the service holds as much as it may. */
  get isUsedUp(): boolean {
    return this.#budget.isUsedUp;
  }

  /**
   * Sets the number of bytes. Returns false, and changes nothing, if the number grows above SMALL_BYTES and the service
   * has no room.
   */
  fits(bytes: number): boolean {
    const isGrowing = bytes > this.#bytes;
    if (isGrowing && bytes > SMALL_BYTES && !this.#budget.hasRoom(bytes - this.#bytes))
      return false;
    this.become(bytes);
    return true;
  }

  /**
   * Sets the number of bytes. Returns false, and changes nothing, if the number grows and the service would have no
   * room for another item of the largest size after it.
   */
  leavesRoom(bytes: number): boolean {
    const before = this.#bytes;
    this.become(bytes);
    if (bytes <= before || !this.isUsedUp) return true;
    this.become(before);
    return false;
  }

  /** Creates a counter for further bytes, which is freed separately. */
  beside(): KeptBytes {
    return new KeptBytes(this.#budget);
  }

  /** Sets the number of bytes, whether there is room or not. */
  become(bytes: number): void {
    const more = bytes - this.#bytes;
    if (more === 0 || this.#isFreed) return;
    this.#bytes = bytes;
    this.#budget.add(more);
  }

  /** Releases all bytes; later changes are not counted. */
  free(): void {
    this.become(0);
    this.#isFreed = true;
  }
}

/**
 * Returns the memory of a text, in bytes: one byte per UTF-16 unit for a long text in ASCII, else two, which may be
 * too many.
 */
export function textBytes(text: string): number {
  if (text.length > SMALL_BYTES && Buffer.byteLength(text) === text.length) return text.length;
  return 2 * text.length;
}

/** Creates the failure of a request whose handler has not run, because there is no room for responses. */
export function tooMuchUnsent(): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    'Responses that callers do not take fill the memory that is there for them (svc.http.unsent-bytes-max).',
  );
}

/** Creates the failure of a request whose handler has run, and for whose response there is no room. */
export function responseDropped(): SvcError {
  return new SvcError(
    'SVC_RESPONSE_DROPPED',
    'A response was thrown away: others that callers do not take fill the memory that is there for them ' +
      '(svc.http.unsent-bytes-max).',
  );
}
