// A real service that exports its spans: what a receiver of OTLP sees of a request and of the calls that it makes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { startDeployed } from '../support/deployed-service.ts';
import { SvcProcess } from '../support/host-process.ts';
import { otlpReceiver, plain } from '../support/otlp-receiver.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'counter.wasm');
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

beforeAll(async () => writeFileSync(module, await compileFixture('counter')));

async function add(url: string, amount: number, traceparent: string): Promise<number> {
  const { status } = await fetch(`${url}/counters/a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent },
    body: JSON.stringify({ amount }),
  });
  return status;
}

test('a receiver gets a request and the call that it made as two spans of its caller’s trace', async () => {
  const receiver = await otlpReceiver();
  const { svc, management } = await startDeployed(
    module,
    join(folder, 'deployed'),
    // The stop alone sends them.
    ['svc.observability.export-interval-ms=60000', 'svc.name=shop'],
    {
      SVC_OBSERVABILITY_OTLP_ENDPOINT: receiver.url,
      SVC_OBSERVABILITY_OTLP_HEADERS: 'authorization=Bearer secret-words',
      // Nothing of the environment is heard but svc's own settings.
      OTEL_EXPORTER_OTLP_HEADERS: 'x-other=1',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=other',
    },
  );
  const url = await svc.listening();
  expect(await add(url, 5, `00-${TRACE}-${CALLER}-01`)).toBe(200);
  expect(await add(url, -1, `00-${TRACE}-${CALLER}-01`)).toBe(400);
  // Whose caller does not want it kept.
  expect(await add(url, 5, `00-${'1'.repeat(32)}-${CALLER}-00`)).toBe(200);
  expect(await (await fetch(`${management}/svc/metrics`)).text()).toContain(
    '\nsvc_otlp_spans_exported_total 0\n',
  );
  const { code, stderr } = await svc.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).not.toContain('secret-words');

  const [first] = receiver.received;
  expect(first).toMatchObject({
    path: '/v1/traces',
    headers: { authorization: 'Bearer secret-words' },
    resource: { 'service.name': 'shop' },
  });
  expect(first!.headers).not.toHaveProperty('x-other');
  const spans = receiver
    .spans()
    .toSorted((a, b) => (BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1));
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(spans.map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
    ['POST /counters/{id}', 2, 0],
    ['counter.add', 1, 0],
    ['POST /counters/{id}', 2, 0],
    ['counter.add', 1, 0],
  ]);
  const [request, call, refusedRequest, refusedCall] = spans;
  expect([request!.parentSpanId, call!.parentSpanId]).toEqual([CALLER, request!.spanId]);
  expect(refusedCall!.parentSpanId).toBe(refusedRequest!.spanId);
  expect(BigInt(call!.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(request!.endTimeUnixNano));
  expect(plain(request!.attributes)).toMatchObject({
    'svc.component': 'CounterEndpoint',
    'svc.handler': 'add',
    'svc.outcome': 'Ok',
    'http.request.method': 'POST',
    'http.route': '/counters/{id}',
    'http.response.status_code': 200,
    'svc.fuel': expect.toSatisfy((fuel: number) => fuel > 0) as number,
  });
  expect(plain(call!.attributes)).toMatchObject({
    'svc.component': 'counter',
    'svc.handler': 'add',
    'svc.entity.id': 'a',
    'svc.outcome': 'Ok',
    'svc.events': 1,
    'svc.fuel': expect.toSatisfy((fuel: number) => fuel > 0) as number,
  });
  expect(plain(refusedCall!.attributes)).toMatchObject({
    'svc.outcome': 'Refused',
    'svc.refusal.code': 'BAD_REQUEST',
    'svc.events': 0,
  });
});

test('a caller’s tracestate is on the spans of the request and of its calls', async () => {
  const receiver = await otlpReceiver();
  const { svc } = await startDeployed(module, join(folder, 'states'), [], {
    SVC_OBSERVABILITY_OTLP_ENDPOINT: receiver.url,
  });
  const url = await svc.listening();
  for (const [digit, tracestate] of [
    ['1', 'vendor=a:b, other=1'],
    ['2', 'not a state'],
  ] as const)
    await fetch(`${url}/counters/a`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${digit.repeat(32)}-${CALLER}-01`,
        tracestate,
      },
      body: '{"amount":1}',
    });
  await svc.end('SIGTERM');
  const statesOf = (digit: string) =>
    receiver
      .spans()
      .filter(({ traceId }) => traceId === digit.repeat(32))
      .map(({ name, traceState }) => `${name} ${traceState}`)
      .toSorted((one, other) => (one < other ? -1 : 1));
  expect(statesOf('1')).toEqual([
    'POST /counters/{id} vendor=a:b,other=1',
    'counter.add vendor=a:b,other=1',
  ]);
  expect(statesOf('2')).toEqual(['POST /counters/{id} undefined', 'counter.add undefined']);
});

test('a run on a developer’s machine exports as well, each interval', async () => {
  const receiver = await otlpReceiver();
  const words = ['run', module, '--port', '0', '--data', join(folder, 'local')];
  const svc = new SvcProcess(words, {
    env: {
      SVC_OBSERVABILITY_OTLP_ENDPOINT: receiver.url,
      SVC_OBSERVABILITY_EXPORT_INTERVAL_MS: '100',
    },
  });
  onTestFinished(async () => void (await svc.end('SIGKILL')));
  const url = await svc.listening();
  for (const count of [2, 4]) {
    expect(await add(url, 5, `00-${TRACE}-${CALLER}-01`)).toBe(200);
    await receiver.has(count);
  }
});

test('an endpoint that is not there costs a warning, and no request anything', async () => {
  const { svc, management } = await startDeployed(
    module,
    join(folder, 'dead'),
    ['svc.observability.export-interval-ms=100', 'svc.observability.export-timeout-ms=100'],
    // Nothing listens there (RFC 863).
    { SVC_OBSERVABILITY_OTLP_ENDPOINT: 'http://someone:secret-words@127.0.0.1:9' },
  );
  const url = await svc.listening();
  expect(await add(url, 5, `00-${TRACE}-${CALLER}-01`)).toBe(200);
  await svc.logged(/spans are not exported/);
  expect(await add(url, 5, `00-${TRACE}-${CALLER}-01`)).toBe(200);
  for (;;) {
    const metrics = await (await fetch(`${management}/svc/metrics`)).text();
    if (metrics.includes('\nsvc_otlp_spans_dropped_total 4\n')) break;
  }
  const { code, stderr } = await svc.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr.match(/spans are not exported/g)).toHaveLength(1);
  expect(stderr).toContain('http://127.0.0.1:9/v1/traces');
  expect(stderr).not.toContain('secret-words');
});
