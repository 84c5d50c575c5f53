// StoredRows opens the rows of a view in a database, beside a service that may be writing them.
import type { SkippedEvent, StoredView, ViewStatus } from '../../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { type JournalInDatabase, locationName } from '../../journal-location.ts';
import { connectDatabase } from '../connect-database.ts';
import { PostgresViews } from './postgres-views.ts';
import { scanViewRows } from './view-scan.ts';

/** Names the tool among the writers of views. */
const OWNER = 'tool';

/** Returns the store of the rows. */
export function openStoredRows(location: JournalInDatabase, limits: ViewLimits): PostgresViews {
  const connect = () => connectDatabase(location.source);
  return new PostgresViews({ connect, shown: locationName(location), limits, owner: OWNER });
}

/** Returns how far the rows of a definition are, and the events that are left out of them. */
export async function inspectStoredRows(
  location: JournalInDatabase,
  view: StoredView,
  limits: ViewLimits,
): Promise<{ readonly status: ViewStatus; readonly skips: readonly SkippedEvent[] }> {
  const views = openStoredRows(location, limits);
  const reader = views.reader(view);
  try {
    const status = await reader.status();
    return { status, skips: status.state === 'missing' ? [] : await reader.skips() };
  } finally {
    reader.close();
    await views.close();
  }
}

/** Does what `scanViewRows` does, with the database of a journal. */
export function scanStoredRows(
  location: JournalInDatabase,
  view: StoredView,
  take: Parameters<typeof scanViewRows>[3],
): ReturnType<typeof scanViewRows> {
  return scanViewRows(() => connectDatabase(location.source), locationName(location), view, take);
}
