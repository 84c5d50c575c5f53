// The example cart, called like the runtime calls it.
import { beforeEach, beforeAll, describe, expect, test } from 'vitest';
import { compileFixtureCore } from '../support/compile-fixture.ts';
import type { CallAnswer } from '../support/core-answers.ts';
import { CoreGuest, type CoreCall } from '../support/core-guest.ts';

const CODES = { badRequest: 0, forbidden: 2, notFound: 3, conflict: 4, other: 7 };

let module: WebAssembly.Module;
let guest: CoreGuest;
let calls: CoreCall[];
let answer: CallAnswer;

beforeAll(async () => {
  module = new WebAssembly.Module(await compileFixtureCore('shopping-cart'));
});

beforeEach(() => {
  calls = [];
  answer = { ok: '{"id":"c1","items":[],"checkedOut":false}' };
  guest = new CoreGuest(module, {
    call: (call) => {
      calls.push(call);
      return answer;
    },
  });
});

const apple = { manifest: 'cart-event', json: '{"type":"item-added","sku":"apple","quantity":2}' };
const checkedOut = { manifest: 'cart-event', json: '{"type":"checked-out"}' };

describe('an entity', () => {
  test('a command answers events, a reply and no deletion, and leaves the state as it is', () => {
    const cart = guest.open('shopping-cart', 'c1');
    const before = guest.snapshot(cart);
    expect(guest.command(cart, 'add-item', '{"sku":"apple","quantity":2}')).toEqual({
      ok: {
        events: [apple],
        deleteEntity: false,
        reply: '{"id":"c1","items":[{"sku":"apple","quantity":2}],"checkedOut":false}',
        timers: [],
      },
    });
    expect(guest.snapshot(cart)).toBe(before);
  });

  test('events fold into the state, and a query answers from it', () => {
    const cart = guest.open('shopping-cart', 'c1');
    expect(guest.apply(cart, [apple, apple])).toBeUndefined();
    expect(guest.query(cart, 'get', 'null')).toEqual({
      ok: '{"id":"c1","items":[{"sku":"apple","quantity":4}],"checkedOut":false}',
    });
  });

  test('entities of one instance do not see each other', () => {
    const one = guest.open('shopping-cart', 'one');
    const two = guest.open('shopping-cart', 'two');
    guest.apply(one, [apple]);
    expect(guest.query(two, 'get', 'null')).toEqual({
      ok: '{"id":"two","items":[],"checkedOut":false}',
    });
  });

  test('a command may persist and then delete', () => {
    const cart = guest.open('shopping-cart', 'c1');
    expect(guest.command(cart, 'remove', 'null')).toEqual({
      ok: {
        events: [{ manifest: 'cart-event', json: '{"type":"removed"}' }],
        deleteEntity: true,
        reply: 'null',
        timers: [],
      },
    });
  });

  test('a refusal has a code and a message, BAD_REQUEST when the handler gives none', () => {
    const cart = guest.open('shopping-cart', 'c1');
    const none = { otherCode: '', details: undefined };
    expect(guest.command(cart, 'add-item', '{"sku":"apple","quantity":0}')).toEqual({
      refused: { code: CODES.badRequest, message: 'quantity: must be positive', ...none },
    });
    expect(guest.command(cart, 'check-out', 'null')).toEqual({
      refused: { code: CODES.conflict, message: 'the cart is empty', ...none },
    });
    guest.apply(cart, [apple, checkedOut]);
    expect(guest.command(cart, 'add-item', '{"sku":"apple","quantity":1}')).toEqual({
      refused: { code: CODES.conflict, message: 'the cart is checked out', ...none },
    });
    expect(guest.query(cart, 'item', '{"sku":"pear"}')).toEqual({
      refused: { code: CODES.notFound, message: "the cart has no 'pear'", ...none },
    });
  });

  test('an input that does not decode is refused with its path', () => {
    const cart = guest.open('shopping-cart', 'c1');
    expect(guest.command(cart, 'add-item', '{"sku":"apple","quantity":2.5}')).toMatchObject({
      refused: {
        code: CODES.badRequest,
        message: 'quantity: must be an integer from -2147483648 to 2147483647, found 2.5',
      },
    });
  });

  test('a name that is not declared is refused as not found', () => {
    const cart = guest.open('shopping-cart', 'c1');
    for (const name of ['nothing', 'get', 'addItem', ''])
      expect(guest.command(cart, name, 'null')).toMatchObject({
        refused: { code: CODES.notFound },
      });
    expect(guest.query(cart, 'add-item', 'null')).toMatchObject({
      refused: {
        code: CODES.notFound,
        message: "component 'shopping-cart' has no query 'add-item'",
      },
    });
  });

  test('a stored event that does not decode is named, with those before it applied', () => {
    const cart = guest.open('shopping-cart', 'c1');
    const bad = (json: string): string | undefined =>
      guest.apply(cart, [apple, { manifest: 'cart-event', json }, apple]);
    expect(bad('{"type":"item-added","sku":"apple"}')).toBe('event 2 of 3: quantity: is missing');
    expect(bad('{"sku":"apple","quantity":1}')).toBe('event 2 of 3: type: is missing');
    expect(bad('{"type":"stolen"}')).toMatch(
      /^event 2 of 3: type: must be "item-added" or .* found "stolen"$/,
    );
    expect(bad('{"type":"item-added"')).toMatch(/^event 2 of 3: .*is not JSON/);
    expect(guest.apply(cart, [{ manifest: 'other-event', json: apple.json }])).toBe(
      "event 1 of 1: its manifest is 'other-event', this module stores 'cart-event': if that class was renamed, write @data(\"other-event\") before it",
    );
  });

  test('a snapshot opens an entity in the state that it had', () => {
    const cart = guest.open('shopping-cart', 'c1');
    guest.apply(cart, [apple, checkedOut]);
    const again = guest.open('shopping-cart', 'c1', guest.snapshot(cart));
    expect(guest.snapshot(again)).toBe(
      '{"items":[{"sku":"apple","quantity":2}],"checkedOut":true}',
    );
    expect(() => guest.open('shopping-cart', 'c1', '{"items":5}')).toThrow(
      WebAssembly.RuntimeError,
    );
  });

  test('a component that is not registered cannot be opened', () => {
    expect(() => guest.open('Cart', 'c1')).toThrow(WebAssembly.RuntimeError);
    expect(guest.takeLog().at(-1)?.message).toMatch(
      /^abort: component 'Cart' is not registered at /,
    );
  });
});

describe('an endpoint', () => {
  test('a handler calls an entity, and the metadata of the request goes along', () => {
    const metadata = [
      ['traceparent', '00-1-2-01'],
      ['tracestate', 'é=1'],
    ] as const;
    const request = {
      route: 1,
      parameters: ['c 1'],
      body: { json: '{"sku":"apple","quantity":2}' },
    };
    expect(guest.handle(request, { metadata })).toEqual({
      ok: {
        status: 200,
        headers: [],
        body: { kind: 'json', content: '{"id":"c1","items":[],"checkedOut":false}' },
      },
    });
    expect(calls).toEqual([
      {
        component: 'shopping-cart',
        id: 'c 1',
        name: 'add-item',
        input: '{"sku":"apple","quantity":2,"note":""}',
        metadata: metadata.map((pair) => [...pair]),
        idempotencyKey: undefined,
      },
    ]);
  });

  test('a Done is answered with 204 and no body', () => {
    answer = { ok: 'null' };
    expect(guest.handle({ route: 4, parameters: ['c1'] })).toEqual({
      ok: { status: 204, headers: [], body: { kind: 'none', content: '' } },
    });
  });

  test('a refusal of the entity is the answer, with code, message and details', () => {
    const refused = { code: 7, otherCode: 'SOLD_OUT', message: 'no', details: '{"left":0}' };
    answer = { refused };
    expect(guest.handle({ route: 0, parameters: ['c1'] })).toEqual({ refused });
    answer = { refused: { code: 4, otherCode: '', message: 'é', details: undefined } };
    expect(guest.handle({ route: 0, parameters: ['c1'] })).toEqual(answer);
  });

  test('a call that gave no reply says why in its code', () => {
    const answers: readonly [CallAnswer, object][] = [
      [{ denied: 'not from here' }, { code: CODES.forbidden, message: 'not from here' }],
      [{ unavailable: 'later' }, { code: CODES.other, otherCode: 'UNAVAILABLE', message: 'later' }],
      [{ timedOut: true }, { code: CODES.other, otherCode: 'TIMED_OUT' }],
      [{ other: 'broken' }, { code: CODES.other, otherCode: 'INTERNAL', message: 'broken' }],
    ];
    for (const [given, refused] of answers) {
      answer = given;
      expect(guest.handle({ route: 0, parameters: ['c1'] })).toMatchObject({ refused });
    }
  });

  test('a reply that the handler only passes on is not decoded', () => {
    answer = { ok: '{"id":1}' };
    expect(guest.handle({ route: 0, parameters: ['c1'] })).toMatchObject({
      ok: { status: 200, body: { kind: 'json', content: '{"id":1}' } },
    });
  });

  test('a body that does not decode is refused and no entity is called', () => {
    for (const body of ['{"sku":"a","quantity":"2"}', '{"sku":"a"', '', 'null'])
      expect(guest.handle({ route: 1, parameters: ['c1'], body: { json: body } })).toMatchObject({
        refused: { code: CODES.badRequest },
      });
    expect(guest.handle({ route: 1, parameters: ['c1'] })).toMatchObject({
      refused: { code: CODES.badRequest, message: 'body: is missing' },
    });
    expect(calls).toEqual([]);
  });
});

test('memory stays flat over many commands and entities', () => {
  const cart = guest.open('shopping-cart', 'c1');
  const run = (rounds: number): void => {
    for (let round = 0; round < rounds; round++) {
      guest.command(cart, 'add-item', '{"sku":"apple","quantity":2}');
      const other = guest.open('shopping-cart', `c${round}`);
      guest.apply(other, [apple]);
      guest.drop(other);
    }
  };
  run(5000);
  const after = guest.memoryBytes;
  run(15_000);
  expect(guest.memoryBytes).toBe(after);
  expect(after).toBeLessThanOrEqual(1024 * 1024);
});

test('an ordinary request needs no more memory than the instance begins with', () => {
  const items = Array.from({ length: 100 }, (_, index) => ({ sku: `sku-${index}`, quantity: 1 }));
  const reply = JSON.stringify({ id: 'c1', items, checkedOut: false });
  const own = new CoreGuest(module, { call: () => ({ ok: reply }) });
  const before = own.memoryBytes;
  expect(before).toBe(65_536);
  const headers = Array.from({ length: 15 }, (_, n) => [`name-${n}`, 'v'.repeat(60)] as const);
  const body = { json: '{"sku":"apple","quantity":2}' };
  const response = own.handle({ route: 1, parameters: ['c1'], headers, body });
  expect(response).toMatchObject({ ok: { status: 200, body: { content: reply } } });
  expect(own.memoryBytes).toBe(before);
});
