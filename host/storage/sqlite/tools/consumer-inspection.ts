// SqliteConsumerInspection is the inspection of the consumers and lanes in a data folder.
import type { StoredConsumer, StoredLane } from '../../../engine/needs/consumers.ts';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import {
  type ConsumerRow,
  type LaneRow,
  consumerChecksum,
  laneChecksum,
  storedLaneOf,
} from '../consumer-rows.ts';
import { journalDamaged } from '../sqlite-failure.ts';
import { isText } from '../record-checksum.ts';
import type {
  ConsumerInspection,
  ConsumerLane,
  InspectedConsumer,
  LaneFilter,
  LanePage,
} from '../../work-inspection.ts';
import { ReadingConnection, type StoredRow } from './reading-connection.ts';
import { consumerEntries } from './timer-entries.ts';
import { FIRST_FORMAT_WITH_TIMERS } from './timer-inspection.ts';

/** The most lanes of a consumer in one state that are counted. */
const LANES_COUNTED_MAX = 200_000;

/** Lanes of a page of `parked`. */
const PAGE = 1_000;

const COUNTED = (where: string) =>
  `(SELECT count(*) FROM (SELECT 1 FROM lane WHERE consumer = c.id AND next_ms IS ${where} LIMIT ${LANES_COUNTED_MAX}))`;
const CONSUMERS = () => `SELECT id, start, pos, crc, (SELECT ifnull(max(pos), 0) FROM journal),
  ${COUNTED('NOT NULL')}, ${COUNTED('NULL')} FROM consumer c ORDER BY id`;
const LANES =
  () => `SELECT lane.eno, component, id, seq, state, attempts, round, next_ms, reason, lane.crc
  FROM lane LEFT JOIN entity USING (eno)
  WHERE consumer = ?1 AND lane.eno > ?2 AND (?3 IS NULL OR (next_ms IS NULL) = ?3)
    AND (?4 IS NULL OR lane.eno = (SELECT eno FROM entity WHERE component = ?4 AND id = ?5))
  ORDER BY lane.eno LIMIT ?6`;

interface CountedConsumer {
  readonly row: ConsumerRow;
  /** Position of the last record of the journal. */
  readonly end: number;
  readonly retrying: number;
  readonly parked: number;
}

export class SqliteConsumerInspection implements ConsumerInspection {
  readonly #connection: ReadingConnection;

  /** Throws SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT and SVC_DATA_UNUSABLE. */
  constructor(dir: string) {
    this.#connection = new ReadingConnection(dir);
  }

  consumers(): readonly InspectedConsumer[] {
    return this.#consumers().map(({ row, end, retrying, parked }) => ({
      consumer: row.id,
      start: row.start,
      lagRecords: Math.max(0, end - row.pos),
      retrying,
      parked,
    }));
  }

  stored(consumer: string): StoredConsumer | undefined {
    const found = this.#consumers().find(({ row }) => row.id === consumer)?.row;
    return found && { id: found.id, start: found.start, position: String(found.pos) };
  }

  lanes(
    consumer: string,
    { state, entity }: LaneFilter,
    afterNumber: number,
    limit: number,
  ): LanePage {
    if (this.#connection.format < FIRST_FORMAT_WITH_TIMERS)
      return { lanes: [], damaged: [], last: undefined };
    const isParked = state === undefined ? null : Number(state === 'parked');
    const owner = entity === undefined ? [null, null] : [entity.component, entity.id];
    const values = [consumer, afterNumber, isParked, ...owner, limit];
    const rows = this.#connection.rows(LANES, values);
    const found = rows.map((row) => this.#laneOf(consumer, row));
    const last = rows.at(-1)?.[0];
    return {
      lanes: found.filter((lane): lane is StoredLane => !(lane instanceof SvcError)),
      damaged: found.filter((lane): lane is SvcError => lane instanceof SvcError),
      last: last === undefined ? undefined : Number(last),
    };
  }

  *parked(consumer: string): Generator<StoredLane, void, undefined> {
    for (let after: number | undefined = 0; after !== undefined;) {
      const page = this.lanes(consumer, { state: 'parked' }, after, PAGE);
      yield* page.lanes;
      after = page.last;
    }
  }

  *allLanes(): Generator<ConsumerLane, void, undefined> {
    if (this.#connection.format < FIRST_FORMAT_WITH_TIMERS) return;
    for (const entry of consumerEntries(this.#connection))
      if (entry.kind === 'lane')
        yield { consumer: entry.row.consumer, lane: storedLaneOf(entry.row) };
  }

  close(): void {
    this.#connection.close();
  }

  #consumers(): readonly CountedConsumer[] {
    if (this.#connection.format < FIRST_FORMAT_WITH_TIMERS) return [];
    return this.#connection.rows(CONSUMERS, []).map((row) => this.#consumerOf(row));
  }

  #consumerOf([id, start, pos, crc, end, retrying, parked]: StoredRow): CountedConsumer {
    const row = { id, start, pos: Number(pos) } as ConsumerRow;
    if (consumerChecksum(row) !== Number(crc))
      throw journalDamaged(
        this.#connection.path,
        `the row of consumer '${printable(String(id))}' is not what was written`,
      );
    return { row, end: Number(end), retrying: Number(retrying), parked: Number(parked) };
  }

  #laneOf(consumer: string, stored: StoredRow): StoredLane | SvcError {
    const [number, component, id, seq, state, attempts, round, nextMs, reason, crc] = stored;
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
    if (isText(component) && isText(id) && laneChecksum(row) === Number(crc))
      return storedLaneOf(row);
    const of = isText(id) ? `of entity '${printable(id)}'` : `with the number ${String(number)}`;
    return journalDamaged(
      this.#connection.path,
      `the lane ${of} of consumer '${printable(consumer)}' is not what was written`,
    );
  }
}
