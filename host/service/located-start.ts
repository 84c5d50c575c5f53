// LocatedStart adds the source location of a fault to the error with which a service could not start.
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
