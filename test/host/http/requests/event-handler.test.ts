// Between the dispatcher of consumers and a module's consumer: its context, its calls and their keys, and how long it may take.
import { describe, expect, onTestFinished, test } from 'vitest';
import { CONSUMER_SETTINGS_DEFAULT } from '../../../../host/consumers/consumer-settings.ts';
import { LaneDispatcher } from '../../../../host/consumers/lane-dispatcher.ts';
import type { GuestConsumers, HostCalls } from '../../../../model/guest.ts';
import {
  eventHandler,
  FailedCall,
  type HandledEvent,
} from '../../../../host/http/requests/event-handler.ts';
import type { EventRecorder } from '../../../../host/http/requests/event-span.ts';
import type { CallContext, Metadata, Refusal } from '../../../../model/call.ts';
import type { Verdict } from '../../../../model/consumer.ts';
import { GuestFault } from '../../../../model/guest-fault.ts';
import { MemoryJournal } from '../../../../host/storage/memory/memory-journal.ts';
import { SvcError } from '@svc/kit/svc-error';
import { SpanRing } from '../../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../../host/shards/shard-numbers.ts';
import { added, COUNTER, CounterGuest } from '../../../support/counter-guest.ts';
import { Random } from '../../../support/random.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';
import { HeldJournal } from '../../../support/held-journal.ts';
import { VirtualTime } from '../../../support/timers/virtual-time.ts';
import { unlimitedEventLoop } from '../../../support/unlimited-event-loop.ts';
import { WITHOUT_TIMERS } from '../../../support/without-timers.ts';

const EVENT: HandledEvent = {
  entity: { component: 'order', id: 'o 1' },
  seq: 7,
  timeMs: 1_700_000_000_000,
  event: { manifest: 'order-event', json: '{"type":"paid"}' },
  seed: 5n,
  trace: '0af7651916cd43dd8448eb211c80319c',
};
const DONE: Verdict = { kind: 'done' };

type Handle = (calls: HostCalls, context: CallContext) => Promise<Verdict | Refusal>;

function handling(
  handle: Handle,
  engine: Pick<EngineUnderTest['engine'], 'call'> = { call: () => ({ kind: 'reply', json: '1' }) },
  answerTimeoutMs = 60_000,
  spans?: EventRecorder,
) {
  const consumers: GuestConsumers = {
    handle: (context, _consumer, _event, calls) => handle(calls, context),
  };
  return eventHandler({
    guest: { consumers },
    engine: {
      ...WITHOUT_TIMERS,
      readEvents: async () => [],
      call: (...call) => engine.call(...call),
    },
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs,
    spans,
  })!;
}

test('a guest without consumers has no handler of events', () => {
  const engine = { ...WITHOUT_TIMERS, readEvents: async () => [], call: () => DONE as never };
  expect(eventHandler({ guest: {}, engine, answerTimeoutMs: 1 })).toBeUndefined();
});

describe('the context of an event', () => {
  test('is the same at each attempt, with the time of the event', async () => {
    const contexts: unknown[] = [];
    const handle = handling(async (calls, context) => {
      contexts.push({ ...context, clock: calls.nowMs() });
      return DONE;
    });
    await handle('ledger', EVENT, 0);
    await handle('ledger', EVENT, 0);
    expect(contexts[0]).toEqual(contexts[1]);
    expect(contexts[0]).toMatchObject({ nowMs: EVENT.timeMs, clock: EVENT.timeMs });
  });

  test('has random numbers of its own for each consumer, and the trace of the event', async () => {
    const contexts: CallContext[] = [];
    const handle = handling(async (_calls, context) => {
      contexts.push(context);
      return DONE;
    });
    await handle('ledger', EVENT, 0);
    await handle('mailer', EVENT, 0);
    expect(new Set([EVENT.seed, ...contexts.map(({ seed }) => seed)]).size).toBe(3);
    for (const { metadata } of contexts)
      expect(metadata).toEqual([
        ['traceparent', expect.stringMatching(new RegExp(`^00-${EVENT.trace}-[0-9a-f]{16}-01$`))],
      ]);
  });

  test('has random numbers of its own for each event of a command', async () => {
    const drawn: unknown[] = [];
    const handle = handling(async (_calls, { seed, metadata }) => {
      drawn.push(seed, metadata[0]![1]);
      return DONE;
    });
    await handle('ledger', EVENT, 0);
    await handle('ledger', { ...EVENT, seq: 8 }, 0);
    await handle('ledger', { ...EVENT, entity: { component: 'order', id: 'o 2' } }, 0);
    expect(new Set(drawn).size).toBe(6);
    await handle('ledger', EVENT, 0);
    expect(drawn.slice(-2)).toEqual(drawn.slice(0, 2));
  });

  test('of an old journal has a seed all the same, and no trace', async () => {
    const contexts: CallContext[] = [];
    const handle = handling(async (_calls, context) => {
      contexts.push(context);
      return DONE;
    });
    await handle('ledger', { ...EVENT, seed: undefined, trace: undefined }, 0);
    await handle('ledger', { ...EVENT, seed: undefined, trace: undefined, seq: 8 }, 0);
    expect(contexts[0]!.metadata).toEqual([]);
    expect(contexts[0]!.seed).not.toBe(contexts[1]!.seed);
  });
});

test('the calls have keys of consumer, event, command and ordinal, with the round after the first one', async () => {
  const keys: unknown[] = [];
  const target = { component: 'account', id: 'a' };
  const handle = handling(
    async (calls) => {
      for (const name of ['book', 'book', 'close'])
        await calls.call(target, name, '1', [], undefined);
      await calls.call(target, 'book', '1', [], 'own');
      return DONE;
    },
    {
      call: (_target, _name, _input, _metadata, key) => {
        keys.push(key);
        return { kind: 'reply', json: '1' };
      },
    },
  );
  await handle('ledger', EVENT, 0);
  const event = 'event ledger order 7 o 1';
  const names = ['book.1', 'book.2', 'close.1'];
  expect(keys).toEqual([...names.map((name) => `${event}.${name}`), 'own/=']);
  keys.length = 0;
  await handle('ledger', EVENT, 12);
  expect(keys).toEqual([...names.map((name) => `${event}.${name} 12`), 'own/=']);
});

/** Returns a handler of `ledger`, the spans of its attempts, and the metadata of its calls. */
function recorded(handle: Handle) {
  const descriptor = {
    ...new CounterGuest().descriptor,
    consumers: [{ id: 'ledger', start: 'now' as const, sources: ['order'] }],
  };
  const numbers = new ShardNumbers(descriptor, 10);
  const ring = new SpanRing(numbers, 0);
  const called: Metadata[] = [];
  const engine: Pick<EngineUnderTest['engine'], 'call'> = {
    call: (_target, _name, _input, metadata) => {
      called.push(metadata);
      return { kind: 'reply', json: '1' };
    },
  };
  const random = new Random(1);
  const spans: EventRecorder = {
    recorder: ring,
    random: { next64: () => BigInt(random.below(2 ** 32)) + 1n },
    handlerTable: numbers.handlerTable,
  };
  return { handle: handling(handle, engine, 60_000, spans), ring, called };
}

describe('an attempt is a span', () => {
  const target = { component: 'account', id: 'a' };

  test('in the trace of the event, with the calls of the attempt as its children', async () => {
    const { handle, ring, called } = recorded(async (calls, { metadata, spent }) => {
      spent!.fuel += 7;
      await calls.call(target, 'book', '1', metadata, undefined);
      return DONE;
    });
    await handle('ledger', EVENT, 0);
    await handle('ledger', EVENT, 0);
    const spans = ring.after(0, 10);
    expect(spans).toMatchObject([
      {
        kind: 'consumer',
        component: 'ledger',
        handler: 'order',
        entityId: 'o 1',
        traceId: EVENT.trace,
        parentId: undefined,
        outcome: 'Ok',
        fuel: 7,
      },
      { kind: 'consumer', traceId: EVENT.trace },
    ]);
    expect(spans[0]!.spanId).not.toBe(spans[1]!.spanId);
    expect(called).toEqual(
      spans.map(({ spanId }) => [['traceparent', `00-${EVENT.trace}-${spanId}-01`]]),
    );
  });

  test('whose calls keep the trace that the consumer gives them instead of its own', async () => {
    const own: Metadata = [['traceparent', `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`]];
    const { handle, called } = recorded(async (calls) => {
      await calls.call(target, 'book', '1', own, undefined);
      await calls.call(target, 'book', '1', [], undefined);
      return DONE;
    });
    await handle('ledger', EVENT, 0);
    expect(called).toEqual([own, []]);
  });

  test.each<[string, () => Verdict | Refusal, unknown]>([
    ['a skip', () => ({ kind: 'skip', reason: 'old' }), { outcome: 'Ok', fault: undefined }],
    [
      'a retry',
      () => ({ kind: 'retry', reason: 'the bank is closed', afterMs: undefined }),
      { outcome: 'Refused', fault: { code: 'RETRY', reason: 'the bank is closed' } },
    ],
    [
      'a refusal',
      () => ({ kind: 'refusal', code: 'CONFLICT', message: 'no' }),
      { outcome: 'Refused', fault: { code: 'CONFLICT', reason: 'no' } },
    ],
    ['a fault', () => fail(new GuestFault('trap', 'boom')), { outcome: 'Failed' }],
    ['too little fuel', () => fail(new GuestFault('fuel', 'boom')), { outcome: 'TimedOut' }],
    ['no memory', () => fail(new SvcError('SVC_OVERLOADED', 'full')), { outcome: 'Failed' }],
  ])('with the outcome of %s', async (_what, answer, span) => {
    const { handle, ring } = recorded(async () => answer());
    await handle('ledger', EVENT, 0).catch(() => {});
    expect(ring.after(0, 10)).toMatchObject([span]);
  });

  test('unless the service stops, after which the event is handled', async () => {
    const { handle, ring } = recorded(async () => fail(new SvcError('SVC_STOPPING', 'stopping')));
    await handle('ledger', EVENT, 0).catch(() => {});
    expect(ring.after(0, 10)).toEqual([]);
  });

  test('of its own, if the event has no trace', async () => {
    const { handle, ring } = recorded(async () => DONE);
    await handle('ledger', { ...EVENT, trace: undefined }, 0);
    expect(ring.after(0, 10)).toMatchObject([{ outcome: 'Ok', parentId: undefined }]);
  });
});

function fail(error: Error): never {
  throw error;
}

test('a consumer that is not done in time fails, and so do its later calls', async () => {
  const later = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const handle = handling(
    async (calls) => {
      await later.promise;
      try {
        await calls.call({ component: 'account', id: 'a' }, 'book', '1', [], undefined);
      } catch (error) {
        ended.resolve(error);
      }
      return DONE;
    },
    undefined,
    1,
  );
  const late = { faultCause: 'time', limit: 'request-time' };
  await expect(handle('ledger', EVENT, 0)).rejects.toMatchObject(late);
  later.resolve();
  expect(await ended.promise).toMatchObject(late);
});

test.each<[string, Error]>([
  ['of the runtime', new SvcError('SVC_OVERLOADED', 'too much')],
  ['of the called entity', new GuestFault('trap', 'it failed')],
])('a failure %s that the consumer lets escape is that of a call', async (_what, failure) => {
  const handle = handling(
    async (calls) => {
      await calls.call({ component: 'account', id: 'a' }, 'book', '1', [], undefined);
      return DONE;
    },
    { call: () => Promise.reject(failure) },
  );
  const failed: unknown = await handle('ledger', EVENT, 0).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(FailedCall);
  expect((failed as FailedCall).cause).toBe(failure);
});

test('a speculative result that is not confirmed is not what the verdict is based on', async () => {
  const it = new EngineUnderTest();
  const verdicts: string[] = [];
  const consumers: GuestConsumers = {
    handle(_context, _consumer, _event, calls) {
      const target = { component: COUNTER, id: 'a' };
      const given = calls.speculate?.(target, 'add', '5', [], undefined);
      if (given !== undefined && 'json' in given) {
        verdicts.push(`speculative ${given.json}`);
        return DONE;
      }
      return Promise.resolve(calls.call(target, 'add', '5', [], undefined)).then(
        () => DONE,
        () => ({ kind: 'retry', reason: 'failed', afterMs: undefined }),
      );
    },
  };
  const handle = eventHandler({
    guest: { consumers },
    engine: it.engine,
    eventLoop: unlimitedEventLoop(),
    answerTimeoutMs: 60_000,
  })!;
  // The entity is in memory, so that its result is there at once.
  await it.outcome('a', 'total');
  it.journal.held = true;
  const handled = handle('ledger', EVENT, 0).catch((error: unknown) => error);
  await turns();
  expect(verdicts).toEqual(['speculative 5']);
  await it.journal.fail(new SvcError('SVC_DISK_FULL', 'the disk is full'));
  expect(await handled).toMatchObject({ cause: { code: 'SVC_DISK_FULL' } });
});

test('an event that is parked on Friday and tried again on Monday makes the first call once', async () => {
  const DAY_MS = 86_400_000;
  const time = new VirtualTime(Date.UTC(2026, 2, 27, 12));
  const journal = new MemoryJournal();
  const it = new EngineUnderTest({ journal: new HeldJournal(journal) });
  let isCorrected = false;
  const handle = handling(async (calls) => {
    const first = await calls.call({ component: COUNTER, id: 'target' }, 'add', '5', [], undefined);
    if (first.kind === 'reply' && isCorrected) return DONE;
    return { kind: 'refusal', code: 'CONFLICT', message: 'not yet' };
  }, it.engine);
  const dispatcher = new LaneDispatcher({
    consumer: { id: 'ledger', start: 'beginning' },
    components: new Set([COUNTER]),
    feed: journal.feed(),
    reader: journal.consumers,
    writer: journal,
    journal,
    clock: time,
    random: { next64: () => 0n },
    sleeper: time.sleeper,
    settings: CONSUMER_SETTINGS_DEFAULT,
    async deliver(event, _attempt, round) {
      if (event.entity.id !== 'source') return DONE;
      const answer = await handle('ledger', event, round);
      return answer.kind === 'refusal' ? { kind: 'park', reason: answer.message } : answer;
    },
    onSkip() {},
    onOperatorSkip() {},
    onPark() {},
    onFailure: (error) => expect.unreachable(String(error)),
  });
  const pass = async (ms: number) => {
    await time.advance(ms, () => {
      it.nowMs = time.nowMs();
    });
    await turns();
    await time.advance(1_000);
  };
  dispatcher.start();
  onTestFinished(async () => {
    const stopped = dispatcher.stop(0);
    await time.advance(10_000);
    await stopped;
  });
  it.nowMs = time.nowMs();
  await it.storeEvents('source', [added(1)]);
  await pass(1_000);
  expect(dispatcher.parked).toBe(1);
  expect(await it.outcome('target', 'total')).toBe(5);

  await pass(3 * DAY_MS);
  // Many other commands with keys, each of which removes old replies.
  for (let n = 0; n < 20; n++) {
    const other = { component: COUNTER, id: 'other' };
    await it.engine.call(other, 'add', '1', [], `k${n}`);
  }
  isCorrected = true;
  expect(dispatcher.orders.retry({ component: COUNTER, id: 'source' })).toBe(true);
  await pass(1_000);
  expect(dispatcher.parked).toBe(0);
  expect(journal.consumers.lanes('ledger', 10)).toEqual([]);
  expect(await it.outcome('target', 'total')).toBe(5);
  expect(await it.records('target')).toHaveLength(1);
});
