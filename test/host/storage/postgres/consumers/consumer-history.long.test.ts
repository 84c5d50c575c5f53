// Random histories of a consumer whose journal is a real PostgreSQL server: several lives that end in a crash, and connections that are
// lost, while events are appended. Every event is settled in the end, in the order of its entity.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../../../host/consumers/consumer-settings.ts';
import type { DeliveryOutcome } from '../../../../../host/consumers/delivery.ts';
import { LaneDispatcher } from '../../../../../host/consumers/lane-dispatcher.ts';
import type { Journal } from '../../../../../host/engine/needs/journal.ts';
import { InterruptibleSleeper } from '../../../../../host/service/interruptible-sleeper.ts';
import { ConfirmedRecords } from '../../../../../host/storage/postgres/consumers/confirmed-records.ts';
import { PostgresConsumerReader } from '../../../../../host/storage/postgres/consumers/consumer-reader.ts';
import { ConsumerSettlements } from '../../../../../host/storage/postgres/consumers/consumer-settlements.ts';
import { EntityReads } from '../../../../../host/storage/postgres/entity-reads.ts';
import type { EntityEvent } from '../../../../../model/entity.ts';
import { append, recordOf } from '../../../../suites/journal-suite.ts';
import { serverVersions } from '../../../../support/postgres/postgres-programs.ts';
import { randomOf } from '../../../../support/timers/timer-history.ts';
import { StoredSlices } from '../stored-slices.ts';

const LEDGER = { id: 'ledger', start: 'beginning' } as const;
const VERSIONS = serverVersions();
const ENTITIES = 12;
const SETTINGS = {
  ...CONSUMER_SETTINGS_DEFAULT,
  inFlight: 8,
  aheadMax: 60,
  attemptsMax: 1_000,
  retryPauseMs: 1,
  retryPauseMaxMs: 20,
  unavailablePauseMs: 1,
  unavailablePauseMaxMs: 20,
  settleMs: 5,
};

class History {
  readonly stored: StoredSlices;
  readonly violations: string[] = [];
  readonly settled = new Set<string>();
  readonly #random: (limit: number) => number;
  readonly #lastSeqs = new Map<string, number>();
  /** Whether every delivery succeeds. */
  isQuiet = false;

  constructor(stored: StoredSlices, random: (limit: number) => number) {
    this.stored = stored;
    this.#random = random;
  }

  async append(): Promise<void> {
    const id = `e${this.#random(ENTITIES)}`;
    const last = this.#lastSeqs.get(id) ?? 0;
    const count = 1 + this.#random(4);
    this.#lastSeqs.set(id, last + count);
    const records = Array.from({ length: count }, (_, at) => recordOf(last + at + 1));
    const failure = await append(
      this.stored as unknown as Journal,
      { component: 'account', id },
      ...records,
    );
    if (failure !== undefined) this.violations.push(failure.message);
  }

  get missing(): readonly string[] {
    return [...this.#lastSeqs].flatMap(([id, last]) =>
      Array.from({ length: last }, (_, at) => `${id} ${at + 1}`).filter(
        (name) => !this.settled.has(name),
      ),
    );
  }

  /** Starts the consumer. Returns a function that ends it as a crash does, and one that stops it. */
  live() {
    const sessions = [this.stored.session(), this.stored.session()] as const;
    const [reading, writing] = sessions;
    const feed = this.stored.feed();
    const reader = new PostgresConsumerReader(reading);
    let isOver = false;
    const settledHere = new Map<string, number>();
    const deliver = async ({ entity: { id }, seq }: EntityEvent): Promise<DeliveryOutcome> => {
      await delay(this.#random(3));
      if (isOver) await new Promise(() => {});
      const before = `${id} ${seq - 1}`;
      if (seq > 1 && !this.settled.has(before))
        this.violations.push(`${id} ${seq} came before ${before}`);
      if (seq <= (settledHere.get(id) ?? 0))
        this.violations.push(`${id} ${seq} came twice in one life`);
      const kind = this.isQuiet
        ? 'done'
        : (['retry', 'retry', 'unavailable'] as const)[this.#random(10)];
      if (kind === 'retry') return { kind, reason: 'Not yet.\u0000', afterMs: this.#random(300) };
      if (kind === 'unavailable') return { kind };
      settledHere.set(id, seq);
      this.settled.add(`${id} ${seq}`);
      return { kind: 'done' };
    };
    const unexpected = (entity: unknown, seq: number) =>
      this.violations.push(`${JSON.stringify(entity)} ${seq} was skipped or parked`);
    const dispatcher = new LaneDispatcher({
      consumer: LEDGER,
      components: new Set(['account']),
      feed,
      journal: new ConfirmedRecords(new EntityReads(reading), this.stored.heads),
      reader,
      writer: new ConsumerSettlements(writing, () => Promise.resolve()),
      clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
      random: { next64: () => BigInt(this.#random(2 ** 31)) },
      sleeper: new InterruptibleSleeper(),
      settings: SETTINGS,
      deliver,
      onPark: unexpected,
      onSkip: unexpected,
      onOperatorSkip: unexpected,
      onFailure: () => undefined,
    });
    dispatcher.start();
    const end = async () => {
      for (const session of sessions) session.close();
      feed.close();
    };
    return {
      dispatcher,
      reader,
      end,
      async crash() {
        isOver = true;
        await end();
        await dispatcher.stop(0);
      },
    };
  }
}

test.each([1, 2, 3, 4])('every event is settled in its order, with seed %i', async (seed) => {
  const random = randomOf(seed);
  const stored = await StoredSlices.open(VERSIONS[seed % VERSIONS.length]);
  const history = new History(stored, random);
  let life = history.live();
  for (let action = 0; action < 150; action++) {
    // oxlint-disable-next-line no-await-in-loop -- an action follows the other
    await history.append();
    if (random(25) === 0) {
      // oxlint-disable-next-line no-await-in-loop -- an action follows the other
      await life.crash();
      life = history.live();
    } else if (random(40) === 0) {
      // oxlint-disable-next-line no-await-in-loop -- an action follows the other
      await stored.endReaders();
    }
    // oxlint-disable-next-line no-await-in-loop -- an action follows the other
    await delay(random(20));
  }
  history.isQuiet = true;
  const end = stored.positions.end();
  await expect
    .poll(
      async () => ({
        missing: history.missing,
        position: (await life.reader.consumer('ledger'))?.position,
        lanes: await life.reader.lanes('ledger', 10),
      }),
      { timeout: 60_000 },
    )
    .toEqual({ missing: [], position: end, lanes: [] });
  expect(history.violations).toEqual([]);
  expect(await life.dispatcher.stop(1_000)).toBe(0);
  await life.end();
  await stored.discard();
});
