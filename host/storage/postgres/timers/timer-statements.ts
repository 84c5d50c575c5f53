// TimerStatements are the statements of a transaction that changes timers.
//
// Invariants
// - Transactions lock rows in one order, so that those of several writers do not wait for each other in a circle: timers by their
//   numbers, then the part -1 of `timer_count`, then the slices in ascending order, then one other part of `timer_count`.
// - The transactions are READ COMMITTED: a statement sees what was committed while an earlier one waited for locks.
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { DatabaseSession, Parameter, Row, Statement } from '../database-session.ts';
import { rowChecksum } from '../row-checksum.ts';
import { COLUMN_TYPES, TIMER_COLUMNS, columnsIf, timerColumns } from './timer-row.ts';

/** The part of `timer_count` to which changes of operators are added, and that is locked when few timers are free. */
export const COMMON_PART = -1;

/** The timers that a group of appends concerns. */
export interface ConcernedTimers {
  readonly named: readonly { readonly owner: EntityRef | undefined; readonly name: string }[];
  /** Entities of which all timers are concerned. */
  readonly owners: readonly EntityRef[];
  readonly numbers: readonly number[];
  /** Those of `numbers` whose inputs are read. */
  readonly wholeNumbers: readonly number[];
}

/** The room for the timers that a group of appends sets. */
export interface TimerRoom {
  /** The number of all timers. */
  readonly total: number;
  /** The number of timers of each owner, in the order of the owners. */
  readonly counts: readonly number[];
  /** Numbers for new timers. */
  readonly numbers: readonly number[];
}

// Each name and number is looked up through its index. The subqueries are not merged with the others (OFFSET 0), because a plan that
// was made while the table was small would go on to read all of it. The outer ones lock the rows in the order of their numbers.
const LOCK: Statement = {
  name: 'timers-lock',
  text: `SELECT t.* FROM (SELECT DISTINCT number FROM (
        SELECT s.number FROM unnest($1::text[], $2::text[], $3::text[]) AS n (component, id, name) CROSS JOIN LATERAL (
          SELECT number FROM svc.timer
          WHERE owner_component = n.component AND owner_id = n.id AND name = n.name OFFSET 0) s
        UNION ALL SELECT s.number FROM unnest($4::text[], $5::text[]) AS o (component, id) CROSS JOIN LATERAL (
          SELECT number FROM svc.timer WHERE owner_component = o.component AND owner_id = o.id OFFSET 0) s
        UNION ALL SELECT number FROM svc.timer WHERE owner_id IS NULL AND name = ANY($8::text[])
        UNION ALL SELECT unnest($6::bigint[])) AS concerned (number)
      ORDER BY number) w CROSS JOIN LATERAL (
        SELECT ${columnsIf('t.number = ANY($7::bigint[])')} FROM svc.timer t WHERE t.number = w.number FOR UPDATE) t`,
};
const LOCK_SCHEDULES: Statement = {
  text: `SELECT ${TIMER_COLUMNS} FROM svc.timer t WHERE t.owner_id IS NULL ORDER BY t.number FOR UPDATE OF t`,
};
const LOCK_NAMED: Statement = {
  text: `SELECT ${TIMER_COLUMNS} FROM svc.timer t WHERE t.name = $3
    AND ((t.owner_component = $1 AND t.owner_id = $2) OR ($2::text IS NULL AND t.owner_id IS NULL)) FOR UPDATE OF t`,
};
const ROOM: Statement = {
  name: 'timers-room',
  text: `SELECT (SELECT sum(timers) FROM svc.timer_count)::text,
      (SELECT json_agg((SELECT count(*) FROM svc.timer t WHERE t.owner_component = o.component AND t.owner_id = o.id) ORDER BY o.at)
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS o (component, id, at))::text,
      (SELECT json_agg(nextval('svc.timer_number')) FROM generate_series(1, $3::integer))::text`,
};
const LOCK_TOTAL: Statement = {
  name: 'timers-lock-total',
  text: `SELECT part FROM svc.timer_count WHERE part = ${COMMON_PART} FOR UPDATE`,
};
const TOTAL: Statement = {
  name: 'timers-total',
  text: 'SELECT sum(timers)::text FROM svc.timer_count',
};
const CHANGE: Statement = {
  name: 'timers-change',
  text: `WITH removed AS (DELETE FROM svc.timer WHERE number = ANY($1::bigint[]))
    UPDATE svc.timer t SET due_ms = c.due_ms, next_ms = c.next_ms, attempts = c.attempts, fault = c.fault, crc = c.crc
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
      AS c (number, due_ms, next_ms, attempts, fault, crc)
    WHERE t.number = ANY($2::bigint[]) AND t.number = c.number`,
};
const ADD: Statement = {
  name: 'timers-add',
  text: `INSERT INTO svc.timer (${COLUMN_TYPES.map(([name]) => name).join(', ')}, crc)
    SELECT * FROM unnest(${[...COLUMN_TYPES.map(([, type]) => type), 'bigint']
      .map((type, index) => `$${index + 1}::${type}[]`)
      .join(', ')})`,
};
const COUNT: Statement = {
  name: 'timers-count',
  text: 'UPDATE svc.timer_count SET timers = timers + $2::bigint WHERE part = $1::smallint',
};

/** Locks timers, and returns their rows; without an input, unless it was asked for. */
export async function lockTimers(
  session: DatabaseSession,
  { named, owners, numbers, wholeNumbers }: ConcernedTimers,
): Promise<readonly Row[]> {
  if (named.length + owners.length + numbers.length === 0) return [];
  const components: string[] = [];
  const ids: string[] = [];
  const names: string[] = [];
  const schedules: string[] = [];
  for (const { owner, name } of named) {
    if (owner === undefined) schedules.push(name);
    else {
      components.push(owner.component);
      ids.push(owner.id);
      names.push(name);
    }
  }
  return session.query(LOCK, [
    components,
    ids,
    names,
    owners.map(({ component }) => component),
    owners.map(({ id }) => id),
    numbers,
    wholeNumbers,
    schedules,
  ]);
}

/** Locks the schedules of the service, and returns their rows. */
export async function lockSchedules(session: DatabaseSession): Promise<readonly Row[]> {
  return session.query(LOCK_SCHEDULES);
}

/** Locks the timer of an owner, and returns its row; undefined if there is none of this name. */
export async function lockNamed(
  session: DatabaseSession,
  owner: EntityRef | undefined,
  name: string,
): Promise<Row | undefined> {
  const values = [owner?.component ?? null, owner?.id ?? null, name];
  return (await session.query(LOCK_NAMED, values))[0];
}

/** Reads the room for `sets` new timers of these owners. Takes numbers for them, also if the transaction is rolled back. */
export async function readRoom(
  session: DatabaseSession,
  owners: readonly EntityRef[],
  sets: number,
): Promise<TimerRoom> {
  const [row] = await session.query(ROOM, [
    owners.map(({ component }) => component),
    owners.map(({ id }) => id),
    sets,
  ]);
  const [total, counts, numbers] = row as readonly (string | null)[];
  return {
    total: Number(total),
    counts: JSON.parse(counts ?? '[]') as readonly number[],
    numbers: JSON.parse(numbers ?? '[]') as readonly number[],
  };
}

/** Waits for the other transactions that have locked the number of all timers, and returns it. */
export async function lockTotal(session: DatabaseSession): Promise<number> {
  const [, [row]] = await Promise.all([session.query(LOCK_TOTAL), session.query(TOTAL)]);
  return Number(row![0]);
}

/** Changes that a transaction makes to timers that it has locked, and the timers that it adds. */
export interface TimerDifference {
  readonly removed: readonly number[];
  readonly changed: readonly StoredTimer[];
  readonly added: readonly StoredTimer[];
  /** The part of `timer_count` that counts the difference. */
  readonly part: number;
}

/** Stores a difference. No statement waits for the answer of the one before it. */
export async function storeTimers(
  session: DatabaseSession,
  { removed, changed, added, part }: TimerDifference,
): Promise<void> {
  const sent: Promise<unknown>[] = [];
  if (removed.length + changed.length > 0)
    sent.push(session.query(CHANGE, [removed, ...changedValues(changed)]));
  // After the removals: a timer that replaces another one has its name.
  if (added.length > 0) sent.push(session.query(ADD, addedValues(added)));
  const growth = added.length - removed.length;
  if (growth !== 0) sent.push(session.query(COUNT, [part, growth]));
  await Promise.all(sent);
}

function changedValues(timers: readonly StoredTimer[]): readonly Parameter[] {
  return [
    timers.map(({ number }) => number),
    timers.map(({ dueMs }) => dueMs),
    timers.map(({ nextMs }) => nextMs ?? null),
    timers.map(({ attempts }) => attempts),
    timers.map(({ fault }) => fault ?? null),
    timers.map((timer) => rowChecksum(timerColumns(timer))),
  ];
}

function addedValues(timers: readonly StoredTimer[]): readonly Parameter[] {
  const rows = timers.map((timer) => timerColumns(timer));
  const columns = COLUMN_TYPES.map((_, index) => rows.map((row) => row[index]!));
  return [...columns, rows.map((row) => rowChecksum(row))];
}
