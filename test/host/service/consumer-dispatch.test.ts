// The thread that delivers events to consumers, with a journal on disk. The test is the shard.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ConsumerDescriptor } from '@svc/contract';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../host/consumers/consumer-settings.ts';
import type { DeliveryOutcome } from '../../../host/consumers/delivery.ts';
import { ConsumerDispatch } from '../../../host/service/consumer-dispatch.ts';
import type { Delivery, DeliveryAnswer } from '../../../host/service/event-delivery.ts';
import { serveWork } from '../../../host/shards/work-link.ts';
import { attachSqliteJournal } from '../../../host/storage/sqlite/attached-journal.ts';
import { openSqliteJournal } from '../../../host/storage/sqlite/sqlite-journal.ts';
import type { LogEntry } from '@svc/kit/log-entry';
import { LOG_LIMITS_DEFAULT } from '@svc/kit/log-limits';
import { append, recordOf } from '../../suites/journal-suite.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LEDGER: ConsumerDescriptor = { id: 'ledger', start: 'beginning', sources: ['order'] };
const MAILER: ConsumerDescriptor = { id: 'mailer', start: 'beginning', sources: ['order'] };
const DONE: DeliveryOutcome = { kind: 'done' };
const SOON = { timeout: 20_000 };
const order = (id: string) => ({ component: 'order', id });

/** A journal, the thread, and a shard that notes what it is given. */
async function dispatching(decide: (delivery: Delivery) => DeliveryOutcome = () => DONE) {
  const opened = await openSqliteJournal(temporaryFolder());
  const journal = attachSqliteJournal(opened.connect());
  const delivered: string[] = [];
  const log: LogEntry[] = [];
  const dispatch = new ConsumerDispatch({
    settings: { ...CONSUMER_SETTINGS_DEFAULT, settleMs: 10, parkedMax: 1 },
    logLimits: LOG_LIMITS_DEFAULT,
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
      (failure) => expect.unreachable(String(failure)),
    );
  onTestFinished(async () => {
    await dispatch.stop(1_000);
    await journal.close();
    await opened.close();
  });
  return { opened, journal, dispatch, delivered, log, link };
}

describe('the thread', () => {
  test('delivers to a shard that was linked before it ran', async () => {
    const { opened, journal, dispatch, delivered, link } = await dispatching();
    await append(journal, order('a'), recordOf(1));
    link();
    dispatch.begin(opened, [LEDGER, MAILER]);
    await expect.poll(() => delivered.toSorted(), SOON).toEqual(['ledger a 1', 'mailer a 1']);
  });

  test('delivers to a shard that is linked later, and waits for one that is away', async () => {
    const { opened, journal, dispatch, delivered, link } = await dispatching();
    await append(journal, order('a'), recordOf(1));
    dispatch.begin(opened, [LEDGER]);
    await append(journal, order('a'), recordOf(2));
    link();
    await expect.poll(() => delivered, SOON).toEqual(['ledger a 1', 'ledger a 2']);
  });

  test('does not run for a module without consumers', async () => {
    const { opened, dispatch } = await dispatching();
    dispatch.begin(opened);
    expect(dispatch.read()).toEqual([]);
    await expect(dispatch.retry('ledger', order('a'))).rejects.toMatchObject({
      code: 'SVC_SHARD_UNAVAILABLE',
    });
  });

  test('serves the consumers of another module, each from where it was', async () => {
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

describe('parked events', () => {
  test('are counted, and are retried and skipped by an operator', async () => {
    let isCorrected = false;
    const { opened, journal, dispatch, delivered, log, link } = await dispatching(({ event }) =>
      event.entity.id === 'bad' && !isCorrected ? { kind: 'park', reason: 'no' } : DONE,
    );
    link();
    dispatch.begin(opened, [LEDGER]);
    for (const seq of [1, 2]) await append(journal, order('bad'), recordOf(seq));
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 1, lagRecords: 0 }]);
    expect(await dispatch.retry('ledger', order('good'))).toBe(false);
    expect(await dispatch.retry('other', order('bad'))).toBe(false);
    expect(await dispatch.skip('ledger', order('bad'), 2, 'because')).toBe(false);
    expect(await dispatch.skip('ledger', order('bad'), 1, 'because')).toBe(true);
    await expect.poll(() => delivered, SOON).toEqual(['ledger bad 1', 'ledger bad 2']);
    expect(log).toContainEqual({
      level: 'warn',
      message: 'a consumer skips an event',
      fields: { consumer: 'ledger', component: 'order', entity: 'bad', seq: 1, reason: 'because' },
    });
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 1 }]);
    isCorrected = true;
    expect(await dispatch.retry('ledger', order('bad'))).toBe(true);
    await expect.poll(() => dispatch.read(), SOON).toMatchObject([{ parked: 0, retrying: 0 }]);
  });

  test('stop the consumer when there are too many, which the log and the counts say', async () => {
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
