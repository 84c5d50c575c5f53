// AskedToStop: the signals that stop a command which has to end processes of its own.
import { npmEnds } from './npm-end.ts';

/** Time after a signal in which the same signal counts as a copy of the first one, in milliseconds. */
const PASSED_ON_MS = 1_000;

/**
 * `asked` resolves at a signal, or when npm has ended without passing the signal on. `again` resolves when a signal
 * arrives once more, later than PASSED_ON_MS after it arrived first. `lifecycleEvent`: the npm script that runs, if npm
 * started this process.
 */
export function askedToStop(lifecycleEvent: string | undefined): {
  readonly asked: Promise<void>;
  readonly again: Promise<void>;
} {
  const asked = Promise.withResolvers<void>();
  const again = Promise.withResolvers<void>();
  // A terminal sends SIGHUP when it is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      asked.resolve();
      // The same signal may arrive twice: from the terminal, and from a program that passes it on.
      setTimeout(() => process.once(signal, () => again.resolve()), PASSED_ON_MS).unref();
      process.on(signal, () => {});
    });
  void npmEnds(lifecycleEvent).then(asked.resolve);
  return { asked: asked.promise, again: again.promise };
}
