// npmEnds: whether the npm that started a command has ended. Told to stop, npm ends the shell that stands between, and
// some shells pass the signal no further.

const PARENT_LOOKED_FOR_MS = 200;

/** Resolves once the process that started this one is gone; never where npm has not started it. */
export async function npmEnds(lifecycleEvent: string | undefined): Promise<void> {
  const { promise, resolve: ended } = Promise.withResolvers<void>();
  if (lifecycleEvent !== undefined) {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      ended();
    }, PARENT_LOOKED_FOR_MS);
    watch.unref();
  }
  return promise;
}
