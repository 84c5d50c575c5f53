// The loopback observability endpoint of a local run, over a real process: row by row what the contract names. Every
// answer is held against the published schema (test/support/observed-process.ts).
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../host/package.json' with { type: 'json' };
import { compileFixture } from '../support/compile-fixture.ts';
import { runSvc } from '../support/host-process.ts';
import { ObservedProcess, until } from '../support/observed-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const folder = temporaryFolderOfFile();
const module = join(folder, 'shopping-cart.wasm');
let cart: ObservedProcess;

beforeAll(async () => {
  writeFileSync(module, await compileFixture('shopping-cart'));
  cart = await new ObservedProcess(folder, [module, '--data', 'data']).start();
});
afterAll(async () => void (await cart.svc.end('SIGKILL')));

const item = (sku: string) => ({ sku, quantity: 1 });
const journalDigest = () =>
  ['journal.sqlite', 'journal.sqlite-wal']
    .map((name) =>
      createHash('sha256')
        .update(readFileSync(join(folder, 'data', name)))
        .digest('hex'),
    )
    .join(' ');

describe('/observability/service', () => {
  test('names the service, its version, its instances with their address, its components with their queries, and its routes', async () => {
    const { body } = await cart.get('service', 'ServiceDescription');
    expect(body).toMatchObject({
      name: 'shopping-cart',
      runtimeVersion: manifest.version,
      pid: cart.svc.child.pid,
      dev: false,
      control: expect.stringMatching(/control\.sock$/) as string,
      instances: [{ address: cart.url, shards: 1 }],
      module: { fingerprint: createHash('sha256').update(readFileSync(module)).digest('hex') },
    });
    expect(body.components).toMatchObject([
      {
        component: 'shopping-cart',
        commands: [
          { name: 'add-item' },
          { name: 'remove-item' },
          { name: 'check-out' },
          { name: 'remove' },
        ],
        queries: [{ name: 'get', reply: { $ref: '#/types/Cart' } }, { name: 'item' }],
      },
    ]);
    expect(body.types).toHaveProperty('Cart');
    expect(body.routes).toContainEqual(
      expect.objectContaining({ method: 'POST', path: '/carts/{id}/items', handler: 'addItem' }),
    );
  });

  test('says the version that svc version says', async () => {
    const { stdout } = await runSvc(['version', '-o', 'json']);
    const { body } = await cart.get('service', 'ServiceDescription');
    expect(JSON.parse(stdout)).toMatchObject({ svc: body.runtimeVersion });
  });
});

describe('/observability/traces', () => {
  test('is newest first', async () => {
    for (const sku of ['a', 'b', 'c']) await cart.post('/carts/order/items', item(sku));
    const { body } = await cart.get('traces?limit=3', 'TraceList');
    expect(body.traces).toMatchObject(
      [1, 2, 3].map(() => ({
        name: 'POST /carts/{id}/items',
        kind: 'endpoint',
        status: 200,
        spans: 2,
      })),
    );
    const starts = body.traces.map(({ startedAt }) => startedAt);
    expect(starts).toEqual(starts.toSorted().toReversed());
    expect(body.window).toMatchObject({ capacity: 10_000 });
    expect(body.window.recorded).toBeGreaterThanOrEqual(6);
  });

  test('has the trace of a request that was answered before', async () => {
    for (let count = 0; count < 20; count++) {
      const traceId = createHash('md5').update(String(count)).digest('hex');
      await fetch(`${cart.url}/carts/at-once`, {
        headers: { traceparent: `00-${traceId}-00000000000000aa-01` },
      });
      // Several ask at the same time, and one of them begins before the request has ended.
      const [, { body }] = await Promise.all([
        cart.get('traces', 'TraceList'),
        cart.get('traces?limit=1', 'TraceList'),
      ]);
      expect(body.traces[0]!.traceId).toBe(traceId);
    }
  });

  test('is had page by page, no trace twice and none left out', async () => {
    await cart.post('/carts/paged/items', item('a'));
    const { body: all } = await cart.get('traces?limit=1000', 'TraceList');
    expect(all.traces.length).toBeGreaterThan(5);
    const paged: unknown[] = [];
    let after = '';
    do {
      const { body } = await cart.get(`traces?limit=4${after}`, 'TraceList');
      expect(body).toMatchObject({ total: all.total, newer: paged.length });
      paged.push(...body.traces);
      after = body.next === null ? '' : `&after=${encodeURIComponent(body.next)}`;
    } while (after !== '');
    expect(paged).toEqual(all.traces);
  });

  test('is filtered by component, outcome and duration', async () => {
    await cart.post('/carts/filtered/items', { sku: 'a', quantity: 0 });
    await cart.raw('query/shopping-cart/filtered/get');
    const of = async (filter: string) =>
      (await cart.get(`traces?limit=1000&${filter}`, 'TraceList')).body.traces;
    const refused = await of('outcome=Refused');
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ outcome }) => outcome))).toEqual(new Set(['Refused']));
    // A trace belongs to each component that has a span in it.
    const ofCart = await of('component=shopping-cart');
    expect(new Set(ofCart.map(({ kind }) => kind))).toEqual(new Set(['endpoint', 'query']));
    expect(await of('component=nobody')).toEqual([]);
    const all = await of('min-duration-ms=0');
    for (const least of [1, 0.4])
      expect(await of(`min-duration-ms=${least}`)).toEqual(
        all.filter(({ durationMs }) => durationMs >= least),
      );
    const said = await of('text=FILTERED');
    expect(said.map(({ entityId }) => entityId)).toEqual(said.map(() => 'filtered'));
    expect(said.length).toBe(2);
    expect((await of('outcome=Ok,Refused')).length).toBe(all.length);
  });
});

describe('/observability/traces/{traceId}', () => {
  test('is a tree of spans', async () => {
    await cart.post('/carts/tree/items', item('apple'));
    const [{ traceId } = { traceId: '' }] = (await cart.get('traces?limit=1', 'TraceList')).body
      .traces;
    const { body } = await cart.get(`traces/${traceId}`, 'TraceDetail');
    expect(body).toMatchObject({ traceId, moreSpans: 0, remoteParent: null, silentShards: [] });
    expect(body.roots).toMatchObject([
      {
        kind: 'endpoint',
        component: 'CartEndpoint',
        handler: 'addItem',
        status: 200,
        outcome: 'Ok',
        children: [
          {
            kind: 'command',
            component: 'shopping-cart',
            handler: 'add-item',
            entityId: 'tree',
            events: 1,
            children: [],
          },
        ],
      },
    ]);
    expect(body.roots[0]!.children[0]!.parentId).toBe(body.roots[0]!.spanId);
  });

  test('that continues the trace of a caller says whose span it is below', async () => {
    const traceId = 'abcdef0123456789abcdef0123456789';
    const headers = { traceparent: `00-${traceId}-00000000000000bb-01` };
    await fetch(`${cart.url}/carts/continued`, { headers });
    const { body } = await cart.get(`traces/${traceId}`, 'TraceDetail');
    expect(body).toMatchObject({ remoteParent: '00000000000000bb', roots: [{ kind: 'endpoint' }] });
  });

  test('that is not there is 404, and an id that is none is 400', async () => {
    expect((await cart.raw(`traces/${'0'.repeat(31)}1`)).status).toBe(404);
    for (const id of ['1', 'A'.repeat(32), `${'0'.repeat(31)}g`])
      expect((await cart.raw(`traces/${id}`)).status).toBe(400);
  });
});

test('/observability/sessions/{sessionId} is 404', async () => {
  expect((await cart.raw('sessions/s1')).status).toBe(404);
});

describe('/observability/query/{component}/{id}/{method}', () => {
  test('answers with the reply of the query, and is a trace of one span', async () => {
    await cart.post('/carts/asked/items', item('apple'));
    expect(await cart.raw('query/shopping-cart/asked/get')).toMatchObject({
      status: 200,
      body: { id: 'asked', items: [item('apple')], checkedOut: false },
    });
    const [trace] = (await cart.get('traces?limit=1', 'TraceList')).body.traces;
    expect(trace).toMatchObject({
      kind: 'query',
      name: 'shopping-cart.get',
      entityId: 'asked',
      spans: 1,
    });
  });

  test('gives the query its input, which is JSON', async () => {
    const input = encodeURIComponent('{"sku":"apple"}');
    expect(await cart.raw(`query/shopping-cart/asked/item?input=${input}`)).toMatchObject({
      status: 200,
      body: { sku: 'apple' },
    });
    expect(await cart.raw('query/shopping-cart/asked/item?input={sku')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('input takes JSON') },
    });
  });

  test('of a command is 405, says that it is a command, not a query, and runs nothing', async () => {
    await cart.post('/carts/kept/items', item('apple'));
    const before = journalDigest();
    expect(await cart.raw('query/shopping-cart/kept/check-out')).toMatchObject({
      status: 405,
      body: { error: expect.stringMatching(/^'check-out' is a command, not a query/) },
    });
    await cart.raw('query/shopping-cart/kept/get');
    expect(journalDigest()).toBe(before);
    expect((await cart.raw('query/shopping-cart/kept/get')).body).toMatchObject({
      checkedOut: false,
    });
  });

  test('of an unknown component, and of an unknown handler, is 404', async () => {
    expect(await cart.raw('query/shop/c1/get')).toMatchObject({
      status: 404,
      body: { error: "The service has no component 'shop'." },
    });
    expect(await cart.raw('query/shopping-cart/c1/got')).toMatchObject({
      status: 404,
      body: { error: "The component 'shopping-cart' has no query 'got'." },
    });
    // A name that every object of JavaScript has.
    expect((await cart.raw('query/shopping-cart/c1/constructor')).status).toBe(404);
    expect((await cart.raw('query/__proto__/c1/get')).status).toBe(404);
  });

  test('that the module refuses has the status of its refusal', async () => {
    const missing = encodeURIComponent('{"sku":"nowhere"}');
    expect((await cart.raw(`query/shopping-cart/c1/item?input=${missing}`)).status).toBe(404);
    expect(await cart.raw('query/shopping-cart/c1/item?input={}')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('sku') },
    });
  });

  test.each([
    ['is empty', '', 'is empty'],
    ['is too long', 'x'.repeat(10_000), 'is longer than 256'],
    ['has a control character', 'a%0Ab', 'contains a control character'],
    ['has a NUL', '%00', 'contains a control character'],
    ['is no percent-encoding', '%zz', 'percent-encoded'],
    ['is no UTF-8', '%ff', 'percent-encoded'],
  ])('with an id that %s is 400 and says why', async (_what, id, why) => {
    expect(await cart.raw(`query/shopping-cart/${id}/get`)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(why) },
    });
  });
});

describe('/observability/entities', () => {
  test('lists what is stored, page by page', async () => {
    for (const id of ['e1', 'e2', 'e3']) await cart.post(`/carts/${id}/items`, item('a'));
    const page = async (query: string) =>
      (await cart.get(`entities/shopping-cart?${query}`, 'EntityList')).body;
    expect(await page('after=e&limit=2')).toMatchObject({
      entities: [
        { id: 'e1', events: 1, deleted: false },
        { id: 'e2', events: 1, deleted: false },
      ],
      next: 'e2',
    });
    const { total } = await page('limit=1');
    expect((await page('limit=1000')).entities).toHaveLength(total);
    expect(await page('prefix=e2')).toMatchObject({
      entities: [{ id: 'e2' }],
      total: 1,
      totalCapped: false,
      next: null,
    });
    expect(await page('prefix=e&after=e1&limit=1')).toMatchObject({
      entities: [{ id: 'e2' }],
      next: 'e2',
    });
    expect((await cart.raw('entities/shop')).status).toBe(404);
  });

  test("has an entity's journal beside the running service, and what came since", async () => {
    await cart.post('/carts/past/items', item('a'));
    const path = 'entities/shopping-cart/past/history';
    const first = (await cart.get(path, 'HistoryPage')).body;
    expect(first).toMatchObject({ total: 1, next: null, steps: [{ seq: 1, type: 'item-added' }] });
    const trace = (await cart.get(`traces/${first.steps[0]!.traceId}`, 'TraceDetail')).body;
    expect(trace.roots[0]!.children[0]).toMatchObject({ entityId: 'past' });
    await cart.post('/carts/past/items', item('b'));
    const { body } = await cart.get(`${path}?from=2`, 'HistoryPage');
    expect(body).toMatchObject({
      total: 2,
      steps: [{ seq: 2, changes: [{ path: '$.items[1]' }] }],
    });
    expect(JSON.parse(body.steps[0]!.state!)).toMatchObject({ items: [item('a'), item('b')] });
    expect((await cart.raw('entities/shopping-cart/nobody/history')).status).toBe(404);
  });
});

test('/observability/live has the totals, and the seconds in which something was served', async () => {
  await until('a second with a request', async () => {
    await cart.post('/carts/live/items', item('a'));
    const { body } = await cart.get('live', 'LiveNumbers');
    expect(body.totals['svc_recorder_spans_recorded_total']).toBeGreaterThan(0);
    return body.seconds.some(({ ok, p50Ms }) => ok > 0 && p50Ms !== null && p50Ms > 0);
  });
});

test('/observability/faults has no refusals', async () => {
  expect((await cart.get('faults', 'FaultList')).body).toEqual({ faults: [], silentShards: [] });
});

test('/observability/dev is 404 unless svc dev runs the service', async () => {
  expect((await cart.raw('dev')).status).toBe(404);
});

test('/observability/openapi.json is what svc inspect --openapi prints, and where the service is', async () => {
  const { body } = await cart.raw('openapi.json');
  const { stdout } = await runSvc(['inspect', module, '--openapi']);
  expect(body).toEqual({ ...(JSON.parse(stdout) as object), servers: [{ url: cart.url }] });
});
