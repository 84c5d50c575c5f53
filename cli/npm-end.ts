// npmEnds: waits for the end of the npm that started a command. When npm is stopped, it ends the shell between npm and
// this process. Some shells do not pass the signal on, so this process watches its parent.

/** Interval between two checks of the parent process, in milliseconds. */
const PARENT_CHECK_MS = 200;

/**
 * Resolves once the parent process has ended. `lifecycleEvent`: the npm script that runs; undefined if npm did not
 * start this process, and then the promise never resolves.
 */
export async function npmEnds(lifecycleEvent: string | undefined): Promise<void> {
  const { promise, resolve: ended } = Promise.withResolvers<void>();
  if (lifecycleEvent !== undefined) {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      ended();
    }, PARENT_CHECK_MS);
    watch.unref();
  }
  return promise;
}
