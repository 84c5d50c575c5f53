// TimerEntries reads what a journal has for timers and consumers, since format 5, as entries that are copied.
import { SvcError } from '@svc/kit/svc-error';
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import {
  type ConsumerRow,
  type LaneRow,
  consumerChecksum,
  laneChecksum,
} from '../consumer-rows.ts';
import { TIMER_COLUMNS, TIMER_TABLES, type TimerRow, storedTimerOf } from '../stored-timer-row.ts';
import type { ReadingConnection, StoredRow } from './reading-connection.ts';
import type { JournalFinding } from '../../verification-step.ts';

export interface SourceTimer {
  readonly kind: 'timer';
  readonly row: StoredTimer;
}

export interface SourceConsumer {
  readonly kind: 'consumer';
  readonly row: ConsumerRow;
}

export interface SourceLane {
  readonly kind: 'lane';
  readonly row: LaneRow;
}

const CONSUMERS = () => 'SELECT id, start, pos, crc FROM consumer ORDER BY id';
const LANES =
  () => `SELECT consumer, component, id, seq, state, attempts, round, next_ms, reason, lane.crc
  FROM lane LEFT JOIN entity USING (eno) ORDER BY consumer, lane.eno`;

/** Returns SQL for the columns of one moment, of which `moment` selects a row, with those of a timer in each row. */
export function timersAt(moment: string): string {
  return `SELECT * FROM (${moment}) LEFT JOIN (SELECT ${TIMER_COLUMNS} FROM ${TIMER_TABLES}) ON 1`;
}

/** Returns the timer in a row; a finding if it is damaged or its owner is missing. */
export function timerEntry(row: StoredRow): SourceTimer | JournalFinding {
  try {
    return { kind: 'timer', row: storedTimerOf(row as unknown as TimerRow) };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const [number, name] = row;
    return {
      kind: 'finding',
      problem: `timer ${String(number)}, '${String(name)}', is not what was written`,
    };
  }
}

/** Yields the consumers and then their lanes: a lane that appears meanwhile is of an event that is read again. */
export function* consumerEntries(
  connection: ReadingConnection,
): Generator<SourceConsumer | SourceLane | JournalFinding, void> {
  for (const [id, start, pos, crc] of connection.rows(CONSUMERS, [])) {
    const row = { id, start, pos: Number(pos) } as ConsumerRow;
    if (consumerChecksum(row) === Number(crc)) yield { kind: 'consumer', row };
    else yield { kind: 'finding', problem: `consumer '${String(id)}' is not what was written` };
  }
  for (const [
    consumer,
    component,
    id,
    seq,
    state,
    attempts,
    round,
    nextMs,
    reason,
    crc,
  ] of connection.rows(LANES, [])) {
    const row = {
      consumer,
      component,
      id,
      seq: Number(seq),
      state: Number(state),
      attempts: Number(attempts),
      round: Number(round),
      nextMs: nextMs === null ? null : Number(nextMs),
      reason,
    } as LaneRow;
    if (
      typeof component === 'string' &&
      typeof id === 'string' &&
      laneChecksum(row) === Number(crc)
    )
      yield { kind: 'lane', row };
    else
      yield {
        kind: 'finding',
        problem: `a lane of consumer '${String(consumer)}' belongs to no entity, or is not what was written`,
      };
  }
}
