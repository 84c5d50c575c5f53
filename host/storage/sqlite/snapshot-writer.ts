// SnapshotWriter stores the snapshots that the users of a journal send, each after the record that it follows is
// stored. A failure is not reported: a snapshot that cannot be stored is dropped, and a damaged file is replaced by a
// new one.
import { existsSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SentSnapshot } from './journal-message.ts';
import { KIND_EVENT } from './record-kind.ts';
import { positionOf } from './record-index.ts';
import { openSnapshotsForWriting, removeSnapshots, snapshotChecksum } from './snapshot-file.ts';
import { isOfMachineOrFile, isDamage } from './sqlite-failure.ts';

/** Number of snapshots that are dropped after a failure, so that a full or broken disk is not tried each time. */
const DROPPED_AFTER_FAILURE = 100;

interface Connection {
  readonly database: DatabaseSync;
  readonly keep: StatementSync;
}

export class SnapshotWriter {
  readonly #path: string;
  readonly #findRecord: StatementSync;
  /** Opened at the start if the file exists, otherwise with the first snapshot. */
  #connection: Connection | undefined = undefined;
  #toDrop = 0;

  /** `journal` is the connection that writes the journal. Throws errors of SQLite for that connection only. */
  constructor(path: string, journal: DatabaseSync) {
    this.#path = path;
    this.#findRecord = journal.prepare(`
      SELECT eno, crc FROM entity JOIN journal USING (eno)
      WHERE component = ?1 AND id = ?2 AND seq = ?3 AND kind = ${KIND_EVENT} AND pos = ${positionOf('entity.eno', '?3')}
    `);
    // Readers do not change the file, so a damaged one is removed now.
    if (existsSync(path)) this.#guarded(() => this.#open());
    if (!existsSync(path)) this.#toDrop = 0;
  }

  /** Stores snapshots in one transaction. Called outside of a transaction of the journal. Never throws. */
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
      // Snapshots are never needed.
    }
    this.#connection = undefined;
  }

  #keep(keep: StatementSync, snapshot: SentSnapshot): void {
    const { component, id, seq, fingerprint, state } = snapshot;
    const record = this.#findRecord.get(component, id, seq);
    // The snapshot follows a record that was not stored.
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

  /** Runs `work`. After a failure drops the next snapshots, and removes the file unless the machine is the cause. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#toDrop = DROPPED_AFTER_FAILURE;
      this.close();
      if (isOfMachineOrFile(error) && !isDamage(error)) return;
      try {
        removeSnapshots(this.#path);
      } catch {
        // Readers ignore the damaged file.
      }
    }
  }
}
