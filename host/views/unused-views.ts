// UnusedViews: rows of definitions that no view of the service has any more.
import type { LogEntry } from '@svc/kit/log-entry';
import type { ViewStore } from '../engine/needs/views.ts';
import type { ProjectedView } from './view-projector.ts';

/** Deletes the rows that were not used for `ViewLimits.keptMs`. A failure is logged; never rejects. */
export async function removeUnusedViews(
  store: Pick<ViewStore, 'removeUnused'>,
  views: readonly ProjectedView[],
  nowMs: number,
  log: (entry: LogEntry) => void,
): Promise<void> {
  try {
    // Rows that answer queries in place of the new ones are in use, too.
    const used = views.flatMap(({ folded, shared }) => [folded.stored.definition, shared.former]);
    await store.removeUnused(new Set(used), nowMs);
  } catch (error) {
    const fields = { reason: error instanceof Error ? error.message : String(error) };
    log({ level: 'warn', message: 'unused rows of views were not deleted', fields });
  }
}
