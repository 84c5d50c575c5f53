// MovingCalls routes calls again whose entity moves from one node to another. Such a call was refused with SVC_ENTITY_MOVED, or was not
// sent, so nothing of it was done.
//
// Invariants
// - A call waits for at most HELD_MS, and at most HELD_MAX calls wait. A call that waits no longer fails with its last refusal.
// - A call is routed again once an owner has changed, and after growing pauses besides: the new owner may learn of it later.
import type { Awaitable } from '@svc/model/call';
import { SvcError } from '@svc/kit/svc-error';
import type { ClusterSlices } from '../storage/cluster-nodes.ts';

/** Longest time that a call waits for its entity to move, in milliseconds. */
const HELD_MS = 2_000;
/** Maximum number of calls that wait. */
const HELD_MAX = 10_000;
/** First and longest pause between two attempts, in milliseconds. */
const PAUSE_MS = 2;
const PAUSE_MS_MAX = 100;

export class MovingCalls {
  readonly #slices: Pick<ClusterSlices, 'version' | 'changed' | 'look'>;
  #held = 0;

  constructor(slices: Pick<ClusterSlices, 'version' | 'changed' | 'look'>) {
    this.#slices = slices;
  }

  /** Number of calls that wait. */
  get held(): number {
    return this.#held;
  }

  /** Makes a call, and again as long as its entity moves. Throws and rejects as the call does. */
  follow<T>(call: () => Awaitable<T>): Awaitable<T> {
    const { version } = this.#slices;
    let answer: Awaitable<T>;
    try {
      answer = call();
    } catch (error) {
      return this.#again(call, version, error);
    }
    return answer instanceof Promise ? this.followed(answer, call, version) : answer;
  }

  /** Returns the answer of a call that was made at a version of the owners, or that of a later attempt. */
  followed<T>(answer: Promise<T>, call: () => Awaitable<T>, version: number): Promise<T> {
    return answer.catch((error: unknown) => this.#again(call, version, error));
  }

  async #again<T>(call: () => Awaitable<T>, madeAt: number, refusal: unknown): Promise<T> {
    if (!isMoving(refusal) || this.#held >= HELD_MAX) throw refusal;
    this.#held++;
    try {
      return await this.#attempts(call, madeAt, refusal);
    } finally {
      this.#held--;
    }
  }

  async #attempts<T>(call: () => Awaitable<T>, madeAt: number, refusal: unknown): Promise<T> {
    const endMs = performance.now() + HELD_MS;
    let version = madeAt;
    let last = refusal;
    this.#slices.look();
    for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) throw last;
      await this.#slices.changed(version, Math.min(pauseMs, leftMs));
      version = this.#slices.version;
      try {
        return await call();
      } catch (error) {
        if (!isMoving(error)) throw error;
        last = error;
      }
    }
  }
}

/** Whether nothing of a call was done because of its entity's owner: another one, or one that has no connection yet. */
function isMoving(failure: unknown): boolean {
  return (
    failure instanceof SvcError &&
    (failure.code === 'SVC_ENTITY_MOVED' || failure.code === 'SVC_SHARD_UNAVAILABLE')
  );
}
