// StoredViews opens the rows of views that belong to a journal, beside a service that may be writing them.
import type { SkippedEvent, StoredView, ViewStatus, ViewStore } from '../engine/needs/views.ts';
import type { Awaitable } from '@svc/model/call';
import type { ViewLimits } from '@svc/model/view-limits';
import type { JournalInDatabase, JournalLocation } from './journal-location.ts';
import { FileViewReader } from './views/file-view-reader.ts';
import { FileViews } from './views/file-views.ts';
import type { ScannedView, TakeRows } from './view-walk/scanned-view.ts';
import { readViewFile } from './views/view-file-scan.ts';
import { viewsFolder } from './views/view-file.ts';

/** Returns the store of the rows. */
export function storedViews(location: JournalLocation, limits: ViewLimits): Awaitable<ViewStore> {
  switch (location.kind) {
    case 'folder':
      return new FileViews(location.dir, limits);
    case 'postgres':
      return postgres().then((code) => code.openStoredRows(location, limits));
  }
}

/** How far the rows of a definition are. */
export interface InspectedRows {
  readonly status: ViewStatus;
  /** The events that are left out of the rows. */
  readonly skips: readonly SkippedEvent[];
}

/** Returns how far the rows of a definition are. Never throws. */
export function inspectRows(
  location: JournalLocation,
  view: StoredView,
  limits: ViewLimits,
): Awaitable<InspectedRows> {
  switch (location.kind) {
    case 'folder':
      return inspectedRows(new FileViewReader(viewsFolder(location.dir), view, limits));
    case 'postgres':
      return inspectedInDatabase(location, view, limits);
  }
}

function inspectedRows(reader: FileViewReader): InspectedRows {
  try {
    const status = reader.status();
    return { status, skips: status.state === 'missing' ? [] : reader.skips() };
  } finally {
    reader.close();
  }
}

/**
 * Gives the rows of a definition to `take`, unless no event is folded into them, and returns how far they are; undefined if there
 * are none. Throws SVC_VIEW_CORRUPT and SVC_DATA_UNUSABLE.
 */
export function scanRows(
  location: JournalLocation,
  view: StoredView,
  take: TakeRows,
): Awaitable<ScannedView | undefined> {
  switch (location.kind) {
    case 'folder':
      return readViewFile(location.dir, view, take);
    case 'postgres':
      return scannedInDatabase(location, view, take);
  }
}

/** Services with a folder do not load this code. */
const postgres = () => import('./postgres/views/stored-rows.ts');

async function inspectedInDatabase(
  location: JournalInDatabase,
  view: StoredView,
  limits: ViewLimits,
): Promise<InspectedRows> {
  return (await postgres()).inspectStoredRows(location, view, limits);
}

async function scannedInDatabase(
  location: JournalInDatabase,
  view: StoredView,
  take: TakeRows,
): Promise<ScannedView | undefined> {
  return (await postgres()).scanStoredRows(location, view, take);
}
