// SharedBuckets: the token buckets of a service, in memory that all of its threads read and write. Callers come and go, so their buckets
// are in sets of SET_BUCKETS, of which the hash of the caller chooses one. A bucket that is full again is as good as a new one, so the
// fullest bucket of a set goes to a new caller if it is full. If none is, the caller uses the reserved bucket of the limit,
// together with all others for whom there is no bucket.
//
// Invariants:
// - The memory never grows.
// - Threads that take from one bucket at the same time are let through no more often than one thread. A thread writes only directly
//   after it has seen that it still has the lock.
// - A bucket that is not full is never forgotten, and a reserved bucket is nobody else's.
// - No thread waits for another one for ever: a lock that one thread has during LOCK_WAITS_MAX waits of another is taken over. The former
//   holder, if it is still alive, then writes nothing and begins again.
import { type BucketAnswer, type BucketRate, takeToken } from './request-bucket.ts';

/** A caller, as the first bytes of a hash that nobody can predict. */
export interface BucketKey {
  /** 32 unsigned bits. */
  readonly set: number;
  /** Each 32 signed bits. Two callers with the same tags would share a bucket. */
  readonly tags: readonly [number, number];
}

export interface BucketsSize {
  /** Buckets of callers. */
  readonly bucketsMax: number;
  /** Reserved buckets. */
  readonly reserved: number;
}

export interface TakenBucket extends BucketAnswer {
  /** Index of the bucket, by which `restore` finds it again. */
  readonly index: number;
  /** Whether the caller was given the reserved bucket because all buckets of its set were in use. */
  readonly isCrowded: boolean;
}

export const SET_BUCKETS = 64;
/** Attempts to take a lock before the thread waits for it. A lock is held for less than a microsecond. */
const SPINS = 200;
const LOCK_WAIT_MS = 1;
/**
 * Waits for one holder of a lock before it is taken over: two seconds or more, which only a thread that has ended exceeds. The waits are
 * counted, and no clock is read, so the time for which the whole process stands still counts as one wait. The waiting shard answers
 * nothing meanwhile. That is acceptable because a shard leaves a lock behind only if it is ended in the microsecond in which it has one.
 */
const LOCK_WAITS_MAX = 2_000;

export class SharedBuckets {
  readonly #sets: number;
  /** Time at which each bucket is full: those of all sets, and then the reserved ones. */
  readonly #fullAtMs: Float64Array;
  /** Two for each bucket of a set. */
  readonly #tags: Int32Array;
  /** One for each set, and one for each reserved bucket. It grows when it is taken and when it is released: odd while a thread uses it. */
  readonly #locks: Int32Array;

  /** Returns memory for the threads to share. */
  static shared(size: BucketsSize): SharedArrayBuffer {
    const { buckets, lockCount } = layoutOf(size);
    const timeBytes = (buckets + size.reserved) * Float64Array.BYTES_PER_ELEMENT;
    return new SharedArrayBuffer(
      timeBytes + (2 * buckets + lockCount) * Int32Array.BYTES_PER_ELEMENT,
    );
  }

  /** `shared`: memory for the same size. */
  constructor(size: BucketsSize, shared = SharedBuckets.shared(size)) {
    const { sets, buckets, lockCount } = layoutOf(size);
    this.#sets = sets;
    this.#fullAtMs = new Float64Array(shared, 0, buckets + size.reserved);
    const tagsAt = this.#fullAtMs.byteLength;
    this.#tags = new Int32Array(shared, tagsAt, 2 * buckets);
    this.#locks = new Int32Array(shared, tagsAt + this.#tags.byteLength, lockCount);
  }

  /** Takes a token from the bucket of a caller. `reserved`: index of the reserved bucket of the limit. */
  take(key: BucketKey, reserved: number, rate: BucketRate, nowMs: number): TakenBucket {
    const set = key.set % this.#sets;
    const held = this.#lock(set);
    const index = this.#bucketOf(key, set, nowMs);
    if (index < 0) {
      this.#unlock(set, held);
      return { ...this.takeReserved(reserved, rate, nowMs), isCrowded: true };
    }
    const answer = takeToken(this.#fullAtMs[index]!, nowMs, rate);
    const [first, second] = key.tags;
    if (!this.#isHeld(set, held)) return this.take(key, reserved, rate, nowMs);
    this.#tags[2 * index] = first;
    this.#tags[2 * index + 1] = second;
    this.#fullAtMs[index] = answer.fullAtMs;
    this.#unlock(set, held);
    return { ...answer, index, isCrowded: false };
  }

  /** Takes a token from a reserved bucket. */
  takeReserved(reserved: number, rate: BucketRate, nowMs: number): TakenBucket {
    const lock = this.#sets + reserved;
    const index = this.#sets * SET_BUCKETS + reserved;
    const held = this.#lock(lock);
    const answer = takeToken(this.#fullAtMs[index]!, nowMs, rate);
    if (!this.#isHeld(lock, held)) return this.takeReserved(reserved, rate, nowMs);
    this.#fullAtMs[index] = answer.fullAtMs;
    this.#unlock(lock, held);
    return { ...answer, index, isCrowded: false };
  }

  /** Restores a token that was taken from the bucket. `key`: the caller whose it was; undefined for a reserved bucket. */
  restore(index: number, key: BucketKey | undefined, rate: BucketRate): void {
    const buckets = this.#sets * SET_BUCKETS;
    const lock = index < buckets ? Math.floor(index / SET_BUCKETS) : this.#sets + (index - buckets);
    const held = this.#lock(lock);
    const isOwn = index >= buckets || (key !== undefined && this.#isOf(index, key));
    const fullAtMs = this.#fullAtMs[index]! - rate.periodMs / rate.count;
    if (!this.#isHeld(lock, held)) return this.restore(index, key, rate);
    if (isOwn) this.#fullAtMs[index] = fullAtMs;
    this.#unlock(lock, held);
  }

  /** Returns the index of the caller's bucket, or of one that is full if the caller has none; -1 if all buckets of the set are in use. */
  #bucketOf(key: BucketKey, set: number, nowMs: number): number {
    const begin = set * SET_BUCKETS;
    let fullest = -1;
    let fullestMs = nowMs;
    for (let index = begin; index < begin + SET_BUCKETS; index++) {
      if (this.#isOf(index, key)) return index;
      const fullAtMs = this.#fullAtMs[index]!;
      if (fullAtMs > fullestMs) continue;
      fullest = index;
      fullestMs = fullAtMs;
    }
    return fullest;
  }

  #isOf(index: number, { tags }: BucketKey): boolean {
    return this.#tags[2 * index] === tags[0] && this.#tags[2 * index + 1] === tags[1];
  }

  /** Takes a lock, and returns its value, by which `#unlock` releases it. */
  #lock(lock: number): number {
    let seen = Atomics.load(this.#locks, lock);
    let waits = 0;
    for (let spins = 0; ; spins++) {
      const isFree = (seen & 1) === 0;
      const next = isFree ? seen + 1 : waits === LOCK_WAITS_MAX ? seen + 2 : seen;
      if (next !== seen && this.#swap(lock, seen, next)) return next | 0;
      if (!isFree && spins >= SPINS) {
        Atomics.wait(this.#locks, lock, seen, LOCK_WAIT_MS);
        waits++;
      }
      const now = Atomics.load(this.#locks, lock);
      if (now === seen) continue;
      seen = now;
      spins = 0;
      waits = 0;
    }
  }

  /**
   * Returns whether this thread still has a lock. Its writes follow at once: only a thread that stalls for all of LOCK_WAITS_MAX between
   * this look and its writes can erase what others have counted.
   */
  #isHeld(lock: number, value: number): boolean {
    return Atomics.load(this.#locks, lock) === value;
  }

  /** Releases a lock, unless another thread has taken it over. */
  #unlock(lock: number, value: number): void {
    this.#swap(lock, value, value + 1);
  }

  #swap(lock: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#locks, lock, from, to) === from;
  }
}

function layoutOf({ bucketsMax, reserved }: BucketsSize) {
  const sets = Math.ceil(bucketsMax / SET_BUCKETS);
  return { sets, buckets: sets * SET_BUCKETS, lockCount: sets + reserved };
}
