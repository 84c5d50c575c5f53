// FirstProcess ends the first process of a container when SIGTERM or SIGINT asks for it. Linux ignores such a signal in process 1 unless
// the process listens for it, so without this each stop of a deployed service would last until the process is killed.
//
// Invariant: a program that listens for a signal itself is left alone.

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Closes all that the program serves; one function for each call of `endWithSignal`. */
const closers = new Set<() => Promise<void>>();

/** Calls `close` when a signal ends process 1, before it ends. Returns a function after which `close` is not called any more. */
export function endWithSignal(close: () => Promise<void>): () => void {
  if (process.pid !== 1) return () => {};
  if (closers.size === 0) for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  closers.add(close);
  return () => {
    closers.delete(close);
    if (closers.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  // It comes first, so that listeners for one signal are still counted.
  if (process.listenerCount(signal) > 1) return;
  void Promise.allSettled([...closers].map((close) => close())).then(() => process.exit(0));
}
