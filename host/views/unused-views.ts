// UnusedViews: rows of definitions that no view of the service has any more.
import type { LogEntry } from '@svc/kit/log-entry';
import type { ViewStore } from '../engine/needs/views.ts';
import type { FoldedView } from './folded-view.ts';

/** Deletes the rows that were not used for `ViewLimits.keptMs`. A failure is logged. */
export function removeUnusedViews(
  store: Pick<ViewStore, 'removeUnused'>,
  views: readonly FoldedView[],
  nowMs: number,
  log: (entry: LogEntry) => void,
): void {
  try {
    store.removeUnused(new Set(views.map(({ stored }) => stored.definition)), nowMs);
  } catch (error) {
    const fields = { reason: error instanceof Error ? error.message : String(error) };
    log({ level: 'warn', message: 'unused rows of views were not deleted', fields });
  }
}
