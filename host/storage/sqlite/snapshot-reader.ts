// SnapshotReader finds the snapshots of a journal, through a connection of its own. A snapshot that it cannot read
// counts as missing; no method throws.
import { existsSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EntityRef } from '@svc/model/entity';
import { isText } from './record-checksum.ts';
import { openSnapshotsForReading, snapshotChecksum } from './snapshot-file.ts';

/** Page cache of the connection in KiB. */
const CACHE_KIB = 8 * 1024;
/**
 * Number of lookups that return undefined after a failure. Then the file is opened again: it may have been replaced.
 */
const SKIPPED_AFTER_FAILURE = 1_000;

export interface FoundSnapshot {
  readonly seq: number;
  readonly state: string;
  /** Checksum of the journal's record with that `seq`, if the snapshot belongs to that journal. */
  readonly recordCrc: number;
}

export class SnapshotReader {
  readonly #path: string;
  #database: DatabaseSync | undefined = undefined;
  #find: StatementSync | undefined = undefined;
  #toSkip = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns an entity's snapshot by the module with this fingerprint; undefined if none can be read. Never throws. */
  find(entity: EntityRef, entityNo: number, fingerprint: string): FoundSnapshot | undefined {
    if (this.#toSkip > 0) {
      this.#toSkip--;
      return undefined;
    }
    try {
      const row = this.#open()?.get(entityNo, fingerprint) as Row | undefined;
      if (row === undefined) return undefined;
      const [seq, state, crc, recordCrc] = row;
      if (!isText(state)) return undefined;
      if (crc !== snapshotChecksum(entity, seq, fingerprint, recordCrc, state)) return undefined;
      return { seq, state, recordCrc };
    } catch {
      this.#toSkip = SKIPPED_AFTER_FAILURE;
      this.close();
      return undefined;
    }
  }

  close(): void {
    try {
      this.#database?.close();
    } catch {
      // The connection has written nothing that could be lost.
    }
    this.#database = undefined;
    this.#find = undefined;
  }

  /** Returns the statement that finds a snapshot; undefined if there is no file yet. */
  #open(): StatementSync | undefined {
    if (this.#find !== undefined || !existsSync(this.#path)) return this.#find;
    this.#database = openSnapshotsForReading(this.#path);
    this.#database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    this.#find = this.#database.prepare(
      'SELECT seq, state, crc, record_crc FROM snapshot WHERE eno = ? AND fingerprint = ?',
    );
    this.#find.setReturnArrays(true);
    return this.#find;
  }
}

type Row = readonly [seq: number, state: string, crc: number, recordCrc: number];
