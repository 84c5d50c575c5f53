// The environment of a module: the log, abort, time, random numbers; and what remains of it after a trap.
import { inspectModule } from '@svc/host/tools';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { compileFixture, compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';

const [DEBUG, INFO, WARN, ERROR] = [0, 1, 2, 3];

let module: WebAssembly.Module;
let guest: CoreGuest;
let entity: number;
/** Names of the handlers, in the order of their routes. */
let handlers: readonly string[];

const routeOf = (handler: string) => handlers.indexOf(handler);

beforeAll(async () => {
  module = new WebAssembly.Module(await compileFixtureCore('faulty'));
  const { descriptor } = inspectModule(await compileFixture('faulty'));
  handlers = descriptor!.endpoints.flatMap(({ routes }) => routes.map(({ handler }) => handler));
});

beforeEach(() => {
  guest = new CoreGuest(module, { nowMs: () => 1_700_000_000_123n });
  entity = guest.open('faulty', 'one');
});

test('console writes to the log with its level, oldest first', () => {
  guest.command(entity, 'log', '{"text":"é\\ud83d\\ude00"}');
  expect(guest.takeLog()).toEqual([
    { level: DEBUG, message: 'debug é😀' },
    { level: INFO, message: 'log é😀' },
    { level: INFO, message: 'info é😀' },
    { level: WARN, message: 'warn é😀' },
    { level: ERROR, message: 'error é😀' },
    { level: ERROR, message: 'assertion failed: é😀' },
    { level: DEBUG, message: 'é😀 1.0 2.5' },
  ]);
  expect(guest.takeLog()).toEqual([]);
});

test('a log beyond a thousand lines is cut, and says so', () => {
  guest.command(entity, 'log-often', '{"amount":1500}');
  const lines = guest.takeLog();
  expect(lines.length).toBe(1001);
  expect(lines[999]?.message).toBe('999');
  expect(lines[1000]).toEqual({ level: WARN, message: '500 lines of the log were dropped' });
  guest.command(entity, 'log-often', '{"amount":1}');
  expect(guest.takeLog()).toEqual([{ level: INFO, message: '0' }]);
});

test('lines that nobody took survive a collection', () => {
  guest.command(entity, 'log', '{"text":"kept"}');
  for (let round = 0; round < 20; round++)
    guest.command(entity, 'large-reply', '{"amount":200000}');
  expect(guest.takeLog().map((line) => line.message)).toContain('warn kept');
});

test('the last words of a module name the message, the file and the line', () => {
  guest.command(entity, 'log', '{"text":"before"}');
  expect(() => guest.command(entity, 'boom', '{"text":"böse"}')).toThrow(WebAssembly.RuntimeError);
  const lines = guest.takeLog();
  expect(lines[0]?.message).toBe('debug before');
  expect(lines.at(-1)).toEqual({
    level: ERROR,
    message: expect.stringMatching(/^abort: böse at index\.ts:\d+:\d+$/),
  });
});

test('a trap in a handler, a query, and in folding leave their last words too', () => {
  expect(
    last(() => guest.handle({ route: routeOf('boom'), body: { json: '{"text":"here"}' } })),
  ).toMatch(/^abort: here at index/);
  expect(last(() => guest.query(entity, 'boom-query', 'null'))).toMatch(
    /^abort: boom in a query at index/,
  );
  expect(
    last(() => guest.apply(entity, [{ manifest: 'faulty-event', json: '{"type":"poison"}' }])),
  ).toMatch(/^abort: poisoned at/);
  expect(last(() => guest.open('faulty', 'unborn'))).toMatch(
    /^abort: no empty state for unborn at/,
  );
  expect(last(() => guest.command(entity, 'not-a-number', 'null'))).toMatch(
    /^abort: a number that is not finite \(NaN\) cannot be written as JSON at/,
  );
});

test('endless recursion and endless memory end in a trap, and the log can still be taken', () => {
  for (const name of ['recurse', 'hog']) {
    guest = new CoreGuest(module);
    entity = guest.open('faulty', 'one');
    guest.command(entity, 'log', '{"text":"before"}');
    expect(() => guest.command(entity, name, 'null')).toThrow(/unreachable|call stack/);
    expect(guest.takeLog()[0]?.message).toBe('debug before');
    expect(guest.memoryBytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  }
});

test('Date.now() is the clock of the runtime, the context has the recorded time', () => {
  const result = guest.command(entity, 'ambient', 'null', { nowMs: 1_600_000_000_000n });
  expect(reply(result)).toMatchObject({ dateMs: 1_700_000_000_123, contextMs: 1_600_000_000_000 });
});

test('Math.random() is the same for the same seed, and another for another', () => {
  const draw = (seed: bigint): unknown => {
    const { random, random2 } = reply(guest.command(entity, 'ambient', 'null', { seed }));
    expect(random).not.toBe(random2);
    return [random, random2];
  };
  const first = draw(42n);
  expect(draw(43n)).not.toEqual(first);
  guest.command(entity, 'log', '{"text":"between"}');
  expect(draw(42n)).toEqual(first);
  expect(draw(0n)).toEqual(draw(0n));
  expect(draw(0xffff_ffff_ffff_ffffn)).not.toEqual(draw(0x7fff_ffff_ffff_ffffn));
  const query = guest.query(entity, 'ambient-query', 'null', { seed: 42n });
  const handled = guest.handle({ route: routeOf('ambient') }, { seed: 42n });
  if (!('ok' in query) || !('ok' in handled)) throw new Error('refused');
  const drawn = [JSON.parse(query.ok), JSON.parse(handled.ok.body.content)] as {
    random: number;
    random2: number;
  }[];
  for (const { random, random2 } of drawn) expect([random, random2]).toEqual(first);
});

test('a handler reads the acknowledged events of an entity, and sends a command once', () => {
  const asked: unknown[] = [];
  let events: string | readonly string[] = ['{"type":"counted","by":3}', '{"type":"poison"}'];
  const keys: (string | undefined)[] = [];
  guest = new CoreGuest(module, {
    readEvents: (id, afterSeq, limit) => {
      asked.push([id, afterSeq, limit]);
      return events;
    },
    call: (call) => {
      keys.push(call.idempotencyKey);
      return { ok: '{"count":1}' };
    },
  });
  const history = { route: routeOf('history'), parameters: ['one', '18446744073709551615', '50'] };
  expect(guest.handle(history)).toMatchObject({
    ok: { body: { content: '["1@1000: 3","2@1001: 0"]' } },
  });
  expect(asked).toEqual([['one', 18_446_744_073_709_551_615n, 50]]);
  events = ['{"type":"counted"}'];
  expect(guest.handle(history)).toMatchObject({
    refused: { otherCode: 'INTERNAL', message: 'event 1 does not decode: by: is missing' },
  });
  events = 'not yours';
  expect(guest.handle(history)).toMatchObject({
    refused: { otherCode: 'INTERNAL', message: 'not yours' },
  });
  guest.handle({ route: routeOf('countOnce'), parameters: ['one', 'ké'] });
  guest.handle({ route: routeOf('count'), parameters: ['one', '1'] });
  expect(keys).toEqual(['ké', undefined]);
});

test('many events of one command arrive in order', () => {
  const result = guest.command(entity, 'count-often', '{"amount":1000}');
  expect('ok' in result && result.ok.events.length).toBe(1000);
});

/** Returns the abort message of a call that traps, on its own instance. */
function last(call: () => unknown): string | undefined {
  guest = new CoreGuest(module);
  entity = guest.open('faulty', 'one');
  expect(call).toThrow(WebAssembly.RuntimeError);
  return guest.takeLog().at(-1)?.message;
}

function reply(result: ReturnType<CoreGuest['command']>): Record<string, unknown> {
  if (!('ok' in result)) throw new Error(result.refused.message);
  return JSON.parse(result.ok.reply) as Record<string, unknown>;
}
