// A guest as shards and programs serve it: a real engine, journal and HTTP server in this thread.
import { Type } from 'typebox';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  type ConsumerDefinition,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  get,
} from '../../../host/embed.ts';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { createHttpServer } from '../../../host/http/http-server.ts';
import { LimitCounters } from '../../../model/limit-counters.ts';
import { requestBudgets } from '../../../model/request-budgets.ts';
import type { Delivery } from '../../../host/service/event-delivery.ts';
import { SECTION_DEFAULTS } from '../../../host/service/section-settings.ts';
import { ServedGuest } from '../../../host/service/served-guest.ts';
import { ServiceLog } from '../../../host/service/service-log.ts';
import { ShardNumbers } from '../../../host/shards/shard-numbers.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';

const Count = Type.Object({ value: Type.Integer() });
const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'count', schema: Count },
  event: {
    manifest: 'counter-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added') })]),
  },
  empty: () => ({ value: 0 }),
  apply: ({ value }) => ({ value: value + 1 }),
  commands: { add: { handle: (_state, { persist }) => persist({ type: 'added' }).thenReply() } },
  queries: {
    spoil: {
      reply: Count,
      handle: (state) => {
        (state as { value: number }).value++;
        return state;
      },
    },
  },
});

/** A request that has arrived, and is answered when the test says so. */
function held() {
  const arrived = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const endpoint = defineEndpoint({
    prefix: '/it',
    access: 'internet',
    routes: {
      caller: get('/caller', { reply: 'text' }, ({ caller }) => caller),
      held: get('/held', { reply: 'text' }, async () => {
        arrived.resolve();
        await answer.promise;
        return 'late';
      }),
    },
  });
  return { endpoint, arrived: arrived.promise, answer: answer.resolve };
}

interface Options {
  readonly deployed?: boolean;
  readonly index?: number;
  readonly origins?: readonly string[];
  readonly consumers?: readonly ConsumerDefinition[];
}

function served({ deployed = false, index = 0, origins = [], consumers = [] }: Options = {}) {
  const request = held();
  const guest = createEmbeddedGuest({
    entities: [counter],
    endpoints: [request.endpoint],
    consumers,
  });
  const lines: LogEntry[] = [];
  const sections = {
    ...SECTION_DEFAULTS,
    'http.cors': { ...SECTION_DEFAULTS['http.cors'], origins },
  };
  const it = new ServedGuest({
    guest,
    journal: new MemoryJournal(),
    deployed,
    sections,
    log: new ServiceLog({
      limits: sections.log,
      counters: new LimitCounters(),
      send: (entry) => lines.push(entry),
    }),
    numbers: new ShardNumbers(guest.descriptor, sections.observability.ringCapacity),
    budgets: requestBudgets(sections.http),
    index,
    createServer: createHttpServer,
  });
  onTestFinished(async () => {
    await it.stop(0);
    await it.close();
  });
  return { it, request, lines };
}

async function listening(it: ServedGuest): Promise<string> {
  const { port } = await it.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${port}/it`;
}

const call = async (it: ServedGuest, name: string) =>
  it.engine.call({ component: 'counter', id: 'a' }, name, 'null', []);

afterEach(() => void vi.useRealTimers());

test('a served guest answers requests once it listens', async () => {
  const { it } = served();
  const url = await listening(it);
  expect(await (await fetch(`${url}/caller`)).text()).toBe('local');
});

test('every caller of a deployed guest is the internet', async () => {
  const { it } = served({ deployed: true });
  expect(await (await fetch(`${await listening(it)}/caller`)).text()).toBe('internet');
});

test('each call is checked on the machine of a developer, and a sample when deployed', async () => {
  await expect(call(served().it, 'spoil')).rejects.toMatchObject({ code: 'SVC_STATE_CHANGED' });
  expect(await call(served({ deployed: true }).it, 'spoil')).toMatchObject({ kind: 'reply' });
});

test('a remark on the settings of CORS is made by the first shard alone', () => {
  const origins = ['https://shop.example.com'];
  expect(served({ origins }).lines).toMatchObject([{ level: 'warn' }]);
  expect(served({ origins, index: 1 }).lines).toEqual([]);
  expect(served().lines).toEqual([]);
});

test('a port in use is named with the flags of svc run, or in the words that are given', async () => {
  const { it } = served();
  const url = new URL(await listening(it));
  const taken = { host: url.hostname, port: Number(url.port) };
  await expect(served().it.listen(taken)).rejects.toThrow(/another port with --port\.$/);
  const words = { settings: { host: 'here', port: 'there' } };
  await expect(served().it.listen(taken, words)).rejects.toThrow(/another port with there\.$/);
});

describe('a stop', () => {
  test('finishes the request in flight, and takes no other', async () => {
    const { it, request } = served();
    const url = await listening(it);
    const answered = fetch(`${url}/held`);
    await request.arrived;
    const stopped = it.stop(60_000);
    await expect(fetch(`${url}/caller`)).rejects.toThrow('fetch failed');
    request.answer();
    expect(await (await answered).text()).toBe('late');
    expect(await stopped).toEqual({ hasCut: false });
  });

  test('cuts after its grace the request that is left, and says so', async () => {
    const { it, request } = served();
    const answered = fetch(`${await listening(it)}/held`);
    const outcome = answered.catch((error: unknown) => error);
    await request.arrived;
    expect(await it.stop(0)).toEqual({ hasCut: true });
    expect(await outcome).toMatchObject({ message: 'fetch failed' });
  });

  test('leaves the engine to the calls of others, which a close refuses', async () => {
    const { it } = served();
    await it.stop(0);
    expect(await call(it, 'add')).toMatchObject({ kind: 'reply' });
    await it.close();
    await expect(call(it, 'add')).rejects.toMatchObject({ code: 'SVC_STOPPING' });
  });

  test('leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const before = vi.getTimerCount();
    const { it } = served();
    expect(vi.getTimerCount()).toBeGreaterThan(before);
    await it.stop(60_000);
    await it.close();
    expect(vi.getTimerCount()).toBe(before);
  });
});

/** Serves a consumer that answers when the test says so. */
function consuming() {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<'fail' | 'done'>();
  const ledger = defineConsumer({
    id: 'ledger',
    start: 'beginning',
    on: [
      {
        entity: counter,
        async handle(_event, { done }) {
          begun.resolve();
          if ((await ended.promise) === 'fail') throw new Error('The module was closed.');
          return done();
        },
      },
    ],
  });
  return { ...served({ consumers: [ledger] }), begun: begun.promise, end: ended.resolve };
}

describe('an event for a consumer', () => {
  const delivery: Delivery = {
    consumer: 'ledger',
    event: {
      entity: { component: 'counter', id: 'a' },
      seq: 1,
      timeMs: 1,
      event: { manifest: 'counter-event', json: '{"type":"added"}' },
      seed: 1n,
      trace: undefined,
    },
    round: 0,
  };
  const AWAY = { outcome: { kind: 'unavailable' } };

  test('that the closing of the guest cuts off is delivered again, and no other is taken', async () => {
    const { it, lines, begun, end } = consuming();
    const cut = it.deliver(delivery);
    await begun;
    await it.stop(0);
    const closed = it.close();
    expect(await it.deliver(delivery)).toEqual(AWAY);
    end('fail');
    expect(await cut).toEqual(AWAY);
    await closed;
    expect(lines).toEqual([]);
  });

  test('that is done while the guest is being closed is done', async () => {
    const { it, begun, end } = consuming();
    const handled = it.deliver(delivery);
    await begun;
    await it.stop(0);
    const closed = it.close();
    end('done');
    expect(await handled).toEqual({ outcome: { kind: 'done' } });
    await closed;
  });
});
