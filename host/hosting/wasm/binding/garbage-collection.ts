// collectGarbage runs V8's garbage collector at once. V8 sees the small objects of an instance, not the megabytes of its
// memory, so by itself it collects released instances only after gigabytes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | undefined;

/** Frees the memory of every object of this thread that is not reachable. Takes some milliseconds, and blocks the thread. */
export function collectGarbage(): void {
  collect ??= exposedCollector();
  collect();
}

/** V8 gives the function to contexts that are created while the flag is set. */
function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collector = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  return collector;
}
