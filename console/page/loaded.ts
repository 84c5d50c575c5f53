// useLoaded: the data that a screen displays, loaded from the console's server when its key changes, and repeatedly
// if `everyMs` is given. A value of the same key stays until a newer one is available, so that nothing flickers. A
// hidden page does not repeat its requests.
import { useEffect, useState } from 'preact/hooks';
import { ApiProblem } from './api.ts';

/** Minimum delay of a repetition after a failed attempt; the delay is also at least twice `everyMs`. */
const AFTER_PROBLEM_MS = 2000;

export interface Loaded<T> {
  /** The loaded value; undefined until one is available. */
  readonly value: T | undefined;
  /** Whether there is a value, and it belongs to the current key instead of the previous one. */
  readonly isCurrent: boolean;
  /** Problem of the last attempt with the current key; undefined if it succeeded, or none has ended. */
  readonly problem: ApiProblem | undefined;
  readonly reload: () => void;
}

interface Held<T> {
  readonly key: string | undefined;
  readonly value: T | undefined;
  readonly problem: ApiProblem | undefined;
}

export function useLoaded<T>(
  /** Key of the data; undefined: nothing is loaded. */
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  options: {
    /** Delay between the end of an attempt and the next one; absent: the data is loaded once. */
    readonly everyMs?: number;
    /** True: displays the value of the previous key until that of the new key is available. */
    readonly keepsOld?: boolean;
  } = {},
): Loaded<T> {
  const { everyMs, keepsOld = false } = options;
  const [held, setHeld] = useState<Held<T>>({ key, value: undefined, problem: undefined });
  const [reloads, setReloads] = useState(0);
  useEffect(() => {
    if (key === undefined) return undefined;
    const stop = new AbortController();
    const take = (value: T | undefined, problem: ApiProblem | undefined) => {
      if (stop.signal.aborted) return;
      setHeld((old) => ({
        key,
        value: value ?? (old.key === key ? old.value : undefined),
        problem,
      }));
    };
    const run = async () => {
      let waitMs = everyMs;
      try {
        take(await load(stop.signal), undefined);
      } catch (error) {
        take(undefined, problemOf(error));
        if (everyMs !== undefined) waitMs = Math.max(2 * everyMs, AFTER_PROBLEM_MS);
      }
      if (waitMs !== undefined) await pause(waitMs, stop.signal);
      if (everyMs !== undefined && !stop.signal.aborted) void run();
    };
    void run();
    return () => stop.abort();
  }, [key, everyMs, reloads]);
  const isOfKey = held.key === key;
  return {
    value: isOfKey || (keepsOld && key !== undefined) ? held.value : undefined,
    isCurrent: isOfKey && held.value !== undefined,
    problem: isOfKey ? held.problem : undefined,
    reload: () => setReloads((now) => now + 1),
  };
}

export function problemOf(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  return new ApiProblem(0, error instanceof Error ? error.message : String(error));
}

/** Waits for `ms` milliseconds, and then until the page is visible; ends early when `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
  if (!document.hidden || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = new AbortController();
    const seen = () => {
      if (document.hidden && !signal.aborted) return;
      end.abort();
      resolve();
    };
    document.addEventListener('visibilitychange', seen, { signal: end.signal });
    signal.addEventListener('abort', seen, { signal: end.signal });
  });
}
