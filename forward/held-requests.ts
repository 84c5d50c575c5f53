// HeldRequests: requests that wait while their service goes from one instance to another. Their bodies are not read meanwhile.
//
// Invariants
// - At most `heldMax` requests wait, at most `heldOfServiceMax` of them for one service, and none longer than `heldMs`.
// - Requests of a service continue in the order in which they came.

export interface HoldLimits {
  readonly heldMax: number;
  readonly heldOfServiceMax: number;
  /** Milliseconds. */
  readonly heldMs: number;
}

/** Why a request is not held, or not any longer. */
export type HoldEnd = 'released' | 'full' | 'timed-out';

interface HeldRequest {
  readonly end: (end: HoldEnd) => void;
  readonly timer: NodeJS.Timeout;
}

export class HeldRequests {
  readonly #limits: HoldLimits;
  readonly #services = new Map<string, Set<HeldRequest>>();
  #count = 0;

  constructor(limits: HoldLimits) {
    this.#limits = limits;
  }

  get count(): number {
    return this.#count;
  }

  /** Calls `ended` once, perhaps at once. Returns the function that forgets the request: its client is gone. */
  add(key: string, ended: (end: HoldEnd) => void): () => void {
    const { heldMax, heldOfServiceMax, heldMs } = this.#limits;
    const held = this.#services.get(key) ?? new Set();
    if (this.#count >= heldMax || held.size >= heldOfServiceMax) {
      ended('full');
      return () => undefined;
    }
    this.#services.set(key, held);
    const request: HeldRequest = {
      end: ended,
      timer: setTimeout(() => this.#finish(key, request, 'timed-out'), heldMs),
    };
    held.add(request);
    this.#count++;
    return () => void this.#forget(key, request);
  }

  release(key: string): void {
    for (const request of this.#services.get(key) ?? []) this.#finish(key, request, 'released');
  }

  #finish(key: string, request: HeldRequest, end: HoldEnd): void {
    if (this.#forget(key, request)) request.end(end);
  }

  #forget(key: string, request: HeldRequest): boolean {
    const held = this.#services.get(key);
    if (held?.delete(request) !== true) return false;
    clearTimeout(request.timer);
    this.#count--;
    if (held.size === 0) this.#services.delete(key);
    return true;
  }
}
