// The observer of the HTTP server: it records requests whose handler ran, and counts all requests.
import { expect, test } from 'vitest';
import type { SpanClock } from '../../../host/engine/needs/recorder.ts';
import type { EndpointHandler } from '../../../host/http/exchange-parts.ts';
import { refusal } from '../../../model/call.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import { HttpNumbers } from '../../../host/shards/recorder/http-numbers.ts';
import type { RecordedSpan } from '../../../host/shards/recorder/recorded-span.ts';
import { SpanRing } from '../../../host/shards/recorder/span-ring.ts';
import { ShardNumbers } from '../../../host/shards/shard-numbers.ts';
import { ask, descriptorOf, gate, get, JSON_BODY, ok, RawClient, start } from './http-harness.ts';

const descriptor = descriptorOf([
  ['GET', '/{x}'],
  ['POST', '/{x}', JSON_BODY],
]);

async function startRecorded(handle: EndpointHandler, answerTimeoutMs = 60_000, clock?: SpanClock) {
  const numbers = new ShardNumbers(descriptor, 100);
  const ring = new SpanRing(numbers, 0, { clock });
  const running = await start({
    descriptor,
    handle,
    settings: { answerTimeoutMs },
    observer: {
      recorder: ring,
      counts: numbers.http,
      firstRouteIndex: numbers.handlerTable.firstRoute,
    },
  });
  const spans = () => ring.after(0, 100);
  /** Resolves once there are this many. */
  const recorded = async (count: number): Promise<RecordedSpan[]> => {
    await expect.poll(spans).toHaveLength(count);
    return spans();
  };
  return { ...running, numbers, spans, recorded };
}

const answered = (http: HttpNumbers) =>
  http.answers().map(({ route, status, count }) => [route, status, count]);

test('a request is timed from when its body is there until its answer is written', async () => {
  let handlerMs = 0;
  const { port, recorded } = await startRecorded(() => {
    handlerMs = performance.timeOrigin + performance.now();
    return ok();
  });
  const client = new RawClient(port);
  client.send('POST /a HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n');
  const sentMs = performance.timeOrigin + performance.now();
  client.send('content-length: 2\r\n\r\n{}');
  await client.answer();
  const [span] = await recorded(1);
  expect(span).toMatchObject({ kind: 'endpoint', handler: 'handler', status: 200, outcome: 'Ok' });
  expect(span!.startMs).toBeGreaterThanOrEqual(sentMs);
  expect(span!.startMs).toBeLessThanOrEqual(handlerMs);
  expect(span!.startMs + span!.durationMs).toBeGreaterThanOrEqual(handlerMs);
});

test('a request is over when it is answered', async () => {
  // Each reading of the clock is a second after the one before.
  let ms = 0;
  const clock = { nowMs: () => (ms += 1_000) };
  const handled: number[] = [];
  const { port, recorded, numbers } = await startRecorded(
    () => {
      handled.push(clock.nowMs());
      return ok();
    },
    undefined,
    clock,
  );
  const client = new RawClient(port).send(get('/a') + get('/b'));
  await client.answer();
  await client.answer();
  const times = (await recorded(2)).map(({ startMs, durationMs }) => [
    Math.round(startMs - performance.timeOrigin),
    Math.round(durationMs),
  ]);
  // A request reads the clock when its headers have arrived, and when it is answered.
  expect(handled).toEqual([2_000, 5_000]);
  expect(times).toEqual([
    [1_000, 2_000],
    [4_000, 2_000],
  ]);
  expect(numbers.http.seconds.sum).toBe(4);
});

test('at its deadline a request is late with the limit that it met, and what its handler says later is no second span', async () => {
  const late = gate();
  const { port, spans, recorded, numbers } = await startRecorded(async () => {
    await late.passed;
    return ok();
  }, 20);
  expect((await ask(port, get('/a'))).status).toBe(504);
  const [span] = await recorded(1);
  expect(span).toMatchObject({ outcome: 'TimedOut', status: 504 });
  expect(span!.fault).toMatchObject({ code: 'SVC_ANSWER_TIMED_OUT', limit: 'request-time' });
  late.open();
  expect((await ask(port, get('/b'))).status).toBe(200);
  expect(spans().map(({ status }) => status)).toEqual([504, 200]);
  expect(answered(numbers.http)).toEqual([
    [0, '200', 1],
    [0, '504', 1],
  ]);
});

test('a late request has the last lines that its handler logged before it was ended', async () => {
  const { port, recorded } = await startRecorded(
    (_request, _metadata, waiter) =>
      new Promise((_resolve, reject) => {
        waiter.cancel = ({ faultCause, message, limit }) =>
          reject(new GuestFault(faultCause, message, { limit, logLines: ['asking', 'waiting'] }));
      }),
    20,
  );
  expect((await ask(port, get('/a'))).status).toBe(504);
  const [span] = await recorded(1);
  expect(span).toMatchObject({
    outcome: 'TimedOut',
    status: 504,
    fault: {
      code: 'SVC_ANSWER_TIMED_OUT',
      limit: 'request-time',
      logLines: ['asking', 'waiting'],
    },
  });
});

test('a request whose caller has gone is recorded when its handler is done, without a status', async () => {
  const begun = gate();
  const done = gate();
  const closed = gate();
  const { port, server, spans, recorded, numbers } = await startRecorded(async ({ parameters }) => {
    if (parameters[0] === 'quick') return ok();
    begun.open();
    await done.passed;
    return refusal('CONFLICT', 'Somebody was there before.');
  });
  const client = new RawClient(port).send(get('/a'));
  await begun.passed;
  client.socket.once('close', closed.open).resetAndDestroy();
  await closed.passed;
  // The handler keeps the request in flight.
  expect(server.inFlight).toBe(1);
  expect(spans()).toEqual([]);
  // Requests on later connections are served: by then the server has noticed the closed one.
  for (let time = 0; time < 3; time++) expect((await ask(port, get('/quick'))).status).toBe(200);
  done.open();
  const [, , , span] = await recorded(4);
  expect(span).toMatchObject({ outcome: 'Refused', fault: { code: 'CONFLICT' }, status: 0 });
  await expect.poll(() => server.inFlight).toBe(0);
  expect(answered(numbers.http)).toEqual([[0, '200', 3]]);
});

test('whatever a handler throws is a failure, with the error id of the answer', async () => {
  const { port, recorded } = await startRecorded(() => {
    throw new TypeError('a bug');
  });
  const { body } = await ask(port, get('/a'));
  const [span] = await recorded(1);
  expect(span).toMatchObject({ outcome: 'Failed', status: 500 });
  expect(span!.fault).toMatchObject({
    code: 'bug',
    reason: 'a bug',
    errorId: (JSON.parse(body) as { errorId: string }).errorId,
  });
});

test('tracestate goes along unchanged with a good traceparent', async () => {
  const passed: unknown[] = [];
  const { port, recorded } = await startRecorded((_request, metadata) => {
    passed.push(...metadata);
    return ok();
  });
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const state = 'vendor=a:b,other=1';
  await ask(port, get('/a', `traceparent: ${traceparent}\r\ntracestate: ${state}\r\n`));
  const [span] = await recorded(1);
  expect(passed).toEqual([
    ['traceparent', `00-${'a'.repeat(32)}-${span!.spanId}-01`],
    ['tracestate', state],
  ]);
});

const header = (digit: string) => `traceparent: 00-${digit.repeat(32)}-${'b'.repeat(16)}-01\r\n`;

test('two headers that name a trace are none', async () => {
  const { port, recorded } = await startRecorded(() => ok());
  await ask(port, get('/a', header('a') + header('c')));
  const [span] = await recorded(1);
  expect(span!.parentId).toBeUndefined();
  expect(span!.traceId).not.toMatch(/^(a+|c+)$/);
});

test('every answer is counted once, by route and status, whether a handler ran or not', async () => {
  const { port, spans, numbers } = await startRecorded(() => ok('ok', [], 418));
  const statuses: number[] = [];
  for (const request of [
    get('/a'),
    get('/a/b'),
    'PUT /a HTTP/1.1\r\nhost: test\r\n\r\n',
    'POST /a HTTP/1.1\r\nhost: test\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\na',
  ])
    statuses.push((await ask(port, request)).status);
  expect(statuses).toEqual([418, 404, 405, 415]);
  expect(answered(numbers.http)).toEqual([
    [-1, '404', 1],
    [-1, '405', 1],
    [0, 'other', 1],
    [1, '415', 1],
  ]);
  expect(spans()).toHaveLength(1);
});
