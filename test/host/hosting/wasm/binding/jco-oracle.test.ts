// jco as an oracle: calls of a module through our binding and through jco's generated glue have the same results. The
// generated code runs in a child process.
import assert from 'node:assert/strict';
import { expect, test } from 'vitest';
import { inspectModule } from '../../../../../host/hosting/wasm/admission/admission.ts';
import { compileFixture } from '../../../../support/compile-fixture.ts';
import { counter } from '../support/counter.ts';
import { guestModule } from '../support/guest-module.ts';
import { expectSame } from '../support/run-scenario.ts';
import type {
  RoutingAnswer,
  ScenarioCall,
  ScenarioContext,
  ServiceAnswer,
} from '../support/scenario.ts';

/** Texts that are not ASCII, not Latin-1 and not of one UTF-16 unit; short and long ones. */
const TEXTS = ['', 'cart', 'grüße', '世界', '😀🛒', `${'ü'.repeat(50)}😀`, 'x'.repeat(2000)];
const context: ScenarioContext = {
  nowMs: 1_700_000_000_123,
  seed: '18446744073709551615',
  metadata: [
    ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['baggage', 'wer=grüße,was=🛒'],
  ],
};
const headers = [
  ['host', 'localhost:9000'],
  ['x-twice', 'a'],
  ['x-twice', 'grüße'],
  ['x-empty', ''],
] as const;

type Handle = Extract<ScenarioCall, { kind: 'handle' }>;
const handle = (
  route: number,
  parameters: readonly string[] = [],
  request: Partial<Handle['request']> = {},
  answers: readonly RoutingAnswer[] = [],
): Handle => ({
  kind: 'handle',
  context,
  request: {
    route,
    parameters,
    query: 'q=gr%C3%BC%C3%9Fe&q=😀',
    headers,
    caller: 'local',
    body: { kind: 'none' },
    ...request,
  },
  answers,
});
const call = (kind: 'command' | 'query', name: string, input: unknown): ScenarioCall => ({
  kind,
  context,
  name,
  input: JSON.stringify(input),
});
const json = (value: unknown) => ({ body: { kind: 'json', text: JSON.stringify(value) } }) as const;
const reply = (value: unknown) => ({ kind: 'reply', json: JSON.stringify(value) }) as const;
const stored = (event: object) => ({ manifest: 'cart-event', json: JSON.stringify(event) });
const bytes = (content: Uint8Array) =>
  ({ body: { kind: 'bytes', bytes: Buffer.from(content).toString('base64') } }) as const;
const responseOf = (
  status: number,
  body: string | Uint8Array,
  received: Extract<ServiceAnswer, { kind: 'response' }>['headers'] = [],
): ServiceAnswer => ({
  kind: 'response',
  status,
  headers: received,
  body: Buffer.from(body).toString('base64'),
});
const refusals: readonly RoutingAnswer[] = [
  { kind: 'refusal', code: 'CONFLICT', message: 'schon bezahlt 🛒', details: '{"an":1}' },
  { kind: 'refusal', code: 'NOT_FOUND', message: '' },
  { kind: 'refusal', code: 'OTHER', otherCode: 'SOLD_OUT', message: 'leer' },
];

test('an entity of the cart decides, folds, answers, is deleted and opened from its snapshot', async () => {
  const added = (sku: string, quantity: number) => stored({ type: 'item-added', sku, quantity });
  const snapshot = '{"items":[{"sku":"😀","quantity":2}],"checkedOut":true}';
  const results = await expectSame(await compileFixture('shopping-cart'), [
    { kind: 'open', component: 'shopping-cart', id: 'grüße-😀' },
    call('command', 'check-out', null),
    ...TEXTS.map((sku) => call('command', 'add-item', { sku, quantity: 3 })),
    call('command', 'add-item', { sku: 'a', quantity: -1 }),
    call('command', 'add-item', { sku: 'a', quantity: 'many' }),
    call('command', 'add-item', { sku: 'a' }),
    call('command', 'remove-item', { sku: '世界' }),
    { kind: 'apply', events: [] },
    { kind: 'apply', events: TEXTS.map((sku, index) => added(sku, index + 1)) },
    { kind: 'apply', events: [added('a', 1), stored({ type: 'item-removed', sku: 'a' })] },
    call('query', 'get', null),
    call('query', 'item', { sku: '😀🛒' }),
    call('query', 'item', { sku: 'nothing' }),
    { kind: 'snapshot' },
    call('command', 'remove', null),
    { kind: 'open', component: 'shopping-cart', id: 'again', snapshot },
    { kind: 'snapshot' },
    call('query', 'get', null),
    call('command', 'add-item', { sku: 'late', quantity: 1 }),
    { kind: 'apply', events: [added('a', 1), { manifest: 'cart-event', json: '{"type":' }] },
    { kind: 'open', component: 'shopping-cart', id: 'third' },
    { kind: 'apply', events: [stored({ type: 'no such event' })] },
    { kind: 'open', component: 'shopping-cart', id: 'fourth' },
    { kind: 'apply', events: [stored({ type: 'item-added', sku: 'ü', quantity: 2.5 })] },
  ]);
  const kinds = results.map(({ outcome }) => (outcome as { kind?: string } | null)?.kind);
  expect(kinds).toContain('effect');
  expect(kinds).toContain('refusal');
  expect(results).toContainEqual(expect.objectContaining({ outcome: expect.any(String) }));
  expect(results).toContainEqual(
    expect.objectContaining({
      outcome: expect.objectContaining({ actions: [{ kind: 'delete-entity' }] }),
    }),
  );
});

test('an order changes its timers, and so do the handlers', async () => {
  const placed = { manifest: 'order-event', json: '{"type":"placed","cents":1250}' };
  const results = await expectSame(await compileFixture('expiring-order'), [
    { kind: 'open', component: 'order', id: 'grüße-😀' },
    call('command', 'place', { cents: 1250 }),
    { kind: 'apply', events: [placed] },
    call('command', 'extend', '2100-01-01T00:00:00Z'),
    call('command', 'pay', null),
    call('command', 'cancel', null),
    handle(3, ['世界'], json({ text: '😀' })),
    handle(4, ['x'.repeat(2000)]),
  ]);
  const timers = results.map(
    ({ outcome }) => (outcome as { timers?: readonly unknown[] } | null)?.timers?.length ?? 0,
  );
  expect(timers).toEqual([0, 1, 0, 1, 2, 0, 0, 0]);
  expect(results.slice(6).map(({ routed }) => routed)).toMatchObject([
    [{ timer: { name: 'remind', target: { id: '世界' }, due: { zone: 'Europe/Berlin' } } }],
    [{ owner: { component: 'order' }, name: 'remind' }],
  ]);
});

test('the cart’s handlers route calls, and get a reply or a refusal', async () => {
  const cart = { id: '😀', items: [{ sku: 'grüße', quantity: 1 }], checkedOut: false };
  const item = { sku: 'grüße 😀', quantity: 2, note: 'für dich' };
  const results = await expectSame(await compileFixture('shopping-cart'), [
    handle(0, ['c1'], {}, [reply(cart)]),
    ...TEXTS.map((id) => handle(0, [id], {}, [reply({ ...cart, id })])),
    handle(1, ['ü'], json(item), [reply(cart)]),
    handle(1, ['ü'], json({ ...item, quantity: 'two' })),
    handle(1, ['ü'], { body: { kind: 'json', text: '{"sku":' } }),
    handle(2, ['c', '😀'], {}, [reply({ sku: '😀', quantity: 1 })]),
    handle(3, ['c', '😀'], {}, [reply(cart)]),
    ...refusals.map((answer) => handle(4, ['c'], {}, [answer])),
    handle(5, ['c'], {}, [reply(null)]),
    // The test prepares no answer, so the call times out.
    handle(5, ['c']),
  ]);
  expect(results[0]!.routed).toEqual([
    expect.objectContaining({ target: { component: 'shopping-cart', id: 'c1' }, name: 'get' }),
  ]);
});

test('bodies, headers and replies of every kind pass', async () => {
  const order = { sku: 'grüße 😀', quantity: 2, urgent: true };
  const module = await compileFixture('routes');
  const routeOf = routeIndexes(module);
  const at = (handler: string, ...rest: readonly unknown[]) =>
    handle(routeOf(handler), ...(rest as [readonly string[], Partial<Handle['request']>]));
  const results = await expectSame(module, [
    at('json', [], json([order, order])),
    at('optional', [], json(order)),
    at('optional', []),
    ...TEXTS.map((text) => at('text', [], { body: { kind: 'text', text } })),
    ...[[], [0], [1, 2, 255]].map((content) => at('bytes', [], bytes(Uint8Array.from(content)))),
    at('bytes', [], bytes(new Uint8Array(100_000).fill(7))),
    at('none', []),
    at('done', []),
    at('list', []),
    at('created', [], json({ ...order, sku: 'größer' })),
    at('moved', []),
    at('html', []),
    ...[0, 1, 2, 3, 4, 5, 6].map((code) => at('refused', [String(code)])),
    at('headers', []),
    at('header', ['x-twice']),
    at('rawQuery', []),
    at('caller', [], { caller: 'service grüße/😀' }),
    at('traceparent', []),
  ]);
  const bodies = results.map(({ outcome }) => (outcome as { body?: { kind: string } }).body?.kind);
  expect(new Set(bodies)).toEqual(new Set(['json', 'text', 'bytes', 'none', undefined]));
});

test('the requests of a handler to other services agree, and so do their responses', async () => {
  const module = await compileFixture('calling');
  const raw = routeIndexes(module)('raw');
  const plain = { service: 'billing', method: 'GET', path: '/', headers: [], body: '', times: 1 };
  const send = (sent: object, responses: readonly ServiceAnswer[]): Handle => ({
    ...handle(raw, [], json({ ...plain, ...sent })),
    responses,
  });
  const results = await expectSame(module, [
    ...TEXTS.map((body) => send({ method: 'POST', body }, [responseOf(200, body)])),
    send({ service: 'grüße.😀', path: '/ö?q=世界' }, [responseOf(204, '')]),
    send({ headers: [...headers, ...headers] }, [responseOf(404, 'nö', headers)]),
    send({ times: 3 }, [
      responseOf(599, 'x'.repeat(100_000)),
      { kind: 'denied', reason: 'es ist zu groß 😀' },
    ]),
    send({}, [responseOf(200, Uint8Array.of(0xff, 0, 0xc3))]),
  ]);
  const sent = results.flatMap(({ routed }) => routed);
  expect(sent).toHaveLength(TEXTS.length + 6);
  for (const { outcome } of results)
    expect(outcome).toMatchObject({ status: 200, body: { kind: 'json' } });
});

// jco does not know latin1+utf16; guest-memory.test.ts has it.
test('a module with its strings in UTF-8 agrees', async () => {
  const counted = { manifest: 'counted', json: '{}' };
  const recorded = { seq: 4, timeMs: 5, event: { manifest: 'ü', json: '{"x":"😀"}' } };
  const results = await expectSame(await guestModule(counter, 'utf8'), [
    { kind: 'open', component: 'counter', id: 'a' },
    ...['add', 'delete', 'refuse', 'other', 'log', 'clock', 'z', 'meta'].map((name) =>
      call('command', name, {}),
    ),
    { kind: 'apply', events: [counted, counted] },
    ...TEXTS.map((text) => call('query', 'echo', text)),
    ...['refuse', 'get', 'clock'].map((name) => call('query', name, '')),
    { kind: 'snapshot' },
    { kind: 'apply', events: [{ manifest: 'counted', json: 'oops' }] },
    { kind: 'open', component: 'counter', id: 'b', snapshot: '41' },
    { kind: 'snapshot' },
    ...TEXTS.map((text) => handle(0, [], { body: { kind: 'text', text } })),
    ...TEXTS.map((text) => handle(1, [text], {}, [reply(text)])),
    ...refusals.map((answer) => handle(1, ['c'], {}, [answer])),
    handle(1, ['c']),
    { ...handle(3, [], { query: 'qq' }), journal: [recorded, recorded] },
    handle(7),
    handle(8, [], { query: '' }),
    handle(9),
  ]);
  expect(results.flatMap(({ log }) => log)).toHaveLength(2);
});

/** Handler → the index of its route. */
function routeIndexes(module: Uint8Array): (handler: string) => number {
  const { descriptor } = inspectModule(module);
  const handlers = descriptor!.endpoints.flatMap(({ routes }) =>
    routes.map(({ handler }) => handler),
  );
  return (handler) => {
    const index = handlers.indexOf(handler);
    assert(index >= 0, `a handler ${handler}`);
    return index;
  };
}
