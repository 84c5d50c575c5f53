// ViewFileScan reads all rows of a view's file for a tool, as they are at one moment, also while a service runs on the data
// folder. It creates and changes nothing in the folder.
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { StoredView, ViewRow } from '../../engine/needs/views.ts';
import type { ScannedView, TakeRows } from '../view-walk/scanned-view.ts';
import { type StoredRow, checkedRow } from './row-checksum.ts';
import { viewFailure } from './view-failure.ts';
import { fileIdentity, openForReading, viewPath, viewsFolder } from './view-file.ts';
import { ViewMeta } from './view-meta.ts';

/** How often a file without a log is read anew because a service has started to write it. */
const ATTEMPTS_MAX = 3;

/**
 * Gives the rows of a definition to `take`, unless no event is folded into them, and returns what else the file says of them.
 * Returns undefined if there is no file. Throws SVC_VIEW_CORRUPT
 * and SVC_DATA_UNUSABLE.
 */
export function readViewFile(
  dir: string,
  { definition }: StoredView,
  take: TakeRows,
): ScannedView | undefined {
  const path = viewPath(viewsFolder(resolve(dir)), definition);
  try {
    for (let attempt = 1; ; attempt++) {
      if (fileIdentity(path) === undefined) return undefined;
      const unchanging = unchangingState(path);
      const database = openForReading(
        path,
        definition,
        unchanging === undefined ? undefined : immutable(path),
      );
      try {
        // All statements read the rows of one moment.
        database.exec('BEGIN');
        const meta = new ViewMeta(database);
        const foldedTo = meta.state()?.foldedTo;
        // The file was opened, so they are not damaged.
        const skips = meta.skips() ?? [];
        if (foldedTo !== undefined) take(rowsOf(database, path), true);
        const isUnchanged = unchanging === undefined || unchanging === unchangingState(path);
        if (isUnchanged || attempt === ATTEMPTS_MAX) return { foldedTo, skips };
      } finally {
        database.close();
      }
    }
  } catch (error) {
    throw viewFailure(error, 'read', path);
  }
}

function* rowsOf(database: DatabaseSync, path: string): Generator<ViewRow, void> {
  const rows = database.prepare('SELECT key, json, crc FROM row');
  rows.setReturnArrays(true);
  for (const row of rows.iterate()) yield checkedRow(row as unknown as StoredRow, path);
}

/** Returns a text that identifies the content of a file without a log; undefined if there is a log. */
function unchangingState(path: string): string | undefined {
  if (existsSync(`${path}-wal`)) return undefined;
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** A reader makes a log where there is none, unless it takes the file as one that nobody writes. */
function immutable(path: string): URL {
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  return address;
}
