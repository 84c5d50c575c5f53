// Interval calls back again and again. It does not keep the process alive.
import type { ServiceClock } from '../engine/needs/clock.ts';

/** Calls `callback` every `ms` milliseconds of the clock; absent: of the machine's. Returns a function that ends this. */
export function interval(ms: number, callback: () => void, clock?: ServiceClock): () => void {
  if (clock === undefined) {
    const timer = setInterval(callback, ms).unref();
    return () => clearInterval(timer);
  }
  const again = (): (() => void) =>
    clock.after(ms, () => {
      cancel = again();
      callback();
    });
  let cancel = again();
  return () => cancel();
}
