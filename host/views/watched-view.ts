// WatchedView keeps what the threads of this node share about a view up to date whose rows another node writes: the queries of this
// node read the rows of that one.
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { ViewReader } from '../engine/needs/views.ts';
import type { SharedView } from './shared-view.ts';

/** Pause between two looks at how far the rows are, in milliseconds. */
const LOOK_MS = 100;
/** Looks until the caller tries to write the rows itself. */
const LOOKS = 10;

/** Watches the rows for about a second, or until `signal` is aborted. Never rejects. */
export async function watchView(
  reader: Pick<ViewReader, 'status' | 'close'>,
  shared: SharedView,
  signal: AbortSignal,
  after: ServiceClock['after'],
): Promise<void> {
  try {
    for (let look = 0; look < LOOKS && !signal.aborted; look++) {
      // oxlint-disable-next-line no-await-in-loop -- a look follows the other
      const status = await reader.status();
      const foldedTo = status.state === 'missing' ? undefined : status.foldedTo;
      shared.foldedTo(foldedTo?.position ?? '');
      shared.become(status.state === 'live' ? 'live' : 'building');
      // oxlint-disable-next-line no-await-in-loop -- a look follows the other
      await new Promise<void>((resolve) => {
        after(LOOK_MS, resolve);
      });
    }
  } finally {
    reader.close();
  }
}
