// IndexVerification compares each index with its table, in both directions, and walks the history of every entity in
// its order: an index that has lost an entry would hide a record, or an entity.
import type { SQLInputValue } from 'node:sqlite';
import { SvcError } from '@svc/kit/svc-error';
import type { ReadingConnection, StoredRow } from './reading-connection.ts';
import { isIndexed, entriesAfter } from '../record-index.ts';
import { KIND_DELETED } from '../record-kind.ts';
import type { VerificationStep } from '../../verification-step.ts';

/** Maximum number of rows of a query: many, because each query costs, but few enough to be read in milliseconds. */
const ROWS_AT_ONCE = 2_000;
/** Key value that is less than every number that a journal stores. */
const FIRST = -Number.MAX_SAFE_INTEGER;

/** `i` is read from the index alone; `t` is the table's row at the position that the index names. */
const BY_ENTITY = (format: number) => `SELECT i.eno, i.seq, i.pos, t.pos, i.rank
  FROM (${entriesAfter(format, ROWS_AT_ONCE)}) i
  LEFT JOIN journal t NOT INDEXED ON t.pos = i.pos AND t.eno = i.eno AND t.seq = i.seq
  ORDER BY i.eno, i.seq, i.pos`;
/** Used where the table cannot be read, which another check reports. */
const BY_ENTITY_ALONE = (format: number) =>
  `SELECT eno, seq, pos, pos, rank FROM (${entriesAfter(format, ROWS_AT_ONCE)})`;
const DELETIONS = () => `SELECT i.eno, i.seq, i.pos, t.pos FROM journal i INDEXED BY deletion
  LEFT JOIN journal t NOT INDEXED ON t.pos = i.pos AND t.eno = i.eno AND t.seq = i.seq AND t.kind + 0 = ${KIND_DELETED}
  WHERE i.kind = ${KIND_DELETED} AND (i.eno, i.seq) > (?, ?) ORDER BY i.eno, i.seq LIMIT ${ROWS_AT_ONCE}`;
const DELETIONS_ALONE = () => `SELECT eno, seq, pos, pos FROM journal INDEXED BY deletion
  WHERE kind = ${KIND_DELETED} AND (eno, seq) > (?, ?) ORDER BY eno, seq LIMIT ${ROWS_AT_ONCE}`;
const BY_POSITION = (format: number) => `SELECT t.pos, t.eno, t.seq, ${isIndexed(format)}
  FROM journal t NOT INDEXED WHERE t.pos > ? ORDER BY t.pos LIMIT ${ROWS_AT_ONCE}`;
const DELETIONS_BY_POSITION =
  () => `SELECT t.pos, t.eno, t.seq, t.kind <> ${KIND_DELETED} OR EXISTS (
    SELECT 1 FROM journal i INDEXED BY deletion
    WHERE i.kind = ${KIND_DELETED} AND i.eno = t.eno AND i.seq = t.seq AND i.pos = t.pos)
  FROM journal t NOT INDEXED WHERE t.pos > ? ORDER BY t.pos LIMIT ${ROWS_AT_ONCE}`;
const NAME = () => 'SELECT component, id FROM entity WHERE eno = ?';
const ENTITIES = () => `SELECT t.eno, t.component, t.id, EXISTS (
    SELECT 1 FROM entity i INDEXED BY sqlite_autoindex_entity_1
    WHERE i.component = t.component AND i.id = t.id AND i.eno = t.eno)
  FROM entity t NOT INDEXED WHERE t.eno > ? ORDER BY t.eno LIMIT ${ROWS_AT_ONCE}`;
const ENTITY_NAMES =
  () => `SELECT i.component, i.id, i.eno, t.eno FROM entity i INDEXED BY sqlite_autoindex_entity_1
  LEFT JOIN entity t NOT INDEXED ON t.eno = i.eno AND t.component = i.component AND t.id = i.id
  WHERE (i.component, i.id) > (?, ?) ORDER BY i.component, i.id LIMIT ${ROWS_AT_ONCE}`;

/**
 * Yields the rows of a statement page by page. The statement has to select the first ROWS_AT_ONCE (2,000) rows after a
 * key: a page with fewer rows is the last one. `instead` is the statement for pages that `sql` cannot read because of
 * damage.
 */
export function* pagesOf(
  connection: ReadingConnection,
  sql: (format: number) => string,
  first: readonly SQLInputValue[],
  keyOf: (row: StoredRow) => readonly SQLInputValue[],
  instead?: (format: number) => string,
): Generator<readonly StoredRow[], void> {
  let key = first;
  for (;;) {
    const rows = rowsOr(connection, sql, key, instead);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) return;
    key = keyOf(rows.at(-1)!);
  }
}

function rowsOr(
  connection: ReadingConnection,
  sql: (format: number) => string,
  key: readonly SQLInputValue[],
  instead: ((format: number) => string) | undefined,
): readonly StoredRow[] {
  try {
    return connection.rows(sql, key);
  } catch (error) {
    const isDamage = error instanceof SvcError && error.code === 'SVC_JOURNAL_CORRUPT';
    if (!isDamage || instead === undefined) throw error;
    return connection.rows(instead, key);
  }
}

const firstTwo = (row: StoredRow) => row.slice(0, 2) as readonly SQLInputValue[];
const firstThree = (row: StoredRow) => row.slice(0, 3) as readonly SQLInputValue[];
const firstOne = (row: StoredRow) => row.slice(0, 1) as readonly SQLInputValue[];

/**
 * Checks the numbers of each entity's records, and the index of records, up to position `lastPos`. `records` is the
 * number of records that the table has up to there.
 */
export function* recordIndexChecked(
  connection: ReadingConnection,
  lastPos: number,
  records: number,
): Generator<VerificationStep, void> {
  let [lastEntityNo, lastSeq, before, lastRank] = [FIRST, 0, 0, 0];
  let found = 0;
  const first = [FIRST, FIRST, FIRST];
  for (const rows of pagesOf(connection, BY_ENTITY, first, firstThree, BY_ENTITY_ALONE)) {
    for (const row of rows) {
      const [entityNo, seq, pos, , rank] = row.map(Number) as [
        number,
        number,
        number,
        number,
        number,
      ];
      if (entityNo !== lastEntityNo) [lastSeq, before, lastRank] = [0, 0, 0];
      // The record was stored after the verification began.
      if (pos > lastPos && pos <= Number.MAX_SAFE_INTEGER) continue;
      const named = () => ({ kind: 'finding', ...nameOf(connection, entityNo), seq, pos }) as const;
      if (seq > lastSeq + 1)
        yield {
          ...named(),
          seq: lastSeq + 1,
          pos: undefined,
          problem: missing(lastSeq + 1, seq - 1),
        };
      if (seq <= lastSeq) yield { ...named(), problem: 'another record has its number' };
      if (row[3] === null)
        yield { ...named(), problem: 'the index names a position where it is not' };
      else found++;
      if (pos <= before)
        yield {
          ...named(),
          problem: `its position is before that of record ${lastSeq} of the entity`,
        };
      if (rank < lastRank)
        yield {
          ...named(),
          problem: `the index has it in an older level than record ${lastSeq} of the entity`,
        };
      [lastEntityNo, lastSeq, before, lastRank] = [entityNo, seq, Math.max(before, pos), rank];
    }
    yield { kind: 'progress', what: 'records in their index', done: found, total: records };
  }
  if (found < records) yield* missingInIndex(connection, lastPos, BY_POSITION);
}

/** Checks the index of deletions up to position `lastPos`. `deletions`: their number in the table up to there. */
export function* deletionsChecked(
  connection: ReadingConnection,
  lastPos: number,
  deletions: number,
): Generator<VerificationStep, void> {
  let found = 0;
  for (const rows of pagesOf(connection, DELETIONS, [FIRST, FIRST], firstTwo, DELETIONS_ALONE)) {
    for (const [entityNo, seq, pos, stored] of rows) {
      if (Number(pos) > lastPos) continue;
      if (stored !== null) found++;
      else
        yield {
          kind: 'finding',
          ...nameOf(connection, Number(entityNo)),
          seq: Number(seq),
          pos: Number(pos),
          problem: 'the index of deletions has it, and it is none',
        };
    }
    yield { kind: 'progress', what: 'deletions in their index', done: found, total: deletions };
  }
  if (found < deletions) yield* missingInIndex(connection, lastPos, DELETIONS_BY_POSITION);
}

function* missingInIndex(
  connection: ReadingConnection,
  lastPos: number,
  sql: (format: number) => string,
): Generator<VerificationStep, void> {
  for (const rows of pagesOf(connection, sql, [0], firstOne)) {
    for (const [pos, entityNo, seq, isThere] of rows)
      if (Number(isThere) === 0 && Number(pos) <= lastPos)
        yield {
          kind: 'finding',
          ...nameOf(connection, Number(entityNo)),
          seq: Number(seq),
          pos: Number(pos),
          problem: `the index of ${sql === BY_POSITION ? 'records' : 'deletions'} does not have it`,
        };
    yield {
      kind: 'progress',
      what: 'what an index lacks',
      done: Number(rows.at(-1)![0]),
      total: lastPos,
    };
  }
}

/** Checks the entities and their index, and returns their number. */
export function* entitiesChecked(
  connection: ReadingConnection,
): Generator<VerificationStep, number> {
  let count = 0;
  for (const rows of pagesOf(connection, ENTITIES, [FIRST], firstOne)) {
    count += rows.length;
    for (const [, component, id, isThere] of rows)
      if (Number(isThere) === 0)
        yield {
          kind: 'finding',
          component: String(component),
          id: String(id),
          problem: 'the index of entities does not have it',
        };
    yield { kind: 'progress', what: 'entities', done: count };
  }
  for (const rows of pagesOf(connection, ENTITY_NAMES, ['', ''], firstTwo))
    for (const [component, id, , stored] of rows)
      if (stored === null)
        yield {
          kind: 'finding',
          component: String(component),
          id: String(id),
          problem: 'the index of entities has it under a number where it is not',
        };
  return count;
}

function nameOf(
  connection: ReadingConnection,
  entityNo: number,
): { readonly component?: string; readonly id?: string } {
  const [row] = connection.rows(NAME, [entityNo]);
  return row === undefined ? {} : { component: String(row[0]), id: String(row[1]) };
}

function missing(from: number, to: number): string {
  return from >= to ? `record ${from} is missing` : `records ${from} to ${to} are missing`;
}
