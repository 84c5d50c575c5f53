// What a running service records of its invocations: real shards, a real journal, and requests over HTTP.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shardOf } from '../../host/shards/hash-ownership.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { RecordedService, recordedService } from '../support/recorded-service.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;
/** So that what computes for ever ends soon. */
const FUEL = 50_000_000;

const folder = temporaryFolderOfFile();
let faulty: RecordedService;
let routes: RecordedService;
async function start(name: string): Promise<RecordedService> {
  mkdirSync(join(folder, name));
  return RecordedService.start(await compileFixture(name), join(folder, name), {
    sections: { wasm: { commandFuel: FUEL, handlerFuel: FUEL } },
  });
}

beforeAll(async () => {
  faulty = await start('faulty');
  routes = await start('routes');
});
afterAll(async () => {
  await faulty.close();
  await routes.close();
});

test('a command is one span with component, handler, entity, outcome, duration, fuel and events persisted', async () => {
  await faulty.post('/faulty/count/a/3');
  const spans = await faulty.spans(2);
  expect(spans.map(({ kind, component, handler }) => [kind, component, handler])).toEqual([
    ['endpoint', 'FaultyEndpoint', 'count'],
    ['command', 'faulty', 'count'],
  ]);
  const [request, command] = spans;
  expect(command).toMatchObject({ entityId: 'a', outcome: 'Ok', events: 1, shard: 0 });
  expect(command!.status).toBeUndefined();
  expect(request).toMatchObject({ outcome: 'Ok', events: 0, status: 200 });
  expect(request!.entityId).toBeUndefined();
  for (const span of spans) {
    expect(span.fuel).toBeGreaterThan(1_000);
    expect(span.durationMs).toBeGreaterThan(0);
    expect(span.fault).toBeUndefined();
  }
  // The command is within the request, on one axis of time.
  expect(command!.startMs).toBeGreaterThanOrEqual(request!.startMs);
  expect(command!.startMs + command!.durationMs).toBeLessThanOrEqual(
    request!.startMs + request!.durationMs,
  );
});

test('a query persists none, and a repeat of an idempotency key is a span that persists nothing', async () => {
  for (let time = 0; time < 2; time++) await faulty.post('/faulty/count-once/a/key-1');
  await faulty.post('/faulty/count-with-calls/a/0');
  const calls = (await faulty.spans(6)).filter(({ kind }) => kind !== 'endpoint');
  expect(calls.map(({ kind, handler, events }) => [kind, handler, events])).toEqual([
    ['command', 'count', 1],
    ['command', 'count', 0],
    ['query', 'get', 0],
  ]);
  expect(calls[1]!.outcome).toBe('Ok');
});

test('a handler that was run twice is one span, and each of its calls is one', async () => {
  await faulty.post('/faulty/count-with-calls/many/3');
  // Whatever comes late would be there by then.
  await faulty.post('/faulty/count-with-calls/other/0');
  const spans = await faulty.spans(7);
  expect(spans.map(({ kind, entityId }) => [kind, entityId])).toEqual([
    ['endpoint', undefined],
    ['query', 'many'],
    ...Array.from({ length: 3 }, () => ['command', 'many']),
    ['endpoint', undefined],
    ['query', 'other'],
  ]);
});

describe('a trace', () => {
  test('that a request names goes on: same id, the caller is its parent, and its calls are its children', async () => {
    await faulty.post('/faulty/count-with-calls/a/1', undefined, { traceparent: TRACEPARENT });
    const [request, ...calls] = await faulty.spans(3);
    expect(request).toMatchObject({ traceId: TRACE_ID, parentId: SPAN_ID, isSampled: true });
    expect(request!.spanId).not.toBe(SPAN_ID);
    expect(calls).toHaveLength(2);
    for (const call of calls)
      expect(call).toMatchObject({ traceId: TRACE_ID, parentId: request!.spanId });
    expect(new Set([request, ...calls].map((span) => span!.spanId)).size).toBe(3);
  });

  test('that its caller does not want kept is marked so', async () => {
    await faulty.post('/faulty/count/a/1', undefined, {
      traceparent: TRACEPARENT.replace(/01$/, '00'),
    });
    expect((await faulty.spans(2)).map(({ isSampled }) => isSampled)).toEqual([false, false]);
  });

  test.each([
    ['of zeros', `00-${'0'.repeat(32)}-${SPAN_ID}-01`],
    ['in capitals', TRACEPARENT.toUpperCase()],
    ['of a version that there cannot be', TRACEPARENT.replace(/^00/, 'ff')],
    ['that is too long', `${TRACEPARENT}-01`],
    ['that is not one', 'not-a-trace'],
  ])('header that lies (%s) begins a new trace', async (_how, traceparent) => {
    await faulty.post('/faulty/count/a/1', undefined, { traceparent });
    const [request, command] = await faulty.spans(2);
    expect(request!.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(request!.traceId).not.toBe(TRACE_ID);
    expect(request!.parentId).toBeUndefined();
    expect(command).toMatchObject({ traceId: request!.traceId, parentId: request!.spanId });
  });

  test('goes on across shards: a call that another one serves is a child span all the same', async () => {
    const service = await recordedService(await compileFixture('faulty'), { shards: 2 });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    // Each connection is some shard's, and each entity too.
    for (const id of ids) await service.post(`/faulty/count/${id}/1`);
    const spans = await service.spans(2 * ids.length);
    const requests = spans.filter(({ kind }) => kind === 'endpoint');
    expect(requests).toHaveLength(ids.length);
    for (const request of requests) {
      const [call, ...others] = spans.filter(({ parentId }) => parentId === request.spanId);
      expect(others).toEqual([]);
      expect(call).toMatchObject({ traceId: request.traceId, events: 1, outcome: 'Ok' });
      expect(call!.shard).toBe(shardOf('faulty', call!.entityId!, 2));
    }
    expect(
      new Set(spans.filter(({ kind }) => kind === 'command').map(({ shard }) => shard)),
    ).toEqual(new Set([0, 1]));
  });
});

describe('outcome is one of Ok, Refused, Failed, TimedOut:', () => {
  test.each([
    ['/replies/text', 200, 'Ok', undefined],
    ['/replies/done', 204, 'Ok', undefined],
    ['/replies/moved', 303, 'Ok', undefined],
    ['/replies/refused/0', 400, 'Refused', 'BAD_REQUEST'],
    ['/replies/refused/1', 401, 'Refused', 'UNAUTHENTICATED'],
    ['/replies/refused/2', 403, 'Refused', 'FORBIDDEN'],
    ['/replies/refused/3', 404, 'Refused', 'NOT_FOUND'],
    ['/replies/refused/4', 409, 'Refused', 'CONFLICT'],
    ['/replies/refused/5', 422, 'Refused', 'UNPROCESSABLE'],
    ['/replies/refused/6', 429, 'Refused', 'TOO_MANY_REQUESTS'],
    ['/replies/bad-status/404', 404, 'Refused', undefined],
    ['/replies/bad-status/503', 503, 'Failed', undefined],
    ['/replies/bad-status/99', 500, 'Failed', 'trap'],
    ['/replies/bad-header', 500, 'Failed', 'value'],
  ])('the handler at %s answers %i, which is %s', async (path, status, outcome, code) => {
    expect((await fetch(routes.url + path, { redirect: 'manual' })).status).toBe(status);
    const [span] = await routes.spans(1);
    expect(span).toMatchObject({ kind: 'endpoint', status, outcome });
    expect(span!.fault?.code).toBe(code);
  });

  test.each([
    ['/nowhere', 404],
    ['/bodies/json', 405],
  ])('where no handler ran (%s: %i) nothing is recorded', async (path, status) => {
    expect((await fetch(routes.url + path)).status).toBe(status);
    await fetch(`${routes.url}/replies/text`);
    expect((await routes.spans(1)).map(({ handler }) => handler)).toEqual(['text']);
    expect(routes.metrics.text()).toContain(`status="${status}"} 1\n`);
  });

  test('a refusal of a component that the handler passes on is one of both', async () => {
    const service = await recordedService(await compileFixture('counter'));
    expect((await service.post('/counters/a', { amount: 0 })).status).toBe(400);
    const spans = await service.spans(2);
    for (const span of spans) {
      expect(span).toMatchObject({ outcome: 'Refused', fault: { code: 'BAD_REQUEST' } });
      expect(span.fault!.reason).toContain('must be positive');
    }
    expect(spans[1]!.events).toBe(0);
  });

  test.each([
    ['boom', 500, 'Failed', 'trap', undefined],
    ['hog', 500, 'Failed', 'memory', 'memory'],
    ['recurse', 500, 'Failed', 'stack', 'stack'],
    ['spin', 504, 'TimedOut', 'fuel', 'command-fuel'],
  ])(
    'a fault of an entity (%s) that the handler passes on is %i: of both %s',
    async (name, status, outcome, code, limit) => {
      expect((await faulty.post(`/faulty/entity/a/${name}`)).status).toBe(status);
      const [request, command] = await faulty.spans(2);
      for (const span of [request, command]) {
        expect(span).toMatchObject({ outcome, fault: { code } });
        expect(span!.fault!.limit).toBe(limit);
        expect(span!.fault!.reason).not.toBe('');
      }
      expect(request!.status).toBe(status);
      expect(request!.fault!.errorId).toMatch(/^[0-9a-f]{16}$/);
      expect(command!.events).toBe(0);
    },
  );

  test('the fault of a handler has the words and the place that the module gave, under the error id of the answer', async () => {
    const answer = (await (await faulty.post('/faulty/boom', { text: 'oh no' })).json()) as {
      errorId: string;
    };
    const [span] = await faulty.spans(1);
    expect(span!.fault).toMatchObject({ code: 'trap', errorId: answer.errorId });
    expect(span!.fault!.guestMessage).toMatch(/^abort: oh no at .*index\.ts:\d+:\d+$/);
    expect(span!.fault!.frames!.length).toBeGreaterThan(0);
  });

  test('a handler that uses up its fuel is late, and what it used is its limit', async () => {
    expect((await fetch(`${faulty.url}/faulty/spin`)).status).toBe(504);
    const [span] = await faulty.spans(1);
    expect(span).toMatchObject({ outcome: 'TimedOut', status: 504 });
    expect(span!.fault).toMatchObject({ code: 'fuel', limit: 'handler-fuel' });
    expect(span!.fuel).toBeGreaterThanOrEqual(FUEL);
  });

  test('a call that is turned down because too much waits has failed, and so has the handler that passes it on', async () => {
    const service = await recordedService(await compileFixture('faulty'), {
      sections: { engine: { unsettledBytesMax: 1 } },
    });
    let asked = 0;
    let statuses: readonly number[] = [];
    // Until one has come while another was being stored.
    for (; !statuses.includes(503); asked += 20) {
      const answers = Array.from({ length: 20 }, async () => service.post('/faulty/count/a/1'));
      statuses = (await Promise.all(answers)).map(({ status }) => status);
    }
    const failed = (await service.spans(2 * asked)).filter(({ outcome }) => outcome === 'Failed');
    expect(new Set(failed.map(({ fault }) => fault!.code))).toEqual(new Set(['SVC_OVERLOADED']));
    expect(new Set(failed.map(({ kind }) => kind))).toEqual(new Set(['command', 'endpoint']));
  });
});
