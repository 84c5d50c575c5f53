// npmEnds: waits for the end of the npm that started a command. When npm is stopped it ends the shell between npm and
// this process, and some shells do not pass the signal on.

const PARENT_LOOKED_FOR_MS = 200;

/** Resolves once the process that started this one has ended; never if npm has not started it. */
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
