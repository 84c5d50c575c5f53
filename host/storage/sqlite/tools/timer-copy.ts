// TimerCopy adds timers, consumers and lanes to a journal that is being made.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoredTimer } from '../../../engine/needs/timers.ts';
import {
  type ConsumerRow,
  type LaneRow,
  consumerChecksum,
  laneChecksum,
} from '../consumer-rows.ts';
import { ADD_TIMER, SERVICE_NO, timerChecksum, timerValues } from '../stored-timer-row.ts';

export class TimerCopy {
  readonly #addTimer: StatementSync;
  readonly #addConsumer: StatementSync;
  readonly #addLane: StatementSync;
  /** Finds or makes the number of an entity. */
  readonly #numberOf: (component: string, id: string) => number;
  readonly counts = { timers: 0, consumers: 0, lanes: 0 };

  /** Throws errors of SQLite. */
  constructor(database: DatabaseSync, numberOf: (component: string, id: string) => number) {
    this.#numberOf = numberOf;
    this.#addTimer = database.prepare(ADD_TIMER);
    this.#addConsumer = database.prepare('INSERT INTO consumer VALUES (?, ?, ?, ?)');
    this.#addLane = database.prepare('INSERT INTO lane VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  }

  /** Throws errors of SQLite. */
  timer(timer: StoredTimer): void {
    const { owner } = timer;
    const entityNo = owner === undefined ? SERVICE_NO : this.#numberOf(owner.component, owner.id);
    this.#addTimer.run(entityNo, timerChecksum(timer), ...timerValues(timer));
    this.counts.timers++;
  }

  /** Throws errors of SQLite. */
  consumer(row: ConsumerRow): void {
    this.#addConsumer.run(row.id, row.start, row.pos, consumerChecksum(row));
    this.counts.consumers++;
  }

  /** Throws errors of SQLite. */
  lane(row: LaneRow): void {
    const { consumer, component, id, seq, state, attempts, round, nextMs, reason } = row;
    const entityNo = this.#numberOf(component, id);
    const crc = laneChecksum(row);
    this.#addLane.run(consumer, entityNo, seq, state, attempts, round, nextMs, reason, crc);
    this.counts.lanes++;
  }
}
