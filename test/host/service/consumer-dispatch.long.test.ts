// The thread that delivers events to consumers, with a journal on disk. The test is the shard. Most tests wait
// for the counts, which are taken each second, so these run at once.
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, onTestFinished, test, vi } from 'vitest';
import type { ConsumerDescriptor } from '@svc/contract';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import type { DeliveryOutcome } from '../../../host/consumers/delivery.ts';
import { ConsumerDispatch } from '../../../host/service/consumer-dispatch.ts';
import type { Delivery, DeliveryAnswer } from '../../../host/service/event-delivery.ts';
import { serveWork } from '../../../host/shards/work-link.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import { SqlitePositions } from '../../../host/storage/sqlite/sqlite-positions.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite/sqlite-journal.ts';
import type { LogEntry } from '@svc/kit/log-entry';
import { SvcError } from '@svc/kit/svc-error';
import { LOG_LIMITS_DEFAULT, type LogLimits } from '@svc/kit/log-limits';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { temporaryFoldersOfFile } from '../../support/temporary-folder.ts';

const LEDGER: ConsumerDescriptor = { id: 'ledger', start: 'beginning', sources: ['order'] };
const MAILER: ConsumerDescriptor = { id: 'mailer', start: 'beginning', sources: ['order'] };
const DONE: DeliveryOutcome = { kind: 'done' };
const PARK: DeliveryOutcome = { kind: 'park', reason: 'no' };
const SOON = { timeout: 20_000 };
const order = (id: string) => ({ component: 'order', id });

const ownFolder = temporaryFoldersOfFile();
const closing: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(closing.map((close) => close())));

/** Returns a list to which each thread is added that starts from now on, and from which it is removed when it ends. */
function workersFromNow(): Worker[] {
  const workers: Worker[] = [];
  const add = (worker: Worker) => {
    workers.push(worker);
    worker.on('exit', () => workers.splice(workers.indexOf(worker), 1));
  };
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return workers;
}

/** A journal, the thread, and a shard that notes what it is given. */
async function dispatching(
  decide: (delivery: Delivery) => DeliveryOutcome = () => DONE,
  logLimits: LogLimits = LOG_LIMITS_DEFAULT,
) {
  const opened = await openSqliteJournal(ownFolder());
  const journal = attachSqliteJournal(opened.connect());
  const delivered: string[] = [];
  const log: LogEntry[] = [];
  const dispatch = new ConsumerDispatch({
    settings: { ...CONSUMER_SETTINGS_DEFAULT, settleMs: 10, parkedMax: 1 },
    logLimits,
    shards: 1,
    env: {},
    log: (entry) => log.push(entry),
    relink: () => link(),
  });
  const link = () =>
    serveWork<Delivery, DeliveryAnswer>(
      dispatch.link(0),
      async (delivery) => {
        const { entity, seq } = delivery.event;
        delivered.push(`${delivery.consumer} ${entity.id} ${seq}`);
        return { outcome: decide(delivery) };
      },
      (failure) => {
        throw new Error(String(failure));
      },
    );
  closing.push(async () => {
    await dispatch.stop(1_000);
    await journal.close();
    await opened.close();
  });
  return { opened, journal, dispatch, delivered, log, link };
}

describe.concurrent('the thread', () => {
  test('delivers to a shard that was linked before it ran', async ({ expect }) => {
    const { opened, journal, dispatch, delivered, link } = await dispatching();
    await append(journal, order('a'), recordOf(1));
    link();
    dispatch.begin(opened, [LEDGER, MAILER]);
    await expect.poll(() => delivered.toSorted(), SOON).toEqual(['ledger a 1', 'mailer a 1']);
  });

  test('delivers to a shard that is linked later, and waits for one that is away', async ({
    expect,
  }) => {
    const { opened, journal, dispatch, delivered, link } = await dispatching();
    await append(journal, order('a'), recordOf(1));
    dispatch.begin(opened, [LEDGER]);
    await append(journal, order('a'), recordOf(2));
    link();
    await expect.poll(() => delivered, SOON).toEqual(['ledger a 1', 'ledger a 2']);
  });

  test('does not run for a module without consumers', async ({ expect }) => {
    const { opened, dispatch } = await dispatching();
    dispatch.begin(opened);
    expect(dispatch.read()).toEqual([]);
    for (const asked of [
      dispatch.retry('ledger', order('a')),
      dispatch.retrySome('ledger'),
      dispatch.skip('ledger', order('a'), 1, 'because'),
    ])
      // oxlint-disable-next-line no-await-in-loop -- each has been asked
      await expect(asked).rejects.toMatchObject({
        code: 'SVC_NOT_IN_JOURNAL',
        message: expect.stringContaining("no consumer 'ledger'") as string,
      });
  });

  test('serves the consumers of another module, each from where it was', async ({ expect }) => {
    const { opened, journal, dispatch, delivered, link } = await dispatching();
    link();
    dispatch.begin(opened, [LEDGER]);
    await append(journal, order('a'), recordOf(1));
    await expect.poll(() => delivered, SOON).toEqual(['ledger a 1']);
    dispatch.replace([LEDGER, MAILER]);
    await append(journal, order('a'), recordOf(2));
    await expect
      .poll(() => delivered.toSorted(), SOON)
      .toEqual(['ledger a 1', 'ledger a 2', 'mailer a 1', 'mailer a 2']);
    dispatch.replace();
    await expect.poll(() => dispatch.read(), SOON).toEqual([]);
  });
});

test('a thread that is started again and the next module make one thread', async ({ expect }) => {
  const { opened, journal, dispatch, delivered, log, link } = await dispatching();
  const workers = workersFromNow();
  link();
  const gate = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  dispatch.begin(
    {
      connectConsumers: () => opened.connectConsumers(),
      async settleConsumer(...settlement) {
        held.resolve();
        await gate.promise;
        return opened.settleConsumer(...settlement);
      },
    },
    [LEDGER],
  );
  await held.promise;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await workers[0]!.terminate();
  await expect.poll(() => log.map(({ level }) => level), SOON).toContain('error');
  // The settlement of the thread that has ended is not stored yet when the pause is over.
  vi.advanceTimersByTime(1_000);
  dispatch.replace([LEDGER, MAILER]);
  gate.resolve();
  vi.useRealTimers();
  await append(journal, order('a'), recordOf(1));
  await expect.poll(() => delivered.toSorted(), SOON).toEqual(['ledger a 1', 'mailer a 1']);
  expect(workers).toHaveLength(1);
});

test.for([{ isPaused: false }, { isPaused: true }])(
  'a stop does not wait for a settlement that the journal does not answer: %o',
  async ({ isPaused }, { expect }) => {
    const { opened, dispatch, link } = await dispatching();
    const workers = workersFromNow();
    link();
    const gate = Promise.withResolvers<void>();
    onTestFinished(() => gate.resolve());
    const held = Promise.withResolvers<void>();
    dispatch.begin(
      {
        connectConsumers: () => opened.connectConsumers(),
        settleConsumer: () => {
          held.resolve();
          return gate.promise;
        },
      },
      [LEDGER],
    );
    await held.promise;
    expect(workers).toHaveLength(1);
    // A node that hands its entities over has paused before.
    const paused = isPaused ? dispatch.pause(0) : undefined;
    await dispatch.stop(0);
    await paused;
    expect(workers).toHaveLength(0);
  },
);

test('parked events are unknown to an order that the end of the thread has left without an answer', async ({
  expect,
}) => {
  const { opened, dispatch, journal, link } = await dispatching(() => PARK);
  const workers = workersFromNow();
  link();
  await append(journal, order('bad'), recordOf(1));
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  dispatch.begin(
    {
      connectConsumers: () => opened.connectConsumers(),
      async settleConsumer(...settlement) {
        if (isHeld) await gate.promise;
        return opened.settleConsumer(...settlement);
      },
    },
    [LEDGER],
  );
  await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 1, lagRecords: 0 }]);
  isHeld = true;
  const answer = dispatch.retry('ledger', order('bad'));
  await workers[0]!.terminate();
  await expect(answer).rejects.toMatchObject({ code: 'SVC_SHARD_UNAVAILABLE' });
  gate.resolve();
});

describe.concurrent('parked events', () => {
  test('are counted, and are retried and skipped by an operator', async ({ expect }) => {
    let isCorrected = false;
    const { opened, journal, dispatch, delivered, log, link } = await dispatching(({ event }) =>
      event.entity.id === 'bad' && !isCorrected ? { kind: 'park', reason: 'no' } : DONE,
    );
    link();
    dispatch.begin(opened, [LEDGER]);
    for (const seq of [1, 2]) await append(journal, order('bad'), recordOf(seq));
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 1, lagRecords: 0 }]);
    expect(await dispatch.retry('ledger', order('good'))).toBe(false);
    await expect(dispatch.retry('other', order('bad'))).rejects.toMatchObject({
      code: 'SVC_NOT_IN_JOURNAL',
    });
    expect(await dispatch.skip('ledger', order('bad'), 2, 'because')).toBe(false);
    expect(await dispatch.skip('ledger', order('bad'), 1, 'because')).toBe(true);
    await expect.poll(() => delivered, SOON).toEqual(['ledger bad 1', 'ledger bad 2']);
    expect(log).toContainEqual({
      level: 'warn',
      message: 'a consumer skips an event',
      fields: { consumer: 'ledger', component: 'order', entity: 'bad', seq: 1, reason: 'because' },
    });
    isCorrected = true;
    // The second event is handled already; when its entity is parked again, the counts of the last second don't say.
    await expect.poll(() => dispatch.retry('ledger', order('bad')), SOON).toBe(true);
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 0, retrying: 0 }]);
  });

  test('are no longer parked when the operator is answered, or the operator hears why not', async ({
    expect,
  }) => {
    const { opened, dispatch, journal, link } = await dispatching(() => PARK);
    link();
    await append(journal, order('bad'), recordOf(1));
    const refusal = new SvcError('SVC_DISK_FULL', 'full');
    let isFull = false;
    dispatch.begin(
      {
        connectConsumers: () => opened.connectConsumers(),
        settleConsumer: (...settlement) =>
          isFull ? Promise.reject(refusal) : opened.settleConsumer(...settlement),
      },
      [LEDGER],
    );
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 1, lagRecords: 0 }]);
    isFull = true;
    await expect(dispatch.retry('ledger', order('bad'))).rejects.toMatchObject({
      code: 'SVC_DISK_FULL',
    });
  });

  test('are said to be unknown, and not to be none, while the consumer cannot read its lanes', async ({
    expect,
  }) => {
    const { opened, dispatch, link } = await dispatching();
    link();
    const refused = Promise.withResolvers<void>();
    dispatch.begin(
      {
        connectConsumers: () => opened.connectConsumers(),
        settleConsumer: async () => {
          refused.resolve();
          throw new SvcError('SVC_DISK_FULL', 'full');
        },
      },
      [LEDGER],
    );
    await refused.promise;
    await expect(dispatch.retry('ledger', order('bad'))).rejects.toMatchObject({
      code: 'SVC_SHARD_UNAVAILABLE',
    });
  });

  test('that an operator skips are in the log, however much is logged', async ({ expect }) => {
    const { opened, dispatch, journal, log, link } = await dispatching(() => PARK, {
      ...LOG_LIMITS_DEFAULT,
      linesPerSecond: 0,
    });
    link();
    dispatch.begin(opened, [LEDGER]);
    await append(journal, order('bad'), recordOf(1));
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 1 }]);
    expect(await dispatch.skip('ledger', order('bad'), 1, 'because')).toBe(true);
    await expect
      .poll(() => log, SOON)
      .toMatchObject([
        { message: 'a consumer skips an event', fields: { seq: 1, reason: 'because' } },
      ]);
  });

  test('that were skipped while no host ran are in the log of the next start', async ({
    expect,
  }) => {
    const { opened, journal, dispatch, log } = await dispatching();
    await append(journal, order('bad'), recordOf(1));
    const position = new SqlitePositions(opened.end).end();
    const { id, start } = LEDGER;
    const lane = {
      entity: order('bad'),
      seq: 2,
      attempts: 0,
      round: 0,
      nextMs: 0,
      reason: 'because',
    };
    const settlement = { position, lanes: [lane], rejoined: [] };
    await opened.settleConsumer({ id, start }, settlement);
    dispatch.begin(opened, [LEDGER]);
    await expect
      .poll(() => log, SOON)
      .toMatchObject([
        {
          message: 'a consumer skips an event',
          fields: { entity: 'bad', seq: 1, reason: 'because' },
        },
      ]);
  });

  test('stop the consumer when there are too many, which the log and the counts say', async ({
    expect,
  }) => {
    const { opened, journal, dispatch, log, link } = await dispatching(() => ({
      kind: 'park',
      reason: 'no',
    }));
    link();
    dispatch.begin(opened, [LEDGER]);
    for (const id of ['a', 'b', 'c']) await append(journal, order(id), recordOf(1));
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ isStalled: true }]);
    expect(log).toContainEqual({
      level: 'error',
      message: 'a consumer cannot continue',
      fields: { consumer: 'ledger', reason: expect.stringContaining('SVC_CONSUMER_STALLED') },
    });
  });
});
