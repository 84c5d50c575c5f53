// StartFailure adds the source location to the error of a module that failed while it started. The history thread
// locates the fault within its own limits; if it cannot, the error is reported without a location.
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { HistoryWork } from '../history/reader/history-reader.ts';
import { HistoryThread } from '../history/reader/history-thread.ts';

const LIBRARY = '~lib/';
/** Maximum length of the location, which comes from the module's source map. */
const LOCATION_MAX = 300;

export interface StartedModule {
  /** The whole environment of the history thread. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns the data folder, the source and the settings that the history thread starts with. */
  readonly work: () => Promise<HistoryWork>;
}

/**
 * Returns the failure with its location in the message. Any other failure, or one that cannot be located, is returned
 * unchanged.
 */
export async function locatedStartFailure(
  failure: unknown,
  { env, work: known }: StartedModule,
): Promise<unknown> {
  if (!(failure instanceof SvcError) || !(failure.cause instanceof GuestFault)) return failure;
  const { frames } = failure.cause;
  const work = await known();
  const history = new HistoryThread({ work: () => work, env });
  try {
    const { kind, file, fingerprint } = work.source;
    const of = { kind, file, fingerprint };
    const { locations } = await history.ask({ kind: 'locations', of, faults: [{ frames }] });
    // A location in the library alone does not help the author: an optimizer has moved the code.
    const location = locations[0]!.find((one) => !one.file.startsWith(LIBRARY));
    if (location === undefined) return failure;
    const within = location.function === null ? '' : ` (${location.function})`;
    const where = `${location.file}:${location.line}${within}`.slice(0, LOCATION_MAX);
    const message = `${failure.message} It failed at ${where}.`;
    return new SvcError(failure.code, message, { cause: failure });
  } catch {
    return failure;
  } finally {
    await history.close();
  }
}
