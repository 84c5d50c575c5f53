// JournalSchema has the tables of the journal's current format, and the migrations from earlier formats. A migration
// changes no record.
import type { DatabaseSync } from 'node:sqlite';
import { KIND_DELETED } from './record-kind.ts';

/** Version of the current format; every change of the format increments it. */
export const FORMAT_VERSION = 6;

// The tables, and the columns that their names do not explain. In TypeScript, the numbers `eno`, `ano` and `mno` are
// called entityNo, replyNo and moduleNo; `tno` is a timer's number.
//
// `journal` has the records. `pos` is the position of a record in commit order, without gaps; record-checksum.ts
// computes `crc`. A deletion has neither manifest nor json. A record of format 1 has no seed, one of format 1 or 2 no
// trace. Only records of a command with an idempotency key have a `key`, and only those of a request with a verified
// access token have `by` (contract/author.ts).
//
// `place_new`, `place_recent` and `place_old` are the levels 0, 1 and 2 of the index by entity (record-index.ts).
// `answer` has the stored replies to idempotency keys, in the order of storing.
// `manifest` has the event types of each component.
// `module` has the modules that have written the journal, each with the position of its first record.
// `timer` has the timers (stored-timer-row.ts): `eno` is the owner, 0 for the service; `component` and `id` are the
// target; `schedule` is JSON, null for a timer that is due once. `due_ms` is the occurrence that is due, `next_ms` when it
// is fired, null for a dead timer.
// `consumer` has the position up to which each consumer has settled all events, and `lane` the entities of which a
// consumer waits with or has parked an event, `seq`; later events of the entity wait. `state` is 0: waiting, 1: parked.

/** The tables that format 3 added. */
const ADDED_IN_3 = `
  CREATE TABLE answer (
    ano INTEGER PRIMARY KEY,
    eno INTEGER NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    time_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    crc INTEGER NOT NULL,
    UNIQUE (eno, key)
  ) STRICT;
  CREATE TABLE manifest (
    component TEXT NOT NULL,
    manifest TEXT NOT NULL,
    PRIMARY KEY (component, manifest)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE module (
    mno INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    from_pos INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    descriptor TEXT NOT NULL
  ) STRICT;
`;

const COLUMNS_OF_4 = `
    pos INTEGER PRIMARY KEY,
    eno INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    time_ms INTEGER NOT NULL,
    manifest TEXT,
    json TEXT,
    crc INTEGER NOT NULL,
    seed INTEGER,
    trace TEXT,
    key TEXT`;
const DELETIONS = `CREATE INDEX deletion ON journal (eno, seq) WHERE kind = ${KIND_DELETED};`;
const ADDED_IN_4 = ['place_new', 'place_recent', 'place_old']
  .map(
    (table) => `
  CREATE TABLE ${table} (
    eno INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    pos INTEGER NOT NULL,
    PRIMARY KEY (eno, seq)
  ) STRICT, WITHOUT ROWID;`,
  )
  .join('');

const ADDED_IN_5 = `
  CREATE TABLE timer (
    tno INTEGER PRIMARY KEY,
    eno INTEGER NOT NULL,
    name TEXT NOT NULL,
    component TEXT NOT NULL,
    id TEXT NOT NULL,
    command TEXT NOT NULL,
    input TEXT NOT NULL,
    schedule TEXT,
    due_ms INTEGER NOT NULL,
    next_ms INTEGER,
    attempts INTEGER NOT NULL,
    attempts_max INTEGER,
    fault TEXT,
    set_ms INTEGER NOT NULL,
    trace TEXT,
    crc INTEGER NOT NULL,
    UNIQUE (eno, name)
  ) STRICT;
  CREATE INDEX timer_next ON timer (next_ms) WHERE next_ms IS NOT NULL;
  CREATE TABLE consumer (
    id TEXT PRIMARY KEY,
    start TEXT NOT NULL,
    pos INTEGER NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE lane (
    consumer TEXT NOT NULL,
    eno INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    round INTEGER NOT NULL,
    next_ms INTEGER,
    reason TEXT,
    crc INTEGER NOT NULL,
    PRIMARY KEY (consumer, eno)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX lane_next ON lane (consumer, next_ms) WHERE next_ms IS NOT NULL;
`;

export const SCHEMA = `
  CREATE TABLE entity (
    eno INTEGER PRIMARY KEY,
    component TEXT NOT NULL,
    id TEXT NOT NULL,
    UNIQUE (component, id)
  ) STRICT;
  CREATE TABLE journal (${COLUMNS_OF_4},
    by TEXT
  ) STRICT;
  ${DELETIONS}
  ${ADDED_IN_3}
  ${ADDED_IN_4}
  ${ADDED_IN_5}
`;

/** The statements that migrate from each format to the next. */
const STEPS: Readonly<Record<number, string>> = {
  1: 'ALTER TABLE journal ADD COLUMN seed INTEGER;',
  2: `
    ALTER TABLE journal ADD COLUMN trace TEXT;
    ALTER TABLE journal ADD COLUMN key TEXT;
    ${ADDED_IN_3}
    INSERT INTO manifest
      SELECT DISTINCT component, manifest FROM journal JOIN entity USING (eno) WHERE manifest IS NOT NULL;
  `,
  // The index of a constraint can be dropped only with its table. `SELECT *` makes SQLite copy the rows unchanged, even
  // damaged ones.
  3: `
    CREATE TABLE journal_4 (${COLUMNS_OF_4}
  ) STRICT;
    INSERT INTO journal_4 SELECT * FROM journal;
    ${ADDED_IN_4}
    INSERT INTO place_old SELECT eno, seq, pos FROM journal ORDER BY eno, seq;
    DROP TABLE journal;
    ALTER TABLE journal_4 RENAME TO journal;
    ${DELETIONS}
  `,
  4: ADDED_IN_5,
  // SQLite reads the table once, because it is STRICT, and writes none of its rows.
  5: 'ALTER TABLE journal ADD COLUMN by TEXT;',
};

/** Returns SQL that migrates a journal of this format to the current one, in a transaction that it does not commit. */
export function migrationFrom(version: number): string {
  const steps = Array.from({ length: FORMAT_VERSION - version }, (_, at) => STEPS[version + at]!);
  return `BEGIN IMMEDIATE; ${steps.join('')} PRAGMA user_version = ${FORMAT_VERSION};`;
}

/** The two halves of a command's seed (seed-halves.ts). */
const SEED_HALVES = 'seed >> 32, seed & 4294967295';

/** Returns SQL for the columns of a record, in the order of `RecordRow`, in a journal of this format. */
export function recordColumns(version = FORMAT_VERSION): string {
  const halves = version >= 2 ? SEED_HALVES : 'NULL, NULL';
  const origin = version >= 3 ? 'trace, key' : 'NULL, NULL';
  const by = version >= 6 ? 'by' : 'NULL';
  return `pos, seq, kind, time_ms, manifest, json, crc, ${halves}, ${origin}, ${by}`;
}

/**
 * Returns SQL for a LIMIT. With a bare parameter in a LIMIT, SQLite compiles the statement anew whenever it is bound.
 */
export function countIn(parameter: string): string {
  return `${parameter} + 0`;
}

/** A record as the statements of the journal read it. */
export type RecordRow = readonly [
  pos: number,
  seq: number,
  kind: number,
  timeMs: number,
  manifest: string | null,
  json: string | null,
  crc: number,
  upperSeed: number | null,
  lowerSeed: number | null,
  trace: string | null,
  key: string | null,
  by: string | null,
];

/** Throws SQLite's error when a table or a column of the current format is not there. */
export function checkTables(database: DatabaseSync): void {
  for (const columns of [
    'eno, component, id FROM entity',
    'pos, eno, seq, kind, time_ms, manifest, json, crc, seed, trace, key, by FROM journal',
    'eno, seq, pos FROM place_new',
    'eno, seq, pos FROM place_recent',
    'eno, seq, pos FROM place_old',
    'ano, eno, key, digest, time_ms, outcome, crc FROM answer',
    'component, manifest FROM manifest',
    'mno, fingerprint, from_pos, time_ms, descriptor FROM module',
    'tno, eno, name, component, id, command, input, schedule FROM timer',
    'due_ms, next_ms, attempts, attempts_max, fault, set_ms, trace, crc FROM timer',
    'id, start, pos, crc FROM consumer',
    'consumer, eno, seq, state, attempts, round, next_ms, reason, crc FROM lane',
  ])
    database.prepare(`SELECT ${columns}`);
}
