// IndexCompaction moves index entries from each level of the index into the next one (record-index.ts), between
// commits. A longer run of entries, sorted by entity, touches fewer pages for each entry. IndexCompaction is a part of
// the writer and has no state that a crash could lose: entries that were not compacted stay in their level.
//
// Invariants
// M1  A step is one transaction, and keeps P1 and P2 of record-index.ts.
// M2  A step is synchronised with the disk like every commit. Otherwise a failed sync might leave a hole in the
//     write-ahead log, and the commits after the hole would be lost.
// M3  A step that fails only makes lookups slower, and is tried again later.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { sqliteCode } from '@svc/kit/sqlite-code';
import { isDamage } from './sqlite-failure.ts';

export interface LevelSizes {
  /** Level 0 is compacted once it has this many entries. */
  readonly level0Max: number;
  /** Entries above this count are compacted from level 1 into level 2, for a part of the entities at a time. */
  readonly level1Max: number;
}

export const LEVEL_SIZES_DEFAULT: LevelSizes = { level0Max: 1_024, level1Max: 32_768 };

const AFTER = '(eno, seq) > (?, ?)';
const UP_TO = `${AFTER} AND (eno, seq) <= (?, ?)`;
/** Numbers are bigints because a damaged one may be larger than a JavaScript number holds. */
type Key = readonly [entityNo: bigint, seq: bigint];
const FIRST: Key = [-(2n ** 63n), 0n];
const LAST: Key = [2n ** 63n - 1n, 2n ** 63n - 1n];

export class IndexCompaction {
  readonly #database: DatabaseSync;
  readonly #sizes: LevelSizes;
  readonly #partEnd: StatementSync;
  readonly #copyPart: StatementSync;
  readonly #deletePart: StatementSync;
  #level0Count: number;
  #level1Count: number;
  /** Last key that was compacted from level 1. The next part begins after it; after the last part it is FIRST again. */
  #cursor = FIRST;
  /** Number of records that are still to be stored before compaction is tried again after a failure. */
  #toWait = 0;

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, sizes: LevelSizes) {
    this.#database = database;
    this.#sizes = sizes;
    this.#level0Count = this.#count('place_new');
    this.#level1Count = this.#count('place_recent');
    this.#partEnd = database.prepare(
      `SELECT eno, seq FROM place_recent WHERE ${AFTER} ORDER BY eno, seq LIMIT 1 OFFSET ?`,
    );
    this.#partEnd.setReadBigInts(true);
    this.#partEnd.setReturnArrays(true);
    this.#copyPart = database.prepare(
      `INSERT INTO place_old SELECT * FROM place_recent WHERE ${UP_TO} ORDER BY eno, seq`,
    );
    this.#deletePart = database.prepare(`DELETE FROM place_recent WHERE ${UP_TO}`);
  }

  /** Compacts if the index needs it. Called outside of a transaction, after a commit that stored `records` records. */
  stored(records: number): void {
    this.#level0Count += records;
    if (this.#toWait > 0) this.#toWait -= records;
    else if (this.#level0Count >= this.#sizes.level0Max) this.#step();
  }

  #step(): void {
    try {
      this.#database.exec(`BEGIN IMMEDIATE;
        INSERT INTO place_recent SELECT * FROM place_new;
        DELETE FROM place_new`);
      let level1Count = this.#level1Count + this.#level0Count;
      let cursor = this.#cursor;
      const excess = level1Count - this.#sizes.level1Max;
      if (excess > 0) {
        const end = this.#partEnd.get(...cursor, excess - 1) as unknown as Key | undefined;
        const part = [...cursor, ...(end ?? LAST)];
        this.#copyPart.run(...part);
        level1Count -= Number(this.#deletePart.run(...part).changes);
        cursor = end ?? FIRST;
      }
      this.#database.exec('COMMIT');
      [this.#level0Count, this.#level1Count, this.#cursor] = [0, level1Count, cursor];
    } catch (error) {
      // SQLite has ended the transaction by itself after some errors.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      if (sqliteCode(error) === undefined) throw error;
      this.#toWait = this.#sizes.level0Max;
    }
  }

  #count(table: string): number {
    try {
      return Number(this.#database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);
    } catch (error) {
      if (!isDamage(error)) throw error;
      // The reads and commits that meet the damage report it.
      return 0;
    }
  }
}
