// StoredLaneChanges change the rows of parked lanes, also while nodes deliver events: a node leaves the row of a lane that it has parked
// as it is, and follows what was changed once it has renewed its lease.
import type { EntityRef } from '@svc/model/entity';
import { sliceOf } from '@svc/model/slice';
import { RETRIED_AT_ONCE_MAX, type StoredLane } from '../../../engine/needs/consumers.ts';
import { systemClock } from '../../../system.ts';
import type { LaneAdministration } from '../../lane-administration.ts';
import { retriedLane, skippedLane, unknownConsumer } from '../../lane-changes.ts';
import type { DatabaseSession, Parameter, Statement } from '../database-session.ts';
import { operatorChange, type WithSession } from '../operator-change.ts';
import { columnsOf, LANE_COLUMNS, type LaneRow, laneRowOf, storedLaneOf } from './consumer-rows.ts';
import { PUT_LANES } from './consumer-statements.ts';

/** A node that settles holds these rows for a moment. */
const LIMIT_WAITS: Statement = { text: "SET LOCAL lock_timeout = '5s'" };
const HAS_CONSUMER: Statement = { text: 'SELECT FROM svc.consumer WHERE consumer = $1' };
const ONE: Statement = {
  text: `SELECT ${LANE_COLUMNS} FROM svc.lane
    WHERE consumer = $1 AND slice = $2 AND component = $3 AND id = $4 FOR UPDATE`,
};
/** Rows that another transaction has locked are about to change. */
const PARKED: Statement = {
  text: `SELECT ${LANE_COLUMNS} FROM svc.lane WHERE consumer = $1 AND next_ms IS NULL
    ORDER BY slice, component, id LIMIT ${RETRIED_AT_ONCE_MAX} FOR UPDATE SKIP LOCKED`,
};
const RAISE_WORK: Statement = { text: 'UPDATE svc.cluster SET work = work + 1' };

/** Returns what becomes of a lane; undefined: it stays as it is. */
type Change = (lane: StoredLane, nowMs: number) => StoredLane | undefined;

export class StoredLaneChanges implements LaneAdministration {
  readonly #withSession: WithSession;

  constructor(withSession: WithSession) {
    this.#withSession = withSession;
  }

  retryLane(consumer: string, entity: EntityRef): Promise<boolean> {
    return this.#change(consumer, ONE, keyOf(entity), (lane, nowMs) =>
      retriedLane(consumer, lane, nowMs),
    );
  }

  retryLanes(consumer: string): Promise<boolean> {
    return this.#change(consumer, PARKED, [], (lane, nowMs) =>
      lane.isDamaged === true ? undefined : retriedLane(consumer, lane, nowMs),
    );
  }

  skipInLane(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean> {
    return this.#change(consumer, ONE, keyOf(entity), (lane, nowMs) =>
      skippedLane(lane, { seq, reason }, nowMs),
    );
  }

  #change(
    consumer: string,
    statement: Statement,
    key: readonly Parameter[],
    change: Change,
  ): Promise<boolean> {
    return operatorChange(this.#withSession, 'the lanes of consumers', async (session) => {
      await session.query(LIMIT_WAITS);
      if ((await session.query(HAS_CONSUMER, [consumer])).length === 0)
        throw unknownConsumer(consumer);
      const rows = await session.query(statement, [consumer, ...key]);
      const nowMs = systemClock.nowMs();
      const changed = rows.flatMap(
        (row) => change(storedLaneOf(consumer, row as unknown as LaneRow), nowMs) ?? [],
      );
      return store(session, consumer, changed);
    });
  }
}

async function store(
  session: DatabaseSession,
  consumer: string,
  lanes: readonly StoredLane[],
): Promise<boolean> {
  if (lanes.length === 0) return false;
  const rows = lanes.map((lane) => laneRowOf(consumer, lane));
  await session.query(PUT_LANES, [consumer, ...columnsOf(rows, 9)]);
  await session.query(RAISE_WORK);
  return true;
}

function keyOf({ component, id }: EntityRef): readonly Parameter[] {
  return [sliceOf(component, id), component, id];
}
