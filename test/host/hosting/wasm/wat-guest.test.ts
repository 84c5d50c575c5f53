// A guest in a language without an SDK: fixtures/wat-shopping-cart, which is written by hand and has its strings in
// UTF-8. It passes the suite of all hostings, gives the same results as the cart in AssemblyScript, and frees its
// memory.
import { beforeAll, describe, expect, test } from 'vitest';
import { inspectModule } from '../../../../host/hosting/wasm/admission/admission.ts';
import type { GuestLogLine } from '../../../../model/guest-log.ts';
import { createWasmGuest } from '../../../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../../../host/hosting/wasm/wasm-limits.ts';
import type { StoredEvent } from '../../../../model/entity.ts';
import { hostingSuite } from '../../../suites/hosting-suite.ts';
import { compileFixture } from '../../../support/compile-fixture.ts';
import { compileWat } from '../../../support/compile-wat.ts';
import { CONTEXT, faultOf } from './support/live-guest.ts';
import { expectSame, throughOurs } from './support/run-scenario.ts';
import type {
  RoutingAnswer,
  ScenarioCall,
  ScenarioContext,
  ScenarioResult,
} from './support/scenario.ts';

const cart = () => compileWat('wat-shopping-cart');
let twin: Uint8Array;
beforeAll(async () => {
  twin = await compileFixture('shopping-cart');
});

hostingSuite('wat', async () => createWasmGuest(await cart()));

const context: ScenarioContext = {
  nowMs: 1_700_000_000_123,
  seed: '18446744073709551615',
  metadata: [['baggage', 'wer=grüße,was=🛒']],
};
const call = (kind: 'command' | 'query', name: string, input: string): ScenarioCall => ({
  kind,
  context,
  name,
  input,
});
const addItem = (input: string) => call('command', 'add-item', input);
const item = (sku: string, quantity = 1) => JSON.stringify({ sku, quantity });
const event = (json: string, manifest = 'cart-event'): StoredEvent => ({ manifest, json });
const added = (sku: string, quantity = 1) =>
  event(JSON.stringify({ type: 'item-added', sku, quantity }));
const open = (id: string, snapshot?: string): ScenarioCall => ({
  kind: 'open',
  component: 'shopping-cart',
  id,
  ...(snapshot === undefined ? {} : { snapshot }),
});
const handle = (
  route: number,
  parameters: readonly string[],
  answer?: RoutingAnswer,
  json?: string,
): ScenarioCall => ({
  kind: 'handle',
  context,
  request: {
    route,
    parameters,
    query: '',
    headers: [['x-größe', 'ü']],
    caller: 'local',
    body: json === undefined ? { kind: 'none' } : { kind: 'json', text: json },
  },
  answers: answer === undefined ? [] : [answer],
});

/**
 * Texts in ASCII; of two, three and four bytes per character; with control characters; with characters that JSON
 * escapes; a long one.
 */
const TEXTS = [
  'a',
  'grüße',
  '世界',
  '😀🛒',
  '\u0000\u0001\b\t\n\f\r\u001f "\\/\u007f\u0080\u2028\uFEFF\uFFFD\uFFFF',
  `${'ü'.repeat(500)}😀`,
  'x'.repeat(100_000),
];
const reply = (json: string): RoutingAnswer => ({ kind: 'reply', json });
const view = '{"id":"c","items":[],"checkedOut":false}';
const CALLS: readonly ScenarioCall[] = [
  open('grüße-😀 "quoted"\n'),
  call('command', 'check-out', 'null'),
  ...TEXTS.map((sku) => addItem(item(sku, 3))),
  { kind: 'apply', events: TEXTS.map((sku, index) => added(sku, index + 1)) },
  { kind: 'apply', events: [added('a', 2_147_483_647), added('ü', 5), added('a')] },
  { kind: 'apply', events: [event('{"type":"item-removed","sku":"世界"}')] },
  ...TEXTS.map((sku) => call('query', 'item', JSON.stringify({ sku }))),
  ...TEXTS.map((sku) => call('command', 'remove-item', JSON.stringify({ sku }))),
  addItem(item('again', 7)),
  { kind: 'snapshot' },
  call('query', 'get', 'null'),
  call('command', 'no-such-thing', 'null'),
  call('query', 'no-such-thing', 'null'),
  call('command', 'remove', 'null'),
  open(
    'of a snapshot',
    '{"checkedOut":true,"more":[{}],"items":[{"quantity":-5,"sku":"\\u00fc"}]}',
  ),
  { kind: 'snapshot' },
  addItem(item('late')),
  call('command', 'check-out', 'null'),
  open('with a bad event'),
  { kind: 'apply', events: [added('a'), event('{"type":"item-added","sku":"b"}')] },
  open('with another manifest'),
  { kind: 'apply', events: [event('{}', 'örder-event')] },
  ...TEXTS.map((id) => handle(0, [id], reply(view))),
  ...TEXTS.map((sku) => handle(3, ['c', sku], reply(view))),
  handle(2, ['c', 'ü"'], reply('{"sku":"ü","quantity":1}')),
  handle(1, ['c'], undefined, '{"sku":"a"}'),
  handle(1, ['c']),
  handle(4, ['c'], {
    kind: 'refusal',
    code: 'CONFLICT',
    message: 'schon 🛒',
    details: '{"a":"ü"}',
  }),
  handle(4, ['c'], { kind: 'refusal', code: 'OTHER', otherCode: 'VOLL', message: '' }),
  handle(5, ['c'], reply('null')),
  handle(5, ['c']),
];

test('it comes to the same results through our binding and through jco’s', async () => {
  const body = item('ü😀', 2);
  const results = await expectSame(await cart(), [...CALLS, handle(1, ['c'], reply(view), body)]);
  expect(results.at(-1)).toMatchObject({ routed: [{ name: 'add-item', input: body }] });
});

/** The parts of a descriptor that concern callers and the journal. */
function namesOf(module: Uint8Array): unknown {
  const { entities, endpoints } = inspectModule(module).descriptor!;
  return {
    entities: entities.map((entity) => ({
      component: entity.component,
      manifests: [entity.state.manifest, entity.event.manifest],
      commands: entity.commands.map(({ name }) => name),
      queries: entity.queries.map(({ name }) => name),
    })),
    routes: endpoints.flatMap(({ prefix, access, routes }) =>
      routes.map((route) => [
        route.method,
        prefix + route.path,
        access,
        route.body?.kind,
        route.reply?.kind,
      ]),
    ),
  };
}

/** Results without the SDK's wording: for input that does not decode, only the path. */
function withoutWords(results: readonly ScenarioResult[]): unknown {
  return results.map(({ outcome, routed }) => {
    if (typeof outcome === 'string')
      return { outcome: outcome.replace(/^(event \d+ of \d+): .*$/s, '$1'), routed };
    const refusal = outcome as { code?: string; message: string } | null;
    if (refusal?.code !== 'BAD_REQUEST') return { outcome, routed };
    return { outcome: { ...refusal, message: refusal.message.split(':')[0] }, routed };
  });
}

describe('its twin in AssemblyScript', () => {
  test('has the same components, routes and manifests', async () => {
    expect(namesOf(await cart())).toEqual(namesOf(twin));
  });

  test('decides, folds, answers, refuses and calls the same', async () => {
    const told = withoutWords(await throughOurs(twin, CALLS));
    expect(withoutWords(await throughOurs(await cart(), CALLS))).toEqual(told);
  });

  test.each([
    [
      'escapes',
      '{"sku":"\\u0061\\"\\\\\\/\\b\\f\\n\\r\\t\\u00fc\\u4e16\\ud83d\\ude00","quantity":1}',
    ],
    ['a name with an escape', '{"s\\u006bu":"a","quantity":1}'],
    ['space everywhere', ' \t\r\n{ "sku" : "a" , "quantity" : 1 } \n'],
    ['fields in another order', '{"quantity":1,"note":"x","sku":"a"}'],
    [
      'fields that are not known',
      '{"x":[1,{"y":[null,true,false,-1.5e+9,"\\ud83d\\ude00"]}],"sku":"a","quantity":1,"z":{}}',
    ],
    ['-0', '{"sku":"a","quantity":-0}'],
    ['the largest integer', '{"sku":"a","quantity":2147483647}'],
    ['an integer one beyond', '{"sku":"a","quantity":2147483648}'],
    ['the smallest integer', '{"sku":"a","quantity":-2147483648}'],
    ['an integer one below', '{"sku":"a","quantity":-2147483649}'],
    ['an integer of forty digits', `{"sku":"a","quantity":${'9'.repeat(40)}}`],
    ['a fraction', '{"sku":"a","quantity":2.5}'],
    ['an exponent', '{"sku":"a","quantity":1e3}'],
    ['a leading zero', '{"sku":"a","quantity":01}'],
    ['a point without digits', '{"sku":"a","quantity":1.}'],
    ['a lone minus', '{"sku":"a","quantity":-}'],
    ['a plus', '{"sku":"a","quantity":+1}'],
    ['a string for a number', '{"sku":"a","quantity":"1"}'],
    ['a long string for a number', `{"sku":"a","quantity":"${'x'.repeat(60)}"}`],
    ['null for a string', '{"sku":null,"quantity":1}'],
    ['an object for a string', '{"sku":{},"quantity":1}'],
    ['an array for an object', '[]'],
    ['nothing', ''],
    ['a missing field', '{"quantity":1}'],
    ['no field at all', '{}'],
    ['a field that is given twice', '{"sku":"a","quantity":1,"sku":"b"}'],
    ['an optional field of a wrong type', '{"sku":"a","quantity":1,"note":7}'],
    ['no end', '{"sku":"a","quantity":1'],
    ['no end of a string', '{"sku":"a'],
    ['no end of an escape', '{"sku":"a\\'],
    ['a comma before the end', '{"sku":"a","quantity":1,}'],
    ['no colon', '{"sku" "a"}'],
    ['a name without quotes', '{sku:"a"}'],
    ['something after the end', '{"sku":"a","quantity":1} x'],
    ['a control character', '{"sku":"a\u0001","quantity":1}'],
    ['an unknown escape', '{"sku":"\\x","quantity":1}'],
    ['a first half of a pair', '{"sku":"\\ud83d","quantity":1}'],
    ['a second half of a pair', '{"sku":"\\ude00","quantity":1}'],
    ['halves in the wrong order', '{"sku":"\\ude00\\ud83d","quantity":1}'],
    ['too few hexadecimal digits', '{"sku":"\\u12g4","quantity":1}'],
    ['a word that is none', '{"sku":"a","quantity":1,"x":trub}'],
    ['a comma before the end of an array', '{"sku":"a","quantity":1,"x":[1,]}'],
    ['deep nesting', `{"sku":"a","quantity":1,"x":${'['.repeat(99)}${']'.repeat(99)}}`],
    [
      'nesting that is too deep',
      `{"sku":"a","quantity":1,"x":${'['.repeat(100)}${']'.repeat(100)}}`,
    ],
  ])('reads JSON as strictly: %s', async (_what, input) => {
    const calls = [open('a'), addItem(input), call('query', 'item', input)];
    const told = withoutWords(await throughOurs(twin, calls));
    expect(withoutWords(await throughOurs(await cart(), calls))).toEqual(told);
  });
});

describe('its memory', () => {
  const limits = { ...WASM_LIMITS_DEFAULT, memoryPagesMax: 4 };
  const ref = { component: 'shopping-cart', id: 'c' };
  const sku = 'ü'.repeat(50);

  test('holds what lives and nothing else, however many calls there are', async () => {
    const { entities } = await createWasmGuest(await cart(), limits, () => {});
    const entity = await entities.open(ref, undefined);
    for (let turn = 0; turn < 2000; turn++) {
      await entity.apply([added(`${sku}${turn}`), added('b')], undefined);
      await entity.command(CONTEXT, 'add-item', item(`new ${sku}`));
      await entity.command(CONTEXT, 'add-item', '{"sku":');
      await entity.query(CONTEXT, 'get', 'null');
      await entity.snapshot();
      await entity.apply(
        [event(JSON.stringify({ type: 'item-removed', sku: `${sku}${turn}` }))],
        undefined,
      );
    }
    expect(entity.lost).toBe(false);
    expect(await entity.snapshot()).toBe(
      '{"items":[{"sku":"b","quantity":2000}],"checkedOut":false}',
    );
  });

  test('is given back by the destructor', async () => {
    const { entities } = await createWasmGuest(await cart(), limits, () => {});
    const staying = await entities.open(ref, undefined);
    const events = Array.from({ length: 100 }, (_, index) => added(`${sku}${index}`));
    for (let turn = 0; turn < 200; turn++) {
      const entity = await entities.open({ ...ref, id: `${sku}${turn}` }, undefined);
      await entity.apply(events, undefined);
      entity.close();
    }
    // A full instance accepts no more entities, so this abort has to be of another instance.
    await faultOf(() => entities.open(ref, 'no snapshot'));
    expect(staying.lost).toBe(true);
  });

  test('grows while a large input is put there', async () => {
    const { entities } = await createWasmGuest(await cart());
    const entity = await entities.open(ref, undefined);
    const large = '漢'.repeat(200_000);
    expect(await entity.apply([added(large)], undefined)).toBeUndefined();
    expect(await entity.query(CONTEXT, 'item', JSON.stringify({ sku: large }))).toEqual({
      kind: 'reply',
      json: item(large),
    });
  });
});

describe('its diagnostics', () => {
  test('are lines of the log, in UTF-8', async () => {
    const lines: GuestLogLine[] = [];
    const guest = await createWasmGuest(await cart(), WASM_LIMITS_DEFAULT, (line) =>
      lines.push(line),
    );
    const entity = await guest.entities.open({ component: 'shopping-cart', id: 'c 😀' }, undefined);
    await entity.apply([added('a')], undefined);
    await entity.command(CONTEXT, 'check-out', 'null');
    await entity.query(CONTEXT, 'get', 'null');
    const source = 'component shopping-cart';
    expect(lines).toEqual([{ level: 'info', message: 'checked out: c 😀', source }]);
  });

  test('are the last words of a module that aborts', async () => {
    const { entities } = await createWasmGuest(await cart());
    const ref = { component: 'shopping-cart', id: 'c' };
    const fault = await faultOf(() => entities.open(ref, '{"items":[{"sku":"a"}]}'));
    expect([fault.faultCause, fault.guestMessage]).toEqual([
      'trap',
      'abort: a snapshot does not decode: quantity: is missing',
    ]);
  });
});
