// FormerRows: the rows of another definition, which answer the queries of a view until its own rows are built.
import type { LogEntry } from '@svc/kit/log-entry';
import type { Feed } from '../engine/needs/feed.ts';
import type { ViewStore } from '../engine/needs/views.ts';
import type { FoldedView } from './folded-view.ts';
import { isOf } from './view-follower.ts';

/**
 * Returns the definition whose rows have the most events, and are of this journal; an empty text if there is none. A failure
 * is logged.
 */
export async function formerRows(
  { id, stored }: FoldedView,
  feed: Feed,
  store: Pick<ViewStore, 'former'>,
  log: (entry: LogEntry) => void,
): Promise<string> {
  try {
    const former = await store.former(stored);
    const areOfFeed = await Promise.all(former.map(({ foldedTo }) => isOf(feed, foldedTo)));
    const [latest] = former
      .filter((_, index) => areOfFeed[index])
      .toSorted((a, b) => countTo(feed, b.foldedTo.position) - countTo(feed, a.foldedTo.position));
    return latest?.definition ?? '';
  } catch (error) {
    const fields = { view: id, reason: error instanceof Error ? error.message : String(error) };
    log({ level: 'warn', message: 'former rows of a view were not found', fields });
    return '';
  }
}

function countTo(feed: Feed, position: string): number {
  return feed.count(feed.start, position);
}
