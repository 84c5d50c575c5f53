// StartFailure: what is told of a module that failed while it started, with the line of its sources where that was. The
// thread that looks into the past finds it, within its own limits; the failure is told all the same when it cannot.
import { GuestFault } from '../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { HistoryWork } from '../history/reader/history-reader.ts';
import { HistoryThread } from '../history/reader/history-thread.ts';

const LIBRARY = '~lib/';
/** What a map says is as long as its writer likes. */
const PLACE_MAX = 300;

export interface StartedModule {
  /** All that a thread has for an environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly work: () => Promise<HistoryWork>;
}

/** The same failure, and its line in the message; another failure, or one without a line, as it is. */
export async function placedStartFailure(
  failure: unknown,
  { env, work: known }: StartedModule,
): Promise<unknown> {
  if (!(failure instanceof SvcError) || !(failure.cause instanceof GuestFault)) return failure;
  const { frames } = failure.cause;
  const work = await known();
  const past = new HistoryThread({ work: () => work, env });
  try {
    const { kind, file, fingerprint } = work.source;
    const of = { kind, file, fingerprint };
    const { places } = await past.ask({ kind: 'places', of, faults: [{ frames }] });
    // A line of the library alone says nothing to an author: an optimizer has moved it to where it starts.
    const place = places[0]!.find((one) => !one.file.startsWith(LIBRARY));
    if (place === undefined) return failure;
    const within = place.function === null ? '' : ` (${place.function})`;
    const where = `${place.file}:${place.line}${within}`.slice(0, PLACE_MAX);
    const message = `${failure.message} It failed at ${where}.`;
    return new SvcError(failure.code, message, { cause: failure });
  } catch {
    return failure;
  } finally {
    await past.close();
  }
}
