// TimerRow is a timer as a row of the table `timer`, with a checksum over all of its columns.
//
// Invariant: numbers are read as text, because a damaged row may have any number, and must not keep the others from being read.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import { sliceOf } from '@svc/model/slice';
import type { Schedule } from '@svc/model/timer';
import type { DueTimer, StoredTimer } from '../../../engine/needs/timers.ts';
import type { Row } from '../database-session.ts';
import { rowChecksum } from '../row-checksum.ts';

/** The columns of a timer, with their types, in the order of `TimerColumns`. */
export const COLUMN_TYPES = [
  ['number', 'bigint'],
  ['owner_component', 'text'],
  ['owner_id', 'text'],
  ['name', 'text'],
  ['target_slice', 'smallint'],
  ['target_component', 'text'],
  ['target_id', 'text'],
  ['command', 'text'],
  ['input', 'text'],
  ['schedule', 'text'],
  ['due_ms', 'bigint'],
  ['next_ms', 'bigint'],
  ['attempts', 'bigint'],
  ['attempts_max', 'bigint'],
  ['fault', 'text'],
  ['set_ms', 'bigint'],
  ['trace_parent', 'text'],
] as const;

/** A row without its checksum: all values as text. */
export type TimerColumns = readonly [
  number: string,
  ownerComponent: string | null,
  ownerId: string | null,
  name: string,
  targetSlice: string,
  targetComponent: string,
  targetId: string,
  command: string,
  input: string,
  schedule: string | null,
  dueMs: string,
  nextMs: string | null,
  attempts: string,
  attemptsMax: string | null,
  fault: string | null,
  setMs: string,
  traceParent: string | null,
];

/** Returns the index of a column in a row. */
function indexOf(column: (typeof COLUMN_TYPES)[number][0]): number {
  return COLUMN_TYPES.findIndex(([name]) => name === column);
}

// Indices of columns in a row.
export const NUMBER = indexOf('number');
export const NAME = indexOf('name');
export const DUE_MS = indexOf('due_ms');
export const NEXT_MS = indexOf('next_ms');
const INPUT = indexOf('input');
const CRC = COLUMN_TYPES.length;

/** Longest input that is read with a due timer, in bytes. A page of 256 of these takes 1 MiB. */
const DUE_INPUT_BYTES_MAX = 4_096;

/** The columns of a row and its checksum, of the table `timer` under the alias `t`. */
export const TIMER_COLUMNS = columnsWith('t.input');
/** `TIMER_COLUMNS`, with NULL for a long input. */
export const DUE_COLUMNS = columnsIf(`octet_length(t.input) <= ${DUE_INPUT_BYTES_MAX}`);

/** Returns `TIMER_COLUMNS`, with NULL for the input of a row that does not meet the condition. */
export function columnsIf(condition: string): string {
  return columnsWith(`CASE WHEN ${condition} THEN t.input END`);
}

function columnsWith(input: string): string {
  const columns = COLUMN_TYPES.map(([name, type]) => {
    if (name === 'input') return input;
    return type === 'text' ? `t.${name}` : `t.${name}::text`;
  });
  return [...columns, 't.crc::text'].join(', ');
}

/** Returns the columns that store a timer. */
export function timerColumns(timer: StoredTimer): TimerColumns {
  const { component, id } = timer.target;
  return [
    String(timer.number),
    timer.owner?.component ?? null,
    timer.owner?.id ?? null,
    timer.name,
    String(sliceOf(component, id)),
    component,
    id,
    timer.command,
    timer.input,
    timer.schedule === undefined ? null : JSON.stringify(timer.schedule),
    String(timer.dueMs),
    textOf(timer.nextMs),
    String(timer.attempts),
    textOf(timer.attemptsMax),
    timer.fault ?? null,
    String(timer.setMs),
    timer.traceParent ?? null,
  ];
}

/** Returns the timer in a row of `TIMER_COLUMNS`; SVC_JOURNAL_CORRUPT when the row is not what was stored. */
export function timerOfRow(row: Row): StoredTimer | SvcError {
  const columns = row.slice(0, CRC) as unknown as TimerColumns;
  if (rowChecksum(columns) !== Number(row[CRC])) return damagedTimer(columns);
  return timerIn(columns) ?? damagedTimer(columns);
}

/**
 * Returns the timer in a row of `DUE_COLUMNS` whose `next_ms` is not NULL; SVC_JOURNAL_CORRUPT when the row is not what was
 * stored. Damage of a row with a long input is found when the input is read.
 */
export function dueTimerOfRow(row: Row): DueTimer | SvcError {
  const columns = row.slice(0, CRC) as unknown as TimerColumns;
  const isLong = row[INPUT] === null;
  const timer = isLong ? timerIn(columns) : timerOfRow(row);
  if (timer instanceof SvcError) return timer;
  if (timer?.nextMs === undefined) return damagedTimer(columns);
  return { ...timer, nextMs: timer.nextMs, input: isLong ? undefined : timer.input };
}

/** Returns the timer in a row, whether the row is damaged or not; undefined if the schedule is no JSON. */
function timerIn(columns: TimerColumns): StoredTimer | undefined {
  const [number, ownerComponent, ownerId, name, , component, id, command, input, ...rest] = columns;
  const [schedule, dueMs, nextMs, attempts, attemptsMax, fault, setMs, traceParent] = rest;
  let parsed: Schedule | undefined;
  try {
    parsed = schedule === null ? undefined : (JSON.parse(schedule) as Schedule);
  } catch {
    return undefined;
  }
  return {
    number: Number(number),
    owner:
      ownerComponent === null || ownerId === null
        ? undefined
        : { component: ownerComponent, id: ownerId },
    name,
    target: { component, id },
    command,
    input,
    schedule: parsed,
    dueMs: Number(dueMs),
    nextMs: numberIn(nextMs),
    attempts: Number(attempts),
    attemptsMax: numberIn(attemptsMax),
    fault: fault ?? undefined,
    setMs: Number(setMs),
    traceParent: traceParent ?? undefined,
  };
}

function textOf(number: number | undefined): string | null {
  return number === undefined ? null : String(number);
}

function numberIn(text: string | null): number | undefined {
  return text === null ? undefined : Number(text);
}

function damagedTimer([number, component, id, name]: TimerColumns): SvcError {
  const owner =
    component === null || id === null
      ? 'of the service'
      : `of entity '${printable(id)}' of component '${printable(component)}'`;
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `Timer ${number}, '${printable(name)}' ${owner}, is damaged: its checksum does not fit. It is not fired. ` +
      'Restore the database from a backup, or cancel the timer; the other timers are not affected.',
  );
}
