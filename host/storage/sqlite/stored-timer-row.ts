// StoredTimerRow is a timer as a row of the table `timer`, with a checksum over the timer and its owner.
import { crc32 } from 'node:zlib';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { DueTimer, StoredTimer } from '../../engine/needs/timers.ts';
import type { EntityRef } from '@svc/model/entity';
import type { Schedule } from '@svc/model/timer';
import { isText } from './record-checksum.ts';

/** Value of `eno` of a timer that belongs to the service and not to an entity. No entity has this number. */
export const SERVICE_NO = 0;

/** SQL for the columns of a timer and the entity that owns it, in the order of `TimerRow`. */
export const TIMER_COLUMNS = `t.tno, t.name, t.component, t.id, t.command, t.input, t.schedule, t.due_ms, t.next_ms,
  t.attempts, t.attempts_max, t.fault, t.set_ms, t.trace, t.crc, t.eno, o.component, o.id`;
/** Longest input that is read with a due timer, in bytes. A page of 256 of these takes 1 MiB. */
const DUE_INPUT_BYTES_MAX = 4_096;
/** `TIMER_COLUMNS`, with NULL for a long input. */
export const DUE_COLUMNS = TIMER_COLUMNS.replace(
  't.input',
  `CASE WHEN octet_length(t.input) <= ${DUE_INPUT_BYTES_MAX} THEN t.input END`,
);
/** SQL for the tables of `TIMER_COLUMNS`. */
export const TIMER_TABLES = 'timer t LEFT JOIN entity o ON o.eno = t.eno';

/** SQL that adds a timer: `eno`, the checksum, and the values of `timerValues`. */
export const ADD_TIMER = `INSERT INTO timer (eno, crc, tno, name, component, id, command, input, schedule, due_ms, next_ms,
  attempts, attempts_max, fault, set_ms, trace) VALUES (${Array.from({ length: 16 }, () => '?').join()})`;

/** A row that is read with BigInts, because a damaged one may have any number. */
export type TimerRow = readonly [
  number: bigint,
  name: string,
  component: string,
  id: string,
  command: string,
  input: string,
  schedule: string | null,
  dueMs: bigint,
  nextMs: bigint | null,
  attempts: bigint,
  attemptsMax: bigint | null,
  fault: string | null,
  setMs: bigint,
  trace: string | null,
  crc: bigint,
  entityNo: bigint,
  ownerComponent: string | null,
  ownerId: string | null,
];

/** Indices of columns in a row. */
const INPUT = 5;
const CRC = 14;

/** Returns the values of the columns `tno` to `trace`, without `eno`. */
export function timerValues(timer: StoredTimer): readonly (string | number | null)[] {
  return [
    timer.number,
    timer.name,
    timer.target.component,
    timer.target.id,
    timer.command,
    timer.input,
    timer.schedule === undefined ? null : JSON.stringify(timer.schedule),
    timer.dueMs,
    timer.nextMs ?? null,
    timer.attempts,
    timer.attemptsMax ?? null,
    timer.fault ?? null,
    timer.setMs,
    timer.traceParent ?? null,
  ];
}

/** Returns the CRC-32 of a timer and its owner. */
export function timerChecksum(timer: StoredTimer): number {
  const owner = timer.owner === undefined ? null : [timer.owner.component, timer.owner.id];
  return crc32(JSON.stringify([owner, ...timerValues(timer)]));
}

/** A timer as it was read with `DUE_COLUMNS`. */
export type DueTimerRead = Omit<StoredTimer, 'input' | 'nextMs'> & DueTimer;

/** Returns the timer in a row. Throws SVC_JOURNAL_CORRUPT when the row is not what was written. */
export function storedTimerOf(row: TimerRow): StoredTimer {
  const timer = timerIn(row);
  if (timer !== undefined && timerChecksum(timer) === Number(row[CRC])) return timer;
  throw damagedTimer(row);
}

/**
 * Returns the timer in a row of `DUE_COLUMNS` whose `next_ms` is not NULL. Throws SVC_JOURNAL_CORRUPT when the row is not what
 * was written; of one with a long input, damage is found when the input is read.
 */
export function dueTimerOf(row: TimerRow): DueTimerRead {
  const timer = (row[INPUT] as string | null) === null ? timerIn(row) : storedTimerOf(row);
  if (timer?.nextMs === undefined) throw damagedTimer(row);
  return { ...timer, nextMs: timer.nextMs, input: row[INPUT] ?? undefined };
}

/** Returns the timer that is in a row, whether it is damaged or not; undefined if its schedule or owner cannot be read. */
function timerIn(row: TimerRow): StoredTimer | undefined {
  const [number, name, component, id, command, input, schedule, dueMs, nextMs] = row;
  const [attempts, attemptsMax, fault, setMs, trace, , entityNo, ...owner] = row.slice(9) as [
    bigint,
    bigint | null,
    string | null,
    bigint,
    string | null,
    bigint,
    bigint,
    string | null,
    string | null,
  ];
  try {
    return {
      number: Number(number),
      owner: ownerOf(Number(entityNo), owner),
      name,
      target: { component, id },
      command,
      input,
      schedule: schedule === null ? undefined : (JSON.parse(schedule) as Schedule),
      dueMs: Number(dueMs),
      nextMs: nextMs === null ? undefined : Number(nextMs),
      attempts: Number(attempts),
      attemptsMax: attemptsMax === null ? undefined : Number(attemptsMax),
      fault: fault ?? undefined,
      setMs: Number(setMs),
      traceParent: trace ?? undefined,
    };
  } catch (error) {
    // The texts of a damaged row may be anything.
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
    return undefined;
  }
}

function ownerOf(
  entityNo: number,
  [component, id]: readonly (string | null)[],
): EntityRef | undefined {
  if (entityNo === SERVICE_NO) return undefined;
  if (!isText(component) || !isText(id)) throw new TypeError('the owner is missing');
  return { component, id };
}

function damagedTimer([number, name, ...rest]: TimerRow): SvcError {
  const [component, id] = rest.slice(-2);
  const owner =
    isText(component) && isText(id)
      ? `of entity '${printable(id)}' of component '${printable(component)}'`
      : 'of the service';
  return new SvcError(
    'SVC_JOURNAL_CORRUPT',
    `Timer ${number}, '${printable(isText(name) ? name : '?')}' ${owner}, is damaged: its checksum does not fit. It is not fired. ` +
      'Restore the data folder from a backup, or cancel the timer; the other timers are not affected.',
  );
}
