// LocatedStart adds the source location of a fault to the error with which a service could not start.
import { LocatedLog } from '../introspection/located-log.ts';
import type { RunnableSettings, RunOptions } from './run-options.ts';
import type { HistoryWork } from '../history/reader/history-reader.ts';

/** Resolves as `starting` does. If it rejects, the error has the source location of a fault. */
export async function withLocatedFailure<Result>(
  starting: Promise<Result>,
  env: Readonly<Record<string, string>>,
  work: () => Promise<HistoryWork>,
): Promise<Result> {
  try {
    return await starting;
  } catch (failure) {
    const { locatedStartFailure } = await import('../introspection/start-failure.ts');
    throw await locatedStartFailure(failure, { env, work });
  }
}

/**
 * Returns the log in which text lines of faults are followed by their source locations; undefined for a deployed service, for
 * `svc dev`, which locates faults itself, and for JSON lines, which programs read.
 */
export function locatedLog(
  { deployed, logFormat }: Pick<RunnableSettings, 'deployed' | 'logFormat'>,
  { log, loop }: Pick<RunOptions, 'log' | 'loop'>,
  locationsOf: ConstructorParameters<typeof LocatedLog>[1],
): LocatedLog | undefined {
  if (loop !== undefined || deployed || logFormat !== 'text') return undefined;
  return new LocatedLog(log, locationsOf);
}
