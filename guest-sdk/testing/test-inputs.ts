// TestInputs: time, random numbers and metadata as a test sets them. Time does not advance by itself; each call uses
// the next random number.
import type { RandomSource, Clock, Metadata } from '@svc/host/tools';

/** Milliseconds since 1970, ISO text with a time zone, or a Date. */
export type Time = number | string | Date;

/** The time until a test sets it: 2026-01-01T00:00:00Z, in milliseconds since 1970. */
export const TIME_DEFAULT = Date.UTC(2026, 0, 1);

export class SetClock implements Clock {
  #nowMs = TIME_DEFAULT;
  #monotonicMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  /** Milliseconds by which the time was set forward. */
  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Sets the time. Throws RangeError for a value that is not a time. */
  set(time: Time): void {
    const nowMs = msOf(time);
    this.#monotonicMs += Math.max(0, nowMs - this.#nowMs);
    this.#nowMs = nowMs;
  }
}

/** Returns milliseconds since 1970. Throws RangeError for a value that is not a time. */
function msOf(time: Time): number {
  const ms = typeof time === 'number' ? time : new Date(time).getTime();
  if (!Number.isSafeInteger(ms) || ms < 0)
    throw new RangeError(
      `'${String(time)}' is no time: give milliseconds since 1970, ISO text, or a Date`,
    );
  return ms;
}

/** Returns ISO text. Throws RangeError for a value that is not a time, or is after the year 275760. */
export function isoText(time: Time): string {
  return new Date(msOf(time)).toISOString();
}

export class SetRandomSource implements RandomSource {
  #next = 1n;

  next64(): bigint {
    const seed = this.#next;
    this.#next = BigInt.asUintN(64, seed + 1n);
    return seed;
  }

  set(seed: number | bigint): void {
    this.#next = BigInt.asUintN(64, BigInt(seed));
  }
}

export function metadataOf(
  metadata: Readonly<Record<string, string | readonly string[]>>,
): Metadata {
  return Object.entries(metadata).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : value).map((one) => [name, one] as const),
  );
}
