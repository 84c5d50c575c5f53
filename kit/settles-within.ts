// SettlesWithin: a wait for something that may not come, with a limit.
import { setTimeout as pause } from 'node:timers/promises';

/** Returns whether the promise settles within the time. It must not reject. */
export async function settlesWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
): Promise<boolean> {
  const timeout = new AbortController();
  const late = pause(timeoutMs, false, { signal: timeout.signal }).catch(() => false);
  const isSettled = await Promise.race([promise.then(() => true), late]);
  timeout.abort();
  return isSettled;
}
