// SpanExport with shards whose spans the test provides, the real exporter in its thread, and a real receiver.
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { ModuleDescriptor } from '@svc/contract';
import { expect, onTestFinished, test } from 'vitest';
import { SvcError } from '../../../kit/svc-error.ts';
import type { RecordedSpan } from '../../../host/shards/recorder/recorded-span.ts';
import type { LogEntry } from '../../../kit/log-entry.ts';
import { Introspection } from '../../../host/introspection/introspection.ts';
import { type OtlpReceiver, SpanExport } from '../../../host/introspection/span-export.ts';
import type { ServiceView } from '../../../host/introspection/service-view.ts';
import { otlpReceiver } from '../../support/otlp-receiver.ts';

const DESCRIPTOR = { endpoints: [] } as unknown as ModuleDescriptor;

function span(number: number, more: Partial<RecordedSpan> = {}): RecordedSpan {
  return {
    number,
    shard: 0,
    kind: 'command',
    component: 'cart',
    handler: 'add',
    entityId: 'a',
    traceId: '0123456789abcdef0123456789abcdef',
    spanId: number.toString(16).padStart(16, '0'),
    parentId: undefined,
    traceState: undefined,
    isSampled: true,
    startMs: 1_700_000_000_000,
    durationMs: 1,
    outcome: 'Ok',
    fuel: 1,
    events: 1,
    status: undefined,
    fault: undefined,
    ...more,
  };
}

const spans = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => span(from + index));

/** A shard that answers questions: the spans that it still has, and the number that it has recorded. */
interface Shard {
  threadId: number;
  kept: RecordedSpan[];
  recorded: number;
  isAway: boolean;
  /** A failure that no shard should have. */
  bug?: Error;
  /** Called before it answers. */
  wait: Promise<void>;
}

interface Options {
  readonly queueMax?: number;
  readonly timeoutMs?: number;
  readonly shards?: number;
}

function start(url: string, { queueMax = 8_192, timeoutMs = 2_000, shards = 1 }: Options = {}) {
  const log: LogEntry[] = [];
  let handedOut = 0;
  const all = Array.from({ length: shards }, (_, index): Shard => {
    return { threadId: index + 1, kept: [], recorded: 0, isAway: false, wait: Promise.resolve() };
  });
  const shown = {
    settings: {
      name: 'shop',
      sections: {
        observability: {
          exportQueueMax: queueMax,
          exportIntervalMs: 20,
          exportTimeoutMs: timeoutMs,
        },
      },
    },
    shards: {
      count: shards,
      ask: async (index: number, { after, limit }: { after: number; limit: number }) => {
        await all[index]!.wait;
        const { kept, recorded, threadId, isAway } = all[index]!;
        if (all[index]!.bug !== undefined) throw all[index]!.bug;
        if (isAway) throw new SvcError('SVC_SHARD_UNAVAILABLE', 'It is away.');
        const given = kept.filter(({ number }) => number > after).slice(0, limit);
        handedOut += given.length;
        return { kind: 'spans', spans: given, recorded, threadId };
      },
    },
    metrics: {},
    env: {},
    log: (entry: LogEntry) => log.push(entry),
  } as unknown as ServiceView;
  const receiver: OtlpReceiver = {
    url: `${url}/v1/traces`,
    headers: { authorization: 'Bearer secret-words' },
  };
  const spanExport = new SpanExport(shown, receiver, DESCRIPTOR);
  onTestFinished(async () => spanExport.close());
  return {
    spanExport,
    metrics: shown.metrics,
    log,
    shards: all,
    handedOut: () => handedOut,
    record: (recorded: readonly RecordedSpan[], shard = 0) => {
      all[shard]!.kept.push(...recorded);
      all[shard]!.recorded = recorded.at(-1)!.number;
    },
    stop: async () => {
      await spanExport.finished();
      await spanExport.close();
    },
  };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(5);
}

async function deadEndpoint(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

test('without a receiver nothing is asked for and no thread is started', async () => {
  const metrics = {};
  const introspection = new Introspection({
    settings: { name: 'shop', management: undefined, isLocal: false, otlp: undefined },
    metrics,
  } as unknown as ServiceView);
  await introspection.served({ url: undefined, descriptor: DESCRIPTOR });
  await introspection.finished();
  await introspection.close();
  expect(metrics).toEqual({});
});

test('each span of each shard is exported once, with the headers that are set, which are never logged', async () => {
  const receiver = await otlpReceiver();
  const { record, metrics, stop, log } = start(receiver.url, { shards: 2 });
  record(spans(1, 700), 0);
  record(spans(1001, 1003), 1);
  await receiver.has(700);
  record(spans(701, 702), 0);
  await stop();
  const ids = receiver.spans().map(({ spanId }) => Number.parseInt(spanId, 16));
  const expected = [...spans(1, 702), ...spans(1001, 1003)].map(({ number }) => number);
  // Spans that the second shard had recorded before the first question are lost, and none was exported twice.
  expect(ids.toSorted((a, b) => a - b)).toEqual(expected);
  expect(receiver.received[0]).toMatchObject({
    path: '/v1/traces',
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret-words' },
    resource: { 'service.name': 'shop' },
  });
  expect(metrics.exportCounts()).toEqual({ exported: 705, dropped: 1000 });
  expect(JSON.stringify(log)).not.toContain('secret-words');
});

test('a trace that its caller does not want kept is not exported', async () => {
  const receiver = await otlpReceiver();
  const { record, stop, metrics } = start(receiver.url);
  record([span(1, { isSampled: false }), span(2), span(3, { isSampled: false })]);
  await stop();
  expect(receiver.spans().map(({ spanId }) => spanId)).toEqual([span(2).spanId]);
  expect(metrics.exportCounts()).toEqual({ exported: 1, dropped: 0 });
});

test('a shard that was started again is asked from its first span on', async () => {
  const receiver = await otlpReceiver();
  const { record, shards, stop, metrics } = start(receiver.url);
  const [shard] = shards as [Shard];
  record(spans(1, 5));
  await receiver.has(5);
  shard.isAway = true;
  // The same number of spans again, so that only the thread's id distinguishes them from the earlier ones.
  Object.assign(shard, { threadId: 77, isAway: false, kept: spans(1, 6), recorded: 6 });
  await receiver.has(11);
  await stop();
  expect(metrics.exportCounts()).toEqual({ exported: 11, dropped: 0 });
});

test('spans that leave the window before they are taken are counted, and logged once', async () => {
  const receiver = await otlpReceiver();
  const { record, shards, stop, metrics, log } = start(receiver.url);
  record(spans(1, 2));
  await receiver.has(2);
  for (const from of [11, 21]) {
    shards[0]!.kept = [];
    record(spans(from, from + 1));
    await until(() => receiver.spans().some(({ spanId }) => spanId === span(from + 1).spanId));
  }
  await stop();
  expect(metrics.exportCounts()).toEqual({ exported: 6, dropped: 16 });
  expect(log).toEqual([
    expect.objectContaining({
      level: 'warn',
      fields: {
        endpoint: `${receiver.url}/v1/traces`,
        spans: 8,
        reason: expect.stringContaining('svc.observability.ring-capacity') as string,
      },
    }),
    {
      level: 'info',
      message: 'spans exported until the end',
      fields: { exported: 6, dropped: 16 },
    },
  ]);
});

test('a dead endpoint: spans are dropped and counted, with one warning', async () => {
  const url = await deadEndpoint();
  const { record, stop, metrics, log } = start(url, { timeoutMs: 100 });
  record(spans(1, 3));
  await until(() => metrics.exportCounts().dropped === 3);
  record(spans(4, 5));
  await until(() => metrics.exportCounts().dropped === 5);
  const warnings = log.filter(({ level }) => level === 'warn');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]!.fields).toMatchObject({ spans: 3, endpoint: `${url}/v1/traces` });
  await stop();
});

test('an endpoint that refuses says why, in its status and not in its body', async () => {
  const receiver = await otlpReceiver((response) => {
    response.writeHead(401, 'Unauthorized').end('Bearer secret-words is not known');
  });
  const { record, metrics, log } = start(receiver.url);
  record(spans(1, 1));
  await until(() => metrics.exportCounts().dropped === 1);
  expect(log[0]!.fields!['reason']).toBe('Unauthorized (401)');
});

test('a slow endpoint never grows the queue beyond its setting', async () => {
  const receiver = await otlpReceiver(() => {});
  const { record, handedOut, stop, metrics } = start(receiver.url, {
    queueMax: 3,
    timeoutMs: 60_000,
  });
  record(spans(1, 10));
  await until(() => handedOut() === 3);
  // Another export with the same interval has asked three times meanwhile.
  const quick = await otlpReceiver();
  const other = start(quick.url);
  for (const number of [1, 2, 3]) {
    other.record(spans(number, number));
    await quick.has(number);
  }
  expect(handedOut()).toBe(3);
  // The stop does not wait that long for the receiver, and spans that were not accepted are counted.
  await stop();
  expect(metrics.exportCounts()).toEqual({ exported: 0, dropped: 10 });
});

test('a receiver that answers byte by byte is cut off at the time limit', async () => {
  const receiver = await otlpReceiver((response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 20);
    response.once('close', () => clearInterval(timer));
  });
  const { record, metrics, log } = start(receiver.url, { timeoutMs: 200 });
  record(spans(1, 1));
  await until(() => metrics.exportCounts().dropped === 1);
  expect(log[0]!.fields!['reason']).toContain('svc.observability.export-timeout-ms');
});

test('when its thread ends, what shards are asked for at the time is not counted as lost', async () => {
  const receiver = await otlpReceiver();
  const { record, shards, metrics, log } = start(receiver.url, { shards: 2 });
  const asked = Promise.withResolvers<void>();
  shards[1]!.wait = asked.promise;
  // The value is too large for a time.
  record([span(1, { startMs: 1n as unknown as number })]);
  await until(() => log.some(({ message }) => message === 'no more spans are exported'));
  expect(metrics.exportCounts()).toEqual({ exported: 0, dropped: 1 });
  asked.resolve();
});

test('at a stop what is queued is sent', async () => {
  const waiting: (() => void)[] = [];
  const receiver = await otlpReceiver((response) => void waiting.push(() => response.end('{}')));
  const { record, spanExport, metrics } = start(receiver.url);
  record(spans(1, 2));
  await receiver.has(2);
  record(spans(3, 4));
  await spanExport.finished();
  const closed = spanExport.close();
  waiting.shift()!();
  await receiver.has(4);
  waiting.shift()!();
  await closed;
  expect(metrics.exportCounts()).toEqual({ exported: 4, dropped: 0 });
});

test('a module that replaces another has its spans named by its own routes', async () => {
  const receiver = await otlpReceiver();
  const { record, spanExport, stop } = start(receiver.url);
  const request = { kind: 'endpoint', component: 'Carts', handler: 'get' } as const;
  record([span(1, request)]);
  await receiver.has(1);
  const routes = [{ handler: 'get', method: 'GET', path: '/{id}' }];
  const descriptor = { endpoints: [{ name: 'Carts', prefix: '/carts', routes }] };
  spanExport.replaced({
    kind: 'wasm',
    file: undefined,
    fingerprint: 'other',
    descriptor: descriptor as unknown as ModuleDescriptor,
  });
  record([span(2, request)]);
  await stop();
  expect(receiver.spans().map(({ name }) => name)).toEqual(['Carts.get', 'GET /carts/{id}']);
});

test('a shard that fails as none should ends the export with a line of the log, and nothing else', async () => {
  const receiver = await otlpReceiver();
  const { shards, log, stop } = start(receiver.url, { shards: 2 });
  shards[1]!.bug = new TypeError('no such thing');
  await until(() => log.length > 0);
  expect(log).toMatchObject([
    {
      level: 'error',
      message: 'no more spans are exported',
      fields: { reason: expect.stringContaining('no such thing') },
    },
  ]);
  await stop();
});
