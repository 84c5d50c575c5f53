// MonotonicClock: a clock that all processes of the machine share and that never goes back.

/** Returns its time in milliseconds, with fractions. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
