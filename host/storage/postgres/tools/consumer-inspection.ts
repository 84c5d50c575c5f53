// DatabaseConsumerInspection is the inspection of the consumers and lanes of a journal in a database.
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { StoredConsumer, StoredLane } from '../../../engine/needs/consumers.ts';
import type { LaneEntry } from '../../journal-entries.ts';
import type { JournalInDatabase } from '../../journal-location.ts';
import type { JournalFinding } from '../../verification-step.ts';
import type {
  ConsumerInspection,
  ConsumerLane,
  InspectedConsumer,
  LaneFilter,
  LanePage,
} from '../../work-inspection.ts';
import type { Parameter, Row } from '../database-session.ts';
import { SliceOffsets } from '../feed/slice-offsets.ts';
import { readEnds } from './commit-order.ts';
import { DatabaseReader } from './database-reader.ts';
import { type ReadConsumer, WORK_LANE_COLUMNS, laneOfRow, readConsumers } from './stored-work.ts';

/** The most lanes of a consumer in one state that are counted. */
const LANES_COUNTED_MAX = 200_000;
/** Lanes of a page of `parked` and `allLanes`. */
const PAGE = 1_000;

const counted = (state: string) =>
  `(SELECT count(*) FROM (SELECT FROM svc.lane l WHERE l.consumer = c.consumer AND l.next_ms IS ${state} LIMIT ${LANES_COUNTED_MAX}) n)`;
const COUNTS = {
  text: `SELECT c.consumer, ${counted('NOT NULL')}, ${counted('NULL')} FROM svc.consumer c`,
};
/** Lanes of all consumers after one. */
const ALL = {
  name: 'tool-all-lanes',
  text: `SELECT ${WORK_LANE_COLUMNS} FROM svc.lane
  WHERE (consumer, slice, component, id) > ($1, $2::int2, $3, $4)
  ORDER BY consumer, slice, component, id LIMIT ${PAGE}`,
};

/** A key that identifies a lane of a consumer: slice, component and id. */
type LaneKey = readonly [slice: number, component: string, id: string];
const BEFORE_ALL: LaneKey = [-1, '', ''];

export class DatabaseConsumerInspection implements ConsumerInspection {
  readonly #reader: DatabaseReader;
  /** The last lane of the page that was read last, and its number. Pages that follow one another begin there. */
  #last: { readonly question: string; readonly number: number; readonly key: LaneKey } | undefined;

  constructor(location: JournalInDatabase) {
    this.#reader = new DatabaseReader(location);
  }

  async consumers(): Promise<readonly InspectedConsumer[]> {
    const heads = await readEnds(this.#reader);
    const counts = new Map(
      (await this.#reader.query(COUNTS)).map(([consumer, ...count]) => [consumer, count]),
    );
    return (await readConsumers(this.#reader)).map((read) => {
      const { id, start, ends } = this.#whole(read);
      const [retrying = 0, parked = 0] = (counts.get(id) ?? []) as readonly number[];
      const lagRecords = heads.reduce(
        (sum, head, slice) => sum + Math.max(0, head - ends[slice]!),
        0,
      );
      return { consumer: id, start, lagRecords, retrying, parked };
    });
  }

  async stored(consumer: string): Promise<StoredConsumer | undefined> {
    const all = (await readConsumers(this.#reader)).map((read) => this.#whole(read));
    const found = all.find(({ id }) => id === consumer);
    if (found === undefined) return undefined;
    const { id, start, ends } = found;
    return { id, start, position: SliceOffsets.start.with(ends.entries()).text };
  }

  /** Lanes are numbered in the order of their slices and entities. */
  async lanes(
    consumer: string,
    filter: LaneFilter,
    afterNumber: number,
    limit: number,
  ): Promise<LanePage> {
    const question = JSON.stringify([consumer, filter]);
    const last = this.#last;
    const isNext = last?.question === question && last.number === afterNumber;
    const { condition, values } = conditionOf(filter);
    const rows = await this.#reader.query(
      {
        text: `SELECT ${WORK_LANE_COLUMNS} FROM svc.lane
        WHERE consumer = $1 AND (slice, component, id) > ($2::int2, $3, $4)${condition}
        ORDER BY slice, component, id LIMIT $5 OFFSET $6`,
      },
      [consumer, ...(isNext ? last.key : BEFORE_ALL), limit, isNext ? 0 : afterNumber, ...values],
    );
    const entries = rows.map(laneOfRow);
    const number = afterNumber + rows.length;
    if (rows.length > 0) this.#last = { question, number, key: keyOf(rows.at(-1)!) };
    return {
      lanes: entries.filter((entry) => entry.kind === 'lane').map(({ lane }) => lane),
      damaged: entries
        .filter((entry) => entry.kind === 'finding')
        .map((finding) => this.#damaged(finding)),
      last: rows.length === 0 ? undefined : number,
    };
  }

  async *parked(consumer: string): AsyncGenerator<StoredLane, void> {
    for (let after: number | undefined = 0; after !== undefined;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const page: LanePage = await this.lanes(consumer, { state: 'parked' }, after, PAGE);
      yield* page.lanes;
      after = page.last;
    }
  }

  async *allLanes(): AsyncGenerator<ConsumerLane, void> {
    for (let after: readonly Parameter[] = ['', ...BEFORE_ALL]; ;) {
      // oxlint-disable-next-line no-await-in-loop -- each page follows the one before
      const rows = await this.#reader.query(ALL, after);
      if (rows.length === 0) return;
      yield* rows.map(laneOfRow).filter((entry): entry is LaneEntry => entry.kind === 'lane');
      after = rows.at(-1)!.slice(0, 4) as readonly Parameter[];
    }
  }

  close(): void {
    this.#reader.close();
    this.#last = undefined;
  }

  #whole(read: ReadConsumer | JournalFinding): ReadConsumer {
    if (read.kind === 'consumer') return read;
    throw this.#damaged(read);
  }

  #damaged({ id, problem }: JournalFinding): SvcError {
    const of = id === undefined ? '' : ` of entity '${printable(id)}'`;
    return new SvcError(
      'SVC_JOURNAL_CORRUPT',
      `The journal in ${this.#reader.shown} is damaged: ${printable(problem)}${of}. Restore the database from a backup.`,
    );
  }
}

function keyOf(row: Row): LaneKey {
  const [, slice, component, id] = row as readonly [string, number, string, string];
  return [slice, component, id];
}

/** The parameters before those of the filter belong to the page. */
function conditionOf({ state, entity }: LaneFilter): {
  readonly condition: string;
  readonly values: readonly Parameter[];
} {
  const ofState = { parked: ' AND next_ms IS NULL', retrying: ' AND next_ms IS NOT NULL' };
  const condition = state === undefined ? '' : ofState[state];
  if (entity === undefined) return { condition, values: [] };
  return {
    condition: `${condition} AND component = $7 AND id = $8`,
    values: [entity.component, entity.id],
  };
}
