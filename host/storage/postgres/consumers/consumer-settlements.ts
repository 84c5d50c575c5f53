// ConsumerSettlements stores how far consumers are. Each settlement is a transaction of its own.
//
// Invariants
// - Settlements are stored one after the other, and each is carried out only once the statements before have been answered. The
//   rows of all numbers that a settlement concerns are locked before its COMMIT is sent. So a COMMIT that is late, because its
//   connection was lost, keeps the next settlement waiting, and never comes after it.
// - A settlement whose outcome is not known fails. Whoever settles again stores what follows from what it has handled meanwhile.
// - What is read after `concluded` is what a settlement that has failed has left: its COMMIT has come, or never has an effect.
import { setTimeout } from 'node:timers/promises';
import { SvcError } from '@svc/kit/svc-error';
import type {
  ConsumerSettlement,
  ConsumerWriter,
  StoredConsumer,
} from '../../../engine/needs/consumers.ts';
import type { Position } from '../../../engine/needs/feed.ts';
import type { EntityRef } from '@svc/model/entity';
import { SLICE_COUNT, sliceOf } from '@svc/model/slice';
import { DatabaseFailure } from '../database-failure.ts';
import type { DatabaseSession, Parameter, Statement } from '../database-session.ts';
import type { FollowingSession } from '../following-session.ts';
import type { NodeFence } from '../nodes/node-fence.ts';
import { WorkQueue } from '../work-queue.ts';
import { SliceOffsets } from '../feed/slice-offsets.ts';
import { columnsOf, consumerChecksum, laneRowOf, offsetChecksum } from './consumer-rows.ts';
import {
  BEGIN_CONSUMER,
  PUT_CONSUMER,
  PUT_LANES,
  PUT_OFFSETS,
  REMOVE_LANES,
} from './consumer-statements.ts';

/** Attempts at a settlement that other transactions keep the database from storing. */
const ATTEMPTS_MAX = 5;
/** Longest pause between two attempts, in milliseconds. */
const PAUSE_MS = 20;

const BEGIN = { text: 'BEGIN' };
/** Nobody else writes these rows for long, except a transaction whose connection was lost. */
const LIMIT_WAITS = { text: "SET LOCAL lock_timeout = '5s'" };
const COMMIT = { text: 'COMMIT' };
const ROLLBACK = { text: 'ROLLBACK' };

type Consumer = Pick<StoredConsumer, 'id' | 'start'>;
type Step = readonly [statement: Statement, values: readonly Parameter[]];

/** Row of a position: the slice, the number of its last record, and the checksum. */
type OffsetRow = readonly [slice: number, off: number, crc: number];

/** Statements of a transaction, and the offsets that they write. */
interface Steps {
  readonly offsets: readonly OffsetRow[];
  readonly steps: readonly Step[];
}

export class ConsumerSettlements implements ConsumerWriter {
  readonly #session: FollowingSession;
  readonly #fence: NodeFence;
  /** The position of each consumer that is known to be stored. */
  readonly #stored = new Map<string, SliceOffsets>();
  /** The offsets of the settlement of each consumer that may be stored later, because it has failed. */
  readonly #late = new Map<string, readonly OffsetRow[]>();
  readonly #settlements = new WorkQueue();

  /** `session`: a connection that nobody else uses. `fence`: keeps a node from settling whose slices were taken. */
  constructor(session: FollowingSession, fence: NodeFence) {
    this.#session = session;
    this.#fence = fence;
  }

  /** Forgets what is stored, because positions name other slices from now on. */
  forget(): void {
    this.#stored.clear();
  }

  /** Stores that a consumer begins at a position, unless it has begun before. */
  beginConsumer({ id, start }: Consumer, position: Position): Promise<void> {
    const offsets = offsetRows(id, parsed(position), undefined);
    return this.#settlements.add(() =>
      this.#store(async (session) => {
        // Nobody has settled anything of a consumer that is new, whoever owns the slices.
        await this.#fence(session);
        const values = [id, start, consumerChecksum(id, start)];
        const isNew = (await session.query(BEGIN_CONSUMER, values)).length > 0;
        if (isNew && offsets.length > 0) await putOffsets(session, id, offsets);
      }),
    );
  }

  settleConsumer(consumer: Consumer, settlement: ConsumerSettlement): Promise<void> {
    return this.#settlements.add(() => this.#settle(consumer, settlement));
  }

  concluded(consumer: string): Promise<void> {
    return this.#settlements.add(() => this.#conclude(consumer));
  }

  /** Stores what was asked for, and closes the connection. */
  async close(): Promise<void> {
    await this.#settlements.idle();
    this.#session.close();
  }

  async #settle(consumer: Consumer, settlement: ConsumerSettlement): Promise<void> {
    const position = parsed(settlement.position);
    checkTexts(consumer, settlement);
    const stored = this.#stored.get(consumer.id);
    const { offsets, steps } = stepsOf(consumer, settlement, position, stored);
    const slices = offsets.map(([slice]) => slice);
    this.#stored.delete(consumer.id);
    this.#late.set(consumer.id, offsets);
    await this.#store(async (session) => {
      await this.#fence(session, slices);
      // oxlint-disable-next-line no-await-in-loop -- a statement follows the other
      for (const [statement, values] of steps) await session.query(statement, values);
    });
    this.#stored.set(consumer.id, position);
    this.#late.delete(consumer.id);
  }

  /** Waits for the transaction that has locked the rows of the offsets, by writing them without storing them. */
  async #conclude(consumer: string): Promise<void> {
    const offsets = this.#late.get(consumer) ?? [];
    if (offsets.length > 0)
      await this.#store((session) => putOffsets(session, consumer, offsets), ROLLBACK);
    this.#late.delete(consumer);
  }

  /** `end`: the statement that ends the transaction. */
  async #store(work: (session: DatabaseSession) => Promise<unknown>, end = COMMIT): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.#session.session();
      try {
        await transact(session, work, end);
        return;
      } catch (error) {
        const isRetryable = error instanceof DatabaseFailure && error.isRetryable;
        // The connection may be in the middle of a transaction.
        if (!(await isRolledBack(session))) this.#session.drop(session);
        if (!isRetryable || attempt === ATTEMPTS_MAX) throw this.#session.failure(error);
      }
      await setTimeout(Math.random() * PAUSE_MS);
    }
  }
}

async function transact(
  session: DatabaseSession,
  work: (session: DatabaseSession) => Promise<unknown>,
  end: Statement,
): Promise<void> {
  await session.query(BEGIN);
  await session.query(LIMIT_WAITS);
  await work(session);
  await session.query(end);
}

/** Ends a transaction that has failed. Returns whether the connection can be used again. */
async function isRolledBack(session: DatabaseSession): Promise<boolean> {
  try {
    await session.query(ROLLBACK);
    return true;
  } catch {
    return false;
  }
}

function putOffsets(
  session: DatabaseSession,
  consumer: string,
  offsets: readonly OffsetRow[],
): Promise<unknown> {
  return session.query(PUT_OFFSETS, [consumer, ...columnsOf(offsets, 3)]);
}

/** Returns the statements of a settlement. `stored`: the position that is stored; undefined: any. */
function stepsOf(
  { id, start }: Consumer,
  { lanes, rejoined }: ConsumerSettlement,
  position: SliceOffsets,
  stored: SliceOffsets | undefined,
): Steps {
  const entities = [...rejoined, ...lanes.map(({ entity }) => entity)];
  const slices = entities.map(({ component, id: entityId }) => sliceOf(component, entityId));
  const offsets = offsetRows(id, position, stored, slices);
  const removed = rejoined.map((entity) => keyOf(entity));
  const put = lanes.map((lane) => laneRowOf(id, lane));
  const steps: readonly Step[] = [
    ...(stored === undefined
      ? [[PUT_CONSUMER, [id, start, consumerChecksum(id, start)]] as const]
      : []),
    ...(offsets.length === 0 ? [] : [[PUT_OFFSETS, [id, ...columnsOf(offsets, 3)]] as const]),
    ...(removed.length === 0 ? [] : [[REMOVE_LANES, [id, ...columnsOf(removed, 3)]] as const]),
    ...(put.length === 0 ? [] : [[PUT_LANES, [id, ...columnsOf(put, 9)]] as const]),
  ];
  return { offsets, steps };
}

/**
 * Returns the rows of the slices in which a position differs from the one that is stored, and of `also`, in ascending order. If no
 * position is known, slices at 0 need no row: a position of some slices has 0 for the others, which other nodes settle.
 */
function offsetRows(
  consumer: string,
  { offs }: SliceOffsets,
  stored: SliceOffsets | undefined,
  also: readonly number[] = [],
): readonly OffsetRow[] {
  const slices = new Set(also);
  for (let slice = 0; slice < SLICE_COUNT; slice++)
    if (offs[slice] !== (stored?.offs[slice] ?? 0)) slices.add(slice);
  return [...slices]
    .toSorted((a, b) => a - b)
    .map((slice) => [slice, offs[slice]!, offsetChecksum(consumer, slice, offs[slice]!)]);
}

/** Throws RangeError for a text that is no position. */
function parsed(text: Position): SliceOffsets {
  const position = SliceOffsets.parse(text);
  if (position === undefined) throw new RangeError('a text that is no position of this journal');
  return position;
}

function keyOf({ component, id }: EntityRef): readonly [number, string, string] {
  return [sliceOf(component, id), component, id];
}

/** PostgreSQL cannot store U+0000. The journal has no entity whose id has it. */
function checkTexts({ id }: Consumer, { lanes, rejoined }: ConsumerSettlement): void {
  const entities = [...lanes.map(({ entity }) => entity), ...rejoined];
  const texts = [id, ...entities.flatMap((entity) => [entity.component, entity.id])];
  if (!texts.some((text) => text.includes('\u0000'))) return;
  throw new SvcError(
    'SVC_JOURNAL_UNAVAILABLE',
    'A settlement of a consumer was not stored: an id in it contains U+0000, which PostgreSQL cannot store. Use ids without it.',
  );
}
