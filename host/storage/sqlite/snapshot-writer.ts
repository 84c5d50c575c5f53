// SnapshotWriter keeps the snapshots that the users of a journal send, each after the record that it stands on
// is stored. No failure leaves it: what cannot be kept is not kept, and a file that is of no use is made anew.
import { existsSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SentSnapshot } from './journal-message.ts';
import { KIND_EVENT } from './record-kind.ts';
import { positionOf } from './record-index.ts';
import { openSnapshotsForWriting, removeSnapshots, snapshotChecksum } from './snapshot-file.ts';
import { isOfMachine, isDamage } from './sqlite-failure.ts';

/** After a failure so many are dropped before the next is tried: a disk that is full or broken is not asked each time. */
const DROPPED_AFTER_FAILURE = 100;

interface Connection {
  readonly database: DatabaseSync;
  readonly keep: StatementSync;
}

export class SnapshotWriter {
  readonly #path: string;
  readonly #findRecord: StatementSync;
  /** Opened with the first snapshot, unless the file was there before. */
  #connection: Connection | undefined = undefined;
  #toDrop = 0;

  /** `journal`: the connection that writes it. Throws errors of SQLite only for that. */
  constructor(path: string, journal: DatabaseSync) {
    this.#path = path;
    this.#findRecord = journal.prepare(`
      SELECT eno, crc FROM entity JOIN journal USING (eno)
      WHERE component = ?1 AND id = ?2 AND seq = ?3 AND kind = ${KIND_EVENT} AND pos = ${positionOf('entity.eno', '?3')}
    `);
    // Readers look at it without changing it: what is of no use goes now.
    if (existsSync(path)) this.#guarded(() => this.#open());
    if (!existsSync(path)) this.#toDrop = 0;
  }

  /** All in one transaction. To be called outside of the journal's. Never throws. */
  keep(snapshots: readonly SentSnapshot[]): void {
    if (snapshots.length === 0) return;
    if (this.#toDrop > 0) {
      this.#toDrop -= snapshots.length;
      return;
    }
    this.#guarded(() => {
      const { database, keep } = this.#open();
      database.exec('BEGIN IMMEDIATE');
      try {
        for (const snapshot of snapshots) this.#keep(keep, snapshot);
        database.exec('COMMIT');
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    });
  }

  close(): void {
    try {
      this.#connection?.database.close();
    } catch {
      // It is never needed.
    }
    this.#connection = undefined;
  }

  #keep(keep: StatementSync, snapshot: SentSnapshot): void {
    const { component, id, seq, fingerprint, state } = snapshot;
    const record = this.#findRecord.get(component, id, seq);
    // It stands on what was not stored.
    if (record === undefined) return;
    const recordCrc = Number(record['crc']);
    const crc = snapshotChecksum(snapshot, seq, fingerprint, recordCrc, state);
    keep.run(Number(record['eno']), seq, fingerprint, state, crc, recordCrc);
  }

  #open(): Connection {
    if (this.#connection === undefined) {
      const database = openSnapshotsForWriting(this.#path);
      const keep = database.prepare('INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?, ?, ?)');
      this.#connection = { database, keep };
    }
    return this.#connection;
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#toDrop = DROPPED_AFTER_FAILURE;
      this.close();
      if (isOfMachine(error) && !isDamage(error)) return;
      try {
        removeSnapshots(this.#path);
      } catch {
        // Then there are none.
      }
    }
  }
}
