// The times of a connection that a server has accepted: what happened last on it, and how long it may take until something
// else does. Setting a time is an assignment, because it happens with every message.
import type { ServerTimes } from './server-limits.ts';
import type { Sweep } from './sweep.ts';

export class ConnectionClock {
  /** When bytes came last. */
  lastByteMs: number;
  readonly #times: ServerTimes;
  readonly #sweep: Pick<Sweep, 'now'>;
  /** When the head began that is being read. */
  #headBeganMs: number | undefined;
  #requestBeganMs: number;
  /** Since when bytes of the body are awaited; undefined: none are. */
  #bodyAwaitedMs: number | undefined;
  #idleSinceMs: number;
  readonly #retiresAtMs: number;

  constructor(times: ServerTimes, sweep: Pick<Sweep, 'now'>) {
    const nowMs = sweep.now();
    this.#times = times;
    this.#sweep = sweep;
    this.lastByteMs = nowMs;
    // The first request has to come within the time of a head.
    this.#headBeganMs = nowMs;
    this.#requestBeganMs = nowMs;
    this.#idleSinceMs = nowMs;
    this.#retiresAtMs = nowMs + times.lifetimeMs();
  }

  /** Whether the connection is so old that it has to close. */
  isOverAt(nowMs: number): boolean {
    return this.#retiresAtMs <= nowMs;
  }

  headEnded(): void {
    this.#requestBeganMs = this.#headBeganMs ?? this.lastByteMs;
    this.#headBeganMs = undefined;
  }

  /** The last response is complete, or the connection is to close. */
  idle(): void {
    this.#idleSinceMs = this.#sweep.now();
  }

  /** Returns the deadline while the client has to send nothing: none. The time for the body begins anew after it. */
  pausedDeadlineMs(): number {
    this.#bodyAwaitedMs = undefined;
    return Infinity;
  }

  /** Returns until when the next byte of the body has to come that the handler waits for. */
  bodyDeadlineMs(): number {
    this.#bodyAwaitedMs ??= this.#sweep.now();
    const { bodyMs, requestMs } = this.#times;
    const sinceMs = Math.max(this.lastByteMs, this.#bodyAwaitedMs);
    return Math.min(sinceMs + bodyMs, this.#requestBeganMs + requestMs);
  }

  /** Returns until when the head has to be complete of which a byte has come. */
  headDeadlineMs(): number {
    this.#headBeganMs ??= this.lastByteMs;
    return this.#headBeganMs + this.#times.headMs;
  }

  /** Returns until when the connection may wait for a request. `isRetired`: it is to close. */
  idleDeadlineMs(isRetired: boolean): number {
    const { idleMs, retiredIdleMs, headMs } = this.#times;
    const firstMs = this.#headBeganMs === undefined ? Infinity : this.#headBeganMs + headMs;
    if (isRetired) return Math.min(firstMs, this.#idleSinceMs + retiredIdleMs);
    return Math.min(firstMs, this.#retiresAtMs, this.#idleSinceMs + idleMs);
  }
}
