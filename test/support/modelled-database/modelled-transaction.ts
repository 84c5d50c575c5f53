// ModelledTransaction is a transaction at the level READ COMMITTED, and what its statements have written. Nobody else sees it before the
// commit.
import type { LockOwner } from './row-locks.ts';
import type { Key, Table } from './modelled-tables.ts';

/** What a statement has done with a slice, for those who watch the journal. */
export type Deed =
  /** `records` were appended by a node under the epoch that it knows. */
  | {
      readonly kind: 'append';
      readonly slice: number;
      readonly node: number;
      readonly epoch: number;
      readonly records: number;
    }
  /** A node has claimed the slice, which has the epoch since. */
  | {
      readonly kind: 'claim';
      readonly slice: number;
      readonly node: number;
      readonly epoch: number;
    };

/** The tables whose rows say who owns what. */
const SHOWN = new Set(['cluster', 'node', 'slice']);

interface Write {
  readonly table: Table<unknown>;
  readonly key: Key;
  readonly row: unknown;
}

export class ModelledTransaction implements LockOwner {
  waitsFor: string | undefined = undefined;
  readonly held = new Set<string>();
  readonly deeds: Deed[] = [];
  readonly #own = new Map<Table<unknown>, Map<Key, unknown>>();
  #count = 0;

  get hasWritten(): boolean {
    return this.#count > 0;
  }

  write<Row>(table: Table<Row>, key: Key, row: Row | undefined): void {
    this.#own.getOrInsertComputed(table, () => new Map()).set(key, row);
    this.#count++;
  }

  /** Returns the row as the transaction sees it in a statement that began after a commit. */
  read<Row>(table: Table<Row>, key: Key, commit: number): Row | undefined {
    const own = this.#own.get(table);
    return own?.has(key) === true ? (own.get(key) as Row | undefined) : table.at(key, commit);
  }

  /** Returns the newest version of a row. */
  newest<Row>(table: Table<Row>, key: Key): Row | undefined {
    const own = this.#own.get(table);
    return own?.has(key) === true ? (own.get(key) as Row | undefined) : table.newest(key);
  }

  /** Returns all rows of a table as the transaction sees them. */
  *rows<Row>(table: Table<Row>, commit: number): Iterable<Row> {
    const own = this.#own.get(table);
    for (const key of new Set([...table.keys(), ...(own?.keys() ?? [])])) {
      const row = this.read(table, key, commit);
      if (row !== undefined) yield row;
    }
  }

  *writes(): Iterable<Write> {
    for (const [table, rows] of this.#own) for (const [key, row] of rows) yield { table, key, row };
  }

  /** Returns what the transaction has written of nodes and slices, as lines. */
  *shown(): Iterable<string> {
    for (const { table, key, row } of this.writes())
      if (SHOWN.has(table.name)) yield `${table.name} ${key} ${JSON.stringify(row) ?? 'removed'}`;
  }
}
