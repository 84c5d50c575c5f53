// PostgresConsumerReader reads the consumers and lanes that are on disk, of all slices or of some.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type {
  ConsumerReader,
  StoredConsumer,
  StoredLane,
} from '../../../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import { SLICE_COUNT, sliceOf } from '@svc/model/slice';
import type { FollowingSession } from '../following-session.ts';
import { SliceOffsets } from '../feed/slice-offsets.ts';
import { safeNumber } from '../safe-number.ts';
import {
  LANE_COLUMNS,
  type LaneRow,
  consumerChecksum,
  offsetChecksum,
  storedLaneOf,
} from './consumer-rows.ts';

/** One statement, so that start and numbers are of one moment. The numbers of a consumer without a row are those of a damaged one. */
const CONSUMER = {
  name: 'consumer',
  text: `SELECT NULL, c.start, ${safeNumber('c.crc')} FROM svc.consumer c WHERE c.consumer = $1
  UNION ALL
  SELECT o.slice, (${safeNumber('o.off')})::text, ${safeNumber('o.crc')} FROM svc.consumer_offset o WHERE o.consumer = $1
  ORDER BY 1 NULLS FIRST`,
};
const LANES = {
  name: 'lanes',
  text: `SELECT ${LANE_COLUMNS} FROM svc.lane
  WHERE consumer = $1 AND (slice, component, id) > ($3::int2, $4, $5) AND ($6::int2[] IS NULL OR slice = ANY($6))
  ORDER BY slice, component, id LIMIT $2`,
};
/** Before all lanes. */
const BEFORE_ALL = [-1, '', ''] as const;

type OffsetRow = readonly [slice: number | null, text: string, crc: number];

export class PostgresConsumerReader implements ConsumerReader {
  readonly #session: FollowingSession;
  readonly #slices: ReadonlySet<number> | undefined;

  /** `slices`: those whose numbers and lanes are read; absent: all. */
  constructor(session: FollowingSession, slices?: readonly number[]) {
    this.#session = session;
    this.#slices = slices && new Set(slices);
  }

  async consumer(id: string): Promise<StoredConsumer | undefined> {
    const rows = (await this.#session.query(CONSUMER, [id])) as unknown as readonly OffsetRow[];
    const [first, ...offsets] = rows;
    if (first === undefined) return undefined;
    const [slice, start, crc] = first;
    if (slice !== null || crc !== consumerChecksum(id, start)) throw this.#damaged(id, 'its row');
    const offs = offsets.map((row) => this.#offsetOf(id, row));
    const own = offs.filter(([at]) => this.#slices?.has(at) ?? true);
    const position = SliceOffsets.start.with(own).text;
    return { id, start: start as StoredConsumer['start'], position };
  }

  async lanes(consumer: string, limit: number, after?: EntityRef): Promise<readonly StoredLane[]> {
    const from =
      after === undefined
        ? BEFORE_ALL
        : ([sliceOf(after.component, after.id), after.component, after.id] as const);
    const slices = this.#slices === undefined ? null : [...this.#slices];
    const rows = await this.#session.query(LANES, [consumer, limit, ...from, slices]);
    return (rows as unknown as readonly LaneRow[]).map((row) => this.#laneOf(consumer, row));
  }

  #offsetOf(consumer: string, [slice, text, crc]: OffsetRow): readonly [number, number] {
    const off = Number(text);
    const isSlice = slice !== null && slice >= 0 && slice < SLICE_COUNT;
    if (!isSlice || off < 0 || crc !== offsetChecksum(consumer, slice, off))
      throw this.#damaged(consumer, `its number in slice ${slice}`);
    return [slice, off];
  }

  #laneOf(consumer: string, row: LaneRow): StoredLane {
    const [slice, component, id] = row;
    // Nobody reads a lane of another slice when its entity is asked for.
    if (slice !== sliceOf(component, id)) throw this.#damaged(consumer, 'a lane of no entity');
    return storedLaneOf(consumer, row);
  }

  #damaged(consumer: string, what: string): SvcError {
    return new SvcError(
      'SVC_JOURNAL_CORRUPT',
      `The journal in ${this.#session.shown} is damaged: ${what} of consumer '${printable(consumer)}' is not what was written, ` +
        'so that the consumer does not run. Restore the database from a backup.',
    );
  }
}
