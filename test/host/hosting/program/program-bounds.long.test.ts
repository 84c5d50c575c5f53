// Nothing that a program does keeps a tool waiting or ends it.
import { describe, expect, test } from 'vitest';
import { readProgram } from '../../../../host/hosting/program/program-source.ts';
import {
  COUNTED,
  counter,
  counterOf,
  faultOf,
  program,
  SOON,
  viewsOf,
} from './support/programs.ts';

const CALL = { nowMs: 1, seed: 1n, metadata: [] };

const event = (id: string) => ({
  entity: { component: 'counter', id },
  seq: 1,
  timeMs: 1,
  event: COUNTED,
});
const folding = (...ids: readonly string[]) =>
  ids.map((id, index) => ({ event: event(id), rows: [index] }));
const empty = (key: string) => ({ key, json: undefined });
const row = (key: string) => ({ key, json: '{"count":1}' });

describe('a file', () => {
  test.each([
    ['loops', 'for (;;) ;'],
    ['waits', 'await new Promise(() => setInterval(() => {}, 1000));'],
  ])('that %s for ever is given up', (_what, text) => {
    const limits = { ...SOON, loadTimeoutMs: 1_000 };
    expect(() => readProgram(program(text), limits)).toThrow(/was not loaded within 1000 ms/);
  });
});

describe('an entity', () => {
  test.each([
    ['loops', 'for (;;) ;', 'time', /^apply of component 'counter' did not return within 1000 ms/],
    ['ends the process', 'process.exit(7);', 'trap', /the program called process\.exit\(7\)$/],
    [
      'runs out of memory',
      'const all = []; for (;;) all.push(new Array(1e6).fill(1.5));',
      'time',
      /did not return within \d+ ms: it computes for too long, or has run out of memory/,
    ],
  ])('that %s takes no other one along', async (_what, apply, faultCause, message) => {
    const { open } = counterOf(counter(`if (state.count > 0) { ${apply} }`));
    const [entity, other] = [await open(), await open()];
    entity.apply([COUNTED], undefined);
    expect(entity.snapshot()).toBe('{"count":1}');
    const fault = faultOf(() => entity.apply([COUNTED], undefined));
    expect(fault).toMatchObject({ faultCause, message: expect.stringMatching(message) as string });
    // Both were in the thread that was ended, and are opened again in another one.
    expect([entity.lost, other.lost]).toEqual([true, true]);
    const again = await open();
    again.apply([COUNTED], undefined);
    expect(again.snapshot()).toBe('{"count":1}');
  });

  test('that ends its thread again and again ends the tool with an error', async () => {
    const { open, file } = counterOf(counter('process.exit(1);'));
    for (let time = 0; time < 4; time++) {
      const entity = await open();
      faultOf(() => entity.apply([COUNTED], undefined));
    }
    const failure = await open().catch(String);
    expect(failure).toContain(`${file}: Its code has ended the thread in which it runs 4 times`);
    expect(failure).toContain(
      "the last time: apply of component 'counter' ended its thread: the program",
    );
  });

  test('whose command throws later than it returns is lost with its next call', async () => {
    const { open } = counterOf(counter('', 'setTimeout(() => { throw new Error("later"); }, 0);'));
    const entity = await open();
    expect(entity.command(CALL, 'count', 'null')).toMatchObject({ kind: 'effect' });
    const fault = () => {
      // The timer may not have fired yet.
      for (;;) entity.snapshot();
    };
    expect(faultOf(fault).message).toMatch(/threw an error that nobody caught \(Error: later/);
  });
});

describe('a view', () => {
  test.each([
    ['loops', 'for (;;) ;', 'time', /^the fold of view 'counts' did not return within 1000 ms/],
    ['ends the process', 'process.exit(7);', 'trap', /the program called process\.exit\(7\)$/],
  ])(
    'that %s at an event folds the others, and is not called with the event again',
    async (_what, code, faultCause, message) => {
      const views = viewsOf(`if (entityId === 'c') { ${code} }`);
      const ids = ['a', 'b', 'c', 'd'];
      const rows = ids.map(empty);
      // Each call again would end one of the four threads.
      for (let time = 0; time < 8; time++)
        expect(faultOf(() => views.fold('counts', rows, folding(...ids)))).toMatchObject({
          faultCause,
          message: expect.stringMatching(message) as string,
        });
      expect(views.fold('counts', [empty('a'), empty('b')], folding('a', 'b'))).toEqual([
        row('a'),
        row('b'),
      ]);
      expect(views.keys('counts', ids.map(event))).toEqual(ids.map((id) => [id]));
    },
  );

  test('whose keys loop at an event is not called with the event again', () => {
    const views = viewsOf('', "if (entityId === 'b') for (;;) ;");
    for (let time = 0; time < 8; time++)
      expect(faultOf(() => views.keys('counts', ['a', 'b', 'c'].map(event)))).toMatchObject({
        faultCause: 'time',
        message: expect.stringMatching(/^the keys of view 'counts' did not return/) as string,
      });
    expect(views.keys('counts', ['a', 'c'].map(event))).toEqual([['a'], ['c']]);
  });

  test('that takes long for several events together folds them', () => {
    const views = viewsOf('const endMs = Date.now() + 400; while (Date.now() < endMs) ;');
    const events = [...folding('a', 'b'), { event: event('c'), rows: [1, 2] }];
    expect(views.fold('counts', [empty('a'), empty('b'), empty('c')], events)).toEqual([
      row('a'),
      { key: 'b', json: '{"count":2}' },
      row('c'),
    ]);
  });
});
