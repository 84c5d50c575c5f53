// Consumers of an embedded service: the runtime delivers events to them, with the clock of the machine and a journal in memory or
// on disk.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import {
  defineConsumer,
  defineEndpoint,
  post,
  refuse,
  type LogEntry,
} from '../../../host/embed.ts';
import {
  account,
  balance,
  ledger,
  order,
  serve,
  transfer,
} from '../../support/consumers/transfers.ts';
import { orDatabase, storages } from '../../support/postgres/journal-tier.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SOON = { timeout: 20_000 };

describe.each(storages(() => ({ dataFolder: temporaryFolder() })))(
  'a consumer with a journal %s',
  (_place, options) => {
    test('gets each event, and calls another entity once for each', async () => {
      const service = await serve([ledger], await options());
      for (let n = 0; n < 20; n++) await order(service, `t${n % 5}`, 'a');
      await expect.poll(() => balance(service, 'a'), SOON).toBe(20);
      // An event that is ordered later is handled, so that a doubled call would have been made by now.
      await order(service, 't0', 'b');
      await expect.poll(() => balance(service, 'b'), SOON).toBe(1);
      expect(await balance(service, 'a')).toBe(20);
    });

    test('whose events are parked for one entity goes on with the others, and is counted', async () => {
      const entries: LogEntry[] = [];
      const refusing = defineConsumer({
        id: 'refusing',
        start: 'beginning',
        on: [
          {
            entity: transfer,
            async handle(event, { entityId, call, done }) {
              if (entityId === 'bad') return refuse('this one never', 'CONFLICT');
              if (event.type === 'ordered') await call(account, event.to).book(event.cents);
              return done();
            },
          },
        ],
      });
      const service = await serve([refusing], {
        ...(await options()),
        management: { port: 0 },
        log: (entry) => entries.push(entry),
      });
      await order(service, 'bad', 'a');
      await order(service, 'bad', 'a');
      await order(service, 'good', 'a', 7);
      await expect.poll(() => balance(service, 'a'), SOON).toBe(7);
      const metrics = async () => (await fetch(`${service.managementUrl!}/svc/metrics`)).text();
      await expect
        .poll(metrics, SOON)
        .toContain('\nsvc_consumer_lanes{consumer="refusing",state="parked"} 1\n');
      await expect
        .poll(metrics, SOON)
        .toContain('\nsvc_consumer_lag_records{consumer="refusing"} 0\n');
      expect(await metrics()).toContain('\nsvc_consumer_stalled{consumer="refusing"} 0\n');
      expect(entries).toContainEqual(
        expect.objectContaining({
          message: 'the events of an entity are parked',
          fields: {
            consumer: 'refusing',
            component: 'transfer',
            entity: 'bad',
            seq: 1,
            reason: 'CONFLICT: this one never',
          },
        }),
      );
    });
  },
);

test('an attempt has the time, the random numbers and the metadata of the one before', async () => {
  const attempts: unknown[] = [];
  const curious = (id: string) =>
    defineConsumer({
      id,
      start: 'beginning',
      on: [
        {
          entity: transfer,
          handle(_event, { nowMs, seed, random, timeMs, metadata, done, retry }) {
            attempts.push([id, nowMs - timeMs, seed, random(), metadata('traceparent')]);
            return attempts.length < 3 ? retry('again', 0) : done();
          },
        },
      ],
    });
  const service = await serve([curious('curious')]);
  await order(service, 't', 'a');
  await expect.poll(() => attempts.length, SOON).toBe(3);
  expect(attempts[0]).toEqual([
    'curious',
    0,
    expect.any(BigInt),
    expect.any(Number),
    expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
  ]);
  expect(attempts[1]).toEqual(attempts[0]);
  expect(attempts[2]).toEqual(attempts[0]);
});

test('an attempt that fails after a call makes the call once', async () => {
  let attempts = 0;
  const failing = defineConsumer({
    id: 'failing',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        async handle(_event, { call, done, retry }) {
          const first = await call(account, 'a').book(1);
          const second = await call(account, 'a').book(10);
          expect([first.isOk, second.isOk]).toEqual([true, true]);
          return ++attempts < 4 ? retry('again', 0) : done();
        },
      },
    ],
  });
  const service = await serve([failing]);
  await order(service, 't', 'a');
  await expect.poll(() => attempts, SOON).toBe(4);
  expect(await balance(service, 'a')).toBe(11);
});

test('an attempt that calls with another input is refused', async () => {
  const messages: string[] = [];
  const fickle = defineConsumer({
    id: 'fickle',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        async handle(_event, { call, done, retry }) {
          const booked = await call(account, 'a').book(messages.length + 1);
          messages.push(booked.isOk ? 'booked' : booked.message);
          return messages.length < 2 ? retry('again', 0) : done();
        },
      },
    ],
  });
  const service = await serve([fickle]);
  await order(service, 't', 'a');
  await expect.poll(() => messages.length, SOON).toBe(2);
  expect(messages).toEqual(['booked', expect.stringContaining('SVC_IDEMPOTENCY_KEY_REUSED')]);
  expect(await balance(service, 'a')).toBe(1);
});

test("a new consumer that starts 'now' gets no event of before, and keeps its place afterwards", async () => {
  const storage = await orDatabase(() => ({ dataFolder: temporaryFolder() }));
  const first = await serve([], storage);
  await order(first, 't', 'a', 1);
  await first.stop();
  const later = defineConsumer({
    id: ledger.id,
    start: 'now',
    on: [...ledger.sources.values()],
  });
  const second = await serve([later], storage);
  await order(second, 't', 'a', 10);
  await expect.poll(() => balance(second, 'a'), SOON).toBe(10);
  await second.stop();
  // A consumer that was left out, and one whose start is changed, go on where they were.
  const third = await serve([], storage);
  await order(third, 't', 'a', 100);
  await third.stop();
  const fourth = await serve([ledger], storage);
  await expect.poll(() => balance(fourth, 'a'), SOON).toBe(110);
});

test('an error that the consumer throws parks the event at once, and the log has it', async () => {
  const entries: LogEntry[] = [];
  const throwing = defineConsumer({
    id: 'throwing',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        handle() {
          throw new Error('it always fails');
        },
      },
    ],
  });
  const service = await serve([throwing], { log: (entry) => entries.push(entry) });
  await order(service, 't', 'a');
  const parked = () => entries.filter(({ message }) => message.includes('are parked'));
  await expect.poll(() => parked().length, SOON).toBe(1);
  expect(parked()[0]!.fields!['reason']).toMatch(/threw an error: Error: it always fails$/);
  expect(entries).toContainEqual(
    expect.objectContaining({
      message: 'a consumer failed',
      fields: expect.objectContaining({
        consumer: 'throwing',
        guestMessage: expect.stringContaining('it always fails'),
      }),
    }),
  );
});

test('a consumer that is not done in time is tried again', async () => {
  let attempts = 0;
  const slow = defineConsumer({
    id: 'slow',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        handle: async (_event, { done }) =>
          ++attempts === 1 ? new Promise<never>(() => {}) : done(),
      },
    ],
  });
  const service = await serve([slow], {
    settings: { 'svc.consumers.answer-timeout-ms': 20, 'svc.consumers.retry-pause-ms': 1 },
  });
  await order(service, 't', 'a');
  await expect.poll(() => attempts, SOON).toBe(2);
});

test('a stop waits for the event that is being handled', async () => {
  const storage = await orDatabase(() => ({ dataFolder: temporaryFolder() }));
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  let handled = 0;
  const slow = defineConsumer({
    id: 'slow',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        async handle(_event, { done }) {
          handled++;
          begun.resolve();
          await mayEnd.promise;
          return done();
        },
      },
    ],
  });
  const first = await serve([slow], storage);
  await order(first, 't', 'a');
  await begun.promise;
  const stopped = first.stop();
  mayEnd.resolve();
  await stopped;
  const second = await serve([slow], storage);
  await order(second, 'other', 'a');
  await expect.poll(() => handled, SOON).toBe(2);
});

test('a stop delivers no further event while requests are finished', async () => {
  const notes = defineEndpoint({
    prefix: '/notes',
    access: 'internet',
    routes: { write: post('/it', { body: Type.String(), reply: 'text' }, ({ body }) => body) },
  });
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  let handled = 0;
  const counting = defineConsumer({
    id: 'counting',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        async handle(_event, { done }) {
          handled++;
          begun.resolve();
          await mayEnd.promise;
          return done();
        },
      },
    ],
  });
  const first = await serve([counting], { endpoints: [notes], http: false });
  await order(first, 't', 'a');
  await order(first, 't', 'a');
  await begun.promise;
  // The request is finished after the event, whose entity has another one.
  const { readable: body, writable } = new TransformStream();
  const headers = { 'content-type': 'application/json' };
  const answer = first.fetch('/notes/it', { method: 'POST', headers, body, duplex: 'half' });
  const stopped = first.stop();
  mayEnd.resolve();
  for (let turn = 0; turn < 1_000; turn++) await nextTurn();
  expect(handled).toBe(1);
  await writable.close();
  await answer.catch(() => {});
  await stopped;
});

test('an event whose consumer is cut off by the stop is delivered again after the start', async () => {
  const storage = await orDatabase(() => ({ dataFolder: temporaryFolder() }));
  const begun = Promise.withResolvers<void>();
  let handled = 0;
  const hanging = defineConsumer({
    id: 'hanging',
    start: 'beginning',
    on: [
      {
        entity: transfer,
        handle: async (_event, { done }) => {
          begun.resolve();
          return ++handled === 1 ? new Promise<never>(() => {}) : done();
        },
      },
    ],
  });
  const first = await serve([hanging], storage);
  await order(first, 't', 'a');
  await begun.promise;
  await first.stop(0);
  await serve([hanging], storage);
  await expect.poll(() => handled, SOON).toBe(2);
});

test("a program cannot make a call with the key of a consumer's call", async () => {
  const service = await serve([ledger]);
  const forged = service.call(account, 'a').withIdempotencyKey('event ledger transfer 1 t.book.1');
  const refused = await forged.book(5);
  expect(refused.isOk).toBe(false);
  await order(service, 't', 'a', 1);
  await expect.poll(() => balance(service, 'a'), SOON).toBe(1);
});
