// KeptBytes: how much of one kind a request keeps in memory, counted in the budget of the service and, if need be, on its
// connection. Of responses: the response until the caller has taken it and, while it waits for the disk, what its
// handler was told; also the inputs of its handler's calls, until these are done. Of bodies: what has come of the
// request's body, until its handler is done.
//
// Invariant: what was counted is given back once, by `free`.
import type { ByteBudget } from './byte-budget.ts';
import { SvcError } from '@svc/kit/svc-error';

/** Bytes that each request may keep whether the service has room or not. */
export const SMALL_BYTES = 16 * 1024;

/** Bytes that several requests keep together. */
export interface KeptTogether {
  keptBytes: number;
}

export class KeptBytes {
  readonly #budget: ByteBudget;
  readonly #together: KeptTogether | undefined;
  #bytes = 0;
  #isFreed = false;

  constructor(budget: ByteBudget, together?: KeptTogether) {
    this.#budget = budget;
    this.#together = together;
  }

  /** Whether the service keeps as much as it may. */
  get isUsedUp(): boolean {
    return this.#budget.isUsedUp;
  }

  /** Replaces what is kept by so many bytes. Returns false, and changes nothing, when the service has no room. */
  fits(bytes: number): boolean {
    const isGrowing = bytes > this.#bytes;
    if (isGrowing && bytes > SMALL_BYTES && !this.#budget.hasRoom(bytes - this.#bytes))
      return false;
    this.become(bytes);
    return true;
  }

  /**
   * Replaces what is kept by so many bytes. Returns false, and changes nothing, when the service would have no room for
   * one more of the largest after it.
   */
  leavesRoom(bytes: number): boolean {
    const before = this.#bytes;
    this.become(bytes);
    if (bytes <= before || !this.isUsedUp) return true;
    this.become(before);
    return false;
  }

  /** What is kept beside this, and given back by itself; it does not count on the connection. */
  beside(): KeptBytes {
    return new KeptBytes(this.#budget);
  }

  /** Replaces what is kept by so many bytes, whether there is room or not. */
  become(bytes: number): void {
    const more = bytes - this.#bytes;
    if (more === 0 || this.#isFreed) return;
    this.#bytes = bytes;
    this.#budget.add(more);
    if (this.#together !== undefined) this.#together.keptBytes += more;
  }

  /** Gives everything back; bytes that come later are not counted. */
  free(): void {
    this.become(0);
    this.#isFreed = true;
  }
}

/** Bytes that a text takes in memory: one for each UTF-16 unit of a text in ASCII, else two, which may be too many. */
export function textBytes(text: string): number {
  if (text.length > SMALL_BYTES && Buffer.byteLength(text) === text.length) return text.length;
  return 2 * text.length;
}

/** The failure of a request whose handler has not run, because there is no room for responses. */
export function tooMuchUnsent(): SvcError {
  return new SvcError(
    'SVC_OVERLOADED',
    'Responses that callers do not take fill the memory that is there for them (svc.http.unsent-bytes-max).',
  );
}

/** The failure of a request whose handler has run, and whose response finds no room. */
export function responseDropped(): SvcError {
  return new SvcError(
    'SVC_RESPONSE_DROPPED',
    'A response was thrown away: others that callers do not take fill the memory that is there for them ' +
      '(svc.http.unsent-bytes-max).',
  );
}
