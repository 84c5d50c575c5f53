// WatchedView follows the rows of a view that another node writes: the queries of this node read them, and what the threads of this node
// share about the view is kept up to date. A view that has stopped here goes on once another node has gone on with it.
import type { ServiceClock } from '../engine/needs/clock.ts';
import type { Positions } from '../engine/needs/feed.ts';
import type { RowsProgress, ViewReader } from '../engine/needs/views.ts';
import type { SharedView } from './shared-view.ts';
import type { RowsAtStop } from './view-stopped.ts';

/** Pause between two looks at how far the rows are, in milliseconds. */
const LOOK_MS = 100;
/** Looks until the caller tries to write the rows itself. */
const LOOKS = 10;

/** Pause between two looks at the rows of a view that has stopped, in milliseconds. */
const STOPPED_LOOK_MS = 1_000;

/**
 * Resolves with true once another node has gone on with a view that has stopped here: it has skipped an event, makes other rows, or has
 * folded the event. That it has folded events before that one is no sign, since it may stop there as well. Resolves with false if
 * `signal` is aborted before. Never rejects.
 */
export async function goneOnElsewhere(
  stopped: RowsAtStop,
  progress: () => Promise<RowsProgress>,
  feed: Pick<Positions, 'hasReached'>,
  signal: AbortSignal,
  after: ServiceClock['after'],
): Promise<boolean> {
  const look = async () => {
    const { revision, foldedTo } = await progress();
    if (revision !== stopped.revision) return true;
    return foldedTo !== undefined && feed.hasReached(foldedTo.position, stopped.after);
  };
  while (!signal.aborted) {
    // oxlint-disable-next-line no-await-in-loop -- a look follows the other
    if (await look().catch(() => false)) return true;
    // oxlint-disable-next-line no-await-in-loop -- a look follows the other
    await new Promise<void>((resolve) => {
      after(STOPPED_LOOK_MS, resolve);
    });
  }
  return false;
}

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
