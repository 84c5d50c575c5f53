// DatabaseTimerInspection is the inspection of the timers of a journal in a database.
import { SvcError } from '@svc/kit/svc-error';
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { TimerFilter, TimerInspection, TimerPage } from '../../work-inspection.ts';
import type { Parameter } from '../database-session.ts';
import { NEXT_MS, NUMBER, TIMER_COLUMNS, timerOfRow } from '../timers/timer-row.ts';
import { DatabaseReader } from './database-reader.ts';

export class DatabaseTimerInspection implements TimerInspection {
  readonly #reader: DatabaseReader;

  constructor(location: JournalInDatabase) {
    this.#reader = new DatabaseReader(location);
  }

  async list(filter: TimerFilter, afterNumber: number, limit: number): Promise<TimerPage> {
    const { conditions, values } = conditionsOf(filter);
    const text = `SELECT ${TIMER_COLUMNS} FROM svc.timer t WHERE t.number > $1::bigint${conditions}
      ORDER BY t.number LIMIT $2::bigint`;
    const rows = await this.#reader.query({ text }, [
      String(afterNumber),
      String(limit),
      ...values,
    ]);
    const read = rows.map(timerOfRow);
    const last = rows.at(-1);
    return {
      timers: read.filter((timer): timer is StoredTimer => !(timer instanceof SvcError)),
      damaged: read.filter((timer) => timer instanceof SvcError),
      last: last && {
        number: Number(last[NUMBER]),
        nextMs: last[NEXT_MS] === null ? Number.POSITIVE_INFINITY : Number(last[NEXT_MS]),
      },
    };
  }

  close(): void {
    this.#reader.close();
  }
}

/** The first two parameters belong to the page. */
function conditionsOf({ owner, state }: TimerFilter): {
  readonly conditions: string;
  readonly values: readonly Parameter[];
} {
  const ofState = { pending: ' AND t.next_ms IS NOT NULL', dead: ' AND t.next_ms IS NULL' };
  const conditions = state === undefined ? '' : ofState[state];
  if (owner === undefined) return { conditions, values: [] };
  if (owner === 'service')
    return { conditions: `${conditions} AND t.owner_id IS NULL`, values: [] };
  return {
    conditions: `${conditions} AND t.owner_component = $3 AND t.owner_id = $4`,
    values: [owner.component, owner.id],
  };
}
