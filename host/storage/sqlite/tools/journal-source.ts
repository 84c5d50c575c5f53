// JournalSource reads the whole content of a journal in the order in which it is copied: consumers, timers, the records,
// the stored replies to idempotency keys, the modules. It reads the content of one moment, in short steps, beside a running host.
import { isKept } from './answer-verification.ts';
import type { RecordFilter } from '../../journal-scan.ts';
import { type ScannedRow, SqliteScan } from './journal-scan.ts';
import type { StoredReplyRow } from '../stored-reply-row.ts';
import { ReadingConnection, type StoredRow } from './reading-connection.ts';
import {
  type SourceConsumer,
  type SourceLane,
  type SourceTimer,
  consumerEntries,
  timerEntry,
  timersAt,
} from './timer-entries.ts';
import type { JournalFinding, VerificationProgress } from '../../verification-step.ts';

export interface SourceAnswer {
  readonly kind: 'answer';
  readonly component: string;
  readonly id: string;
  readonly row: StoredReplyRow;
}

export type ModuleRow = readonly [
  fingerprint: string,
  fromPos: number,
  timeMs: number,
  descriptor: string,
];

export interface SourceModule {
  readonly kind: 'module';
  readonly row: ModuleRow;
}

export type SourceEntry =
  | ScannedRow
  | SourceAnswer
  | SourceModule
  | SourceTimer
  | SourceConsumer
  | SourceLane
  | JournalFinding
  | VerificationProgress;

const RECORDS_AT_ONCE = 2_000;
const ANSWERS_AT_ONCE = 500;

/** Identifies one moment: the last record, and the last stored reply with its time and checksum. */
const MOMENT = `SELECT last.pos, a.ano, a.time_ms, a.crc FROM (SELECT max(pos) AS pos FROM journal) last
  LEFT JOIN answer a ON a.ano = (SELECT max(ano) FROM answer)`;
/** The number of columns of MOMENT. */
const MOMENT_COLUMNS = 4;
const MOMENT_BEFORE_3 = 'SELECT max(pos), NULL, NULL, NULL FROM journal';
/**
 * Stored replies are added at the end and removed from the beginning, and their numbers begin anew once none is left.
 * As long as the last reply of the moment is there, those before it belong to that moment too.
 */
const ANSWERS = `SELECT a.ano, component, id, a.key, a.digest, a.time_ms, a.outcome, a.crc
  FROM answer a NOT INDEXED LEFT JOIN entity ON entity.eno = a.eno
  WHERE a.ano > ? AND a.ano <= ?
    AND EXISTS (SELECT 1 FROM answer l WHERE l.ano = ? AND l.time_ms = ? AND l.crc = ?)
  ORDER BY a.ano LIMIT ${ANSWERS_AT_ONCE}`;
const FIRST_FORMAT_WITH_MODULES = 3;
const MODULES = () =>
  'SELECT fingerprint, from_pos, time_ms, descriptor FROM module WHERE from_pos <= ? ORDER BY mno';

/**
 * Yields all entries of a journal; with a filter, records alone. Damage is a finding among the
 * entries. Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_DATA_UNUSABLE, SVC_JOURNAL_CORRUPT and
 * SVC_JOURNAL_UNAVAILABLE.
 */
export function* journalEntries(
  dir: string,
  filter?: RecordFilter,
): Generator<SourceEntry, void, void> {
  const connection = new ReadingConnection(dir);
  const scan = new SqliteScan(dir, filter);
  try {
    const { format } = connection;
    const hasAnswers = format >= FIRST_FORMAT_WITH_MODULES;
    const moment =
      filter === undefined && format >= 5
        ? yield* timersAndMoment(connection)
        : connection.rows(() => (hasAnswers ? MOMENT : MOMENT_BEFORE_3), [])[0];
    const lastPos = Number(moment![0] ?? 0);
    yield* records(scan, lastPos);
    if (filter !== undefined || !hasAnswers) return;
    yield* answers(connection, moment!);
    for (const row of modulesUpTo(connection, lastPos + 1)) yield { kind: 'module', row };
  } finally {
    scan.close();
    connection.close();
  }
}

/** Returns the modules that have written a journal until now, in their order. Throws as `journalEntries` does. */
export function journalModules(dir: string): readonly ModuleRow[] {
  const connection = new ReadingConnection(dir);
  try {
    if (connection.format < FIRST_FORMAT_WITH_MODULES) return [];
    return modulesUpTo(connection, Number.MAX_SAFE_INTEGER);
  } finally {
    connection.close();
  }
}

function modulesUpTo(connection: ReadingConnection, pos: number): readonly ModuleRow[] {
  return connection
    .rows(MODULES, [pos])
    .map(([fingerprint, fromPos, timeMs, descriptor]) => [
      String(fingerprint),
      Number(fromPos),
      Number(timeMs),
      String(descriptor),
    ]);
}

/**
 * Yields the consumers, and then the timers as they are at the moment, which it returns: the changes of timers by later
 * records are not in the copy.
 */
function* timersAndMoment(
  connection: ReadingConnection,
): Generator<SourceEntry, StoredRow | undefined, void> {
  yield* consumerEntries(connection);
  let moment: StoredRow | undefined;
  for (const row of connection.stream(timersAt(MOMENT))) {
    moment ??= row.slice(0, MOMENT_COLUMNS);
    if (row[MOMENT_COLUMNS] !== null) yield timerEntry(row.slice(MOMENT_COLUMNS));
  }
  return moment;
}

function* records(scan: SqliteScan, lastPos: number): Generator<SourceEntry, void, void> {
  for (let at = 0, isLast = false; !isLast;) {
    const page = scan.page(at, RECORDS_AT_ONCE, lastPos);
    ({ lastPos: at, isLast } = page);
    for (const entry of page.entries) {
      if (entry.kind === 'record') yield entry;
      else {
        const { component, id, seq, pos, problem } = entry;
        yield { kind: 'finding', component, id, seq, pos, problem };
      }
    }
    yield { kind: 'progress', what: 'records', done: at, total: lastPos };
  }
}

function* answers(
  connection: ReadingConnection,
  [, lastReplyNo, timeMs, crc]: StoredRow,
): Generator<SourceEntry, void, void> {
  if (typeof lastReplyNo !== 'bigint') return;
  const last = [lastReplyNo, timeMs as bigint, crc as bigint] as const;
  for (let at = 0n; ;) {
    const rows = connection.rows(() => ANSWERS, [at, lastReplyNo, ...last]);
    for (const row of rows) yield answerOf(row);
    yield { kind: 'progress', what: 'answers', done: Number(at), total: Number(lastReplyNo) };
    if (rows.length < ANSWERS_AT_ONCE) return;
    at = rows.at(-1)![0] as bigint;
  }
}

function answerOf([, component, id, key, digest, timeMs, outcome, crc]: StoredRow):
  | SourceAnswer
  | JournalFinding {
  const row = [key, digest, Number(timeMs), outcome, Number(crc)] as unknown as StoredReplyRow;
  if (typeof component === 'string' && typeof id === 'string' && isKept(component, id, row))
    return { kind: 'answer', component, id, row };
  return {
    kind: 'finding',
    ...(typeof component === 'string' ? { component } : {}),
    ...(typeof id === 'string' ? { id } : {}),
    problem: `the answer to the idempotency key '${String(key)}' is not what was written`,
  };
}
