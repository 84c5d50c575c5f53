// EntityInstances: the results of an entity's functions, failing calls, and which entities a fault loses.
import { describe, expect, test } from 'vitest';
import type { CallContext } from '../../../../../model/call.ts';
import { counter } from '../support/counter.ts';
import type { GuestParts } from '../support/guest-module.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';

const COUNTED = { manifest: 'counted', json: '{"type":"counted"}' };
const small = { commandFuel: 100_000, queryFuel: 100_000, handlerFuel: 100_000 };

describe('an entity', () => {
  test('decides, folds, answers and takes a snapshot', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    expect(entity.command(CONTEXT, 'add', '{}')).toEqual({
      kind: 'effect',
      events: [COUNTED],
      actions: [],
      reply: '1',
    });
    expect(entity.query(CONTEXT, 'get', '')).toEqual({ kind: 'reply', json: '0' });
    expect(entity.apply([COUNTED, COUNTED], undefined)).toBeUndefined();
    expect(entity.apply([], undefined)).toBeUndefined();
    expect(entity.query(CONTEXT, 'get', '')).toEqual({ kind: 'reply', json: '2' });
    expect(entity.snapshot()).toBe('2');
  });

  test('begins from a snapshot when there is one', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), '41');
    await entity.apply([COUNTED], undefined);
    expect(entity.snapshot()).toBe('42');
  });

  test('may ask for its deletion', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    expect(entity.command(CONTEXT, 'delete', '')).toMatchObject({
      actions: [{ kind: 'delete-entity' }],
      events: [],
    });
  });

  test('refuses with a code, a message and details, or with a code of its own', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    expect(entity.command(CONTEXT, 'refuse', '')).toEqual({
      kind: 'refusal',
      code: 'CONFLICT',
      message: 'not now',
      details: '{"n":1}',
    });
    expect(entity.command(CONTEXT, 'other', '')).toEqual({
      kind: 'refusal',
      code: 'OTHER',
      otherCode: 'odd',
      message: 'not now',
    });
    expect(entity.query(CONTEXT, 'refuse', '')).toEqual({
      kind: 'refusal',
      code: 'NOT_FOUND',
      message: 'not now',
    });
  });

  test('says which event it cannot decode', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    expect(entity.apply([{ manifest: 'counted', json: 'oops' }], undefined)).toBe('bad event');
  });

  test('receives the recorded time, the seed and the metadata of its call', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    const context: CallContext = { ...CONTEXT, metadata: [['traceparent', '00-1']] };
    expect(entity.command(context, 'clock', '')).toMatchObject({ reply: '1700000000000' });
    expect(entity.query(context, 'clock', '')).toEqual({ kind: 'reply', json: '1700000000000' });
    expect(entity.command(context, 'z', '')).toMatchObject({ reply: String(2n ** 64n - 1n) });
    expect(entity.command(context, 'meta', '')).toMatchObject({ reply: 'traceparent' });
  });

  test('writes to the log in the name of its component', async () => {
    const { entities, lines } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    await entity.command(CONTEXT, 'log', '');
    await entity.query(CONTEXT, 'get', '');
    const source = 'component counter';
    expect(lines).toEqual([
      { level: 'info', message: 'hello', source },
      { level: 'error', message: 'a\nb', source },
    ]);
  });
});

describe('a command', () => {
  test.each([
    ['that traps', 'trap', 'trap'],
    ['that spins in a loop', 'spin', 'fuel'],
    ['that spins through a table', 'indirect', 'fuel'],
    ['that takes all memory', 'grow', 'memory'],
    ['that calls a component', 'nested', 'limit'],
    ['that reads a journal', 'journal', 'trap'],
  ])('%s is a fault, and its entity is lost', async (_what, name, cause) => {
    const { entities } = await liveGuest(counter, { ...small, memoryPagesMax: 8 });
    const entity = await entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.command(CONTEXT, name, ''));
    expect(fault.faultCause).toBe(cause);
    expect(entity.lost).toBe(true);
    expect((await faultOf(() => entity.query(CONTEXT, 'get', ''))).faultCause).toBe('trap');
    expect((await faultOf(() => entity.snapshot())).message).toMatch(/lost/);
    entity.close();
  });

  test('that recurses without end runs out of stack or fuel', async () => {
    const { entities } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => entity.command(CONTEXT, 'f', ''))).faultCause).toBe('stack');
    const poor = await liveGuest(counter, { commandFuel: 1000 });
    const other = await poor.entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => other.command(CONTEXT, 'f', ''))).faultCause).toBe('fuel');
  });

  test('that aborts leaves its last words to the fault, and its lines to the log', async () => {
    const { entities, lines } = await liveGuest(counter);
    const entity = await entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.command(CONTEXT, 'boom', ''));
    expect(fault.guestMessage).toBe('abort: boom at counter.ts:3:5');
    expect(fault.message).not.toContain('boom');
    expect(fault.logLines).toEqual(['hello']);
    expect(lines.map(({ message }) => message)).toEqual(['hello']);
  });

  test('that traps after an earlier one found no memory is a trap', async () => {
    const { entities } = await liveGuest({
      query: '(drop (memory.grow (i32.const 65000))) (call $clear)',
      command: 'unreachable',
    });
    const entity = await entities.open(entityRef('a'), undefined);
    await entity.query(CONTEXT, 'q', '');
    expect((await faultOf(() => entity.command(CONTEXT, 'c', ''))).faultCause).toBe('trap');
  });

  test('has its fuel anew each time', async () => {
    const { entities } = await liveGuest(counter, small);
    const entity = await entities.open(entityRef('a'), undefined);
    for (let turn = 0; turn < 20_000; turn++) await entity.command(CONTEXT, 'add', '{}');
    expect(entity.lost).toBe(false);
  });
});

describe('other calls', () => {
  const now = '(drop (call $now-ms))';

  test.each([
    ['the constructor', { construct: `${now} (i32.const 1)` }],
    ['folding', { apply: `${now} (call $clear)` }],
    ['a snapshot', { snapshot: `${now} (call $clear)` }],
    ['realloc', { realloc: `${now} (i32.const 4096)` }],
    [
      'the log',
      {
        takeLog: `(if (i32.eq (i32.load (i32.const 8)) (i32.const 1)) (then ${now})) (drop (call $clear)) (i32.const 16)`,
        snapshot: '(i32.store (i32.const 8) (i32.const 1)) (call $clear)',
      },
    ],
  ])('reach no clock: %s', async (_what, parts) => {
    const { entities } = await liveGuest(parts);
    const fault = await faultOf(async () => {
      const entity = await entities.open(entityRef('a'), undefined);
      await entity.apply([COUNTED], undefined);
      await entity.snapshot();
    });
    expect(fault.faultCause).toBe('trap');
    expect(fault.message).toContain('clock.now-ms');
  });

  test('reach no host from realloc while a command may', async () => {
    const realloc = '(if (i32.load (i32.const 8)) (then (drop (call $now-ms)))) (i32.const 4096)';
    const { entities } = await liveGuest({
      realloc,
      snapshot: '(i32.store (i32.const 8) (i32.const 1)) (call $clear)',
    });
    const entity = await entities.open(entityRef('a'), undefined);
    await entity.snapshot();
    expect((await faultOf(() => entity.command(CONTEXT, 'c', ''))).faultCause).toBe('trap');
  });

  test('have fuel for each event of a batch', async () => {
    const work = `(local $n i32) (local.set $n (i32.mul (local.get $count) (i32.const 1000)))
      (loop $l (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1))))) (call $clear)`;
    const { entities } = await liveGuest({ apply: work }, { applyFuelPerEvent: 2000 });
    const entity = await entities.open(entityRef('a'), undefined);
    await entity.apply(
      Array.from({ length: 100 }, () => COUNTED),
      undefined,
    );
    const poor = await liveGuest({ apply: work }, { applyFuelPerEvent: 500 });
    const other = await poor.entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => other.apply([COUNTED], undefined))).faultCause).toBe('fuel');
  });
});

describe('handles of resources', () => {
  test.each([
    ['an entity that was never made', { construct: '(i32.const 1)' }],
    ['handle 0', { construct: '(drop (call $resource-new (i32.const 1))) (i32.const 0)' }],
    [
      'a dropped handle',
      {
        construct:
          '(local $h i32) (call $resource-drop (local.tee $h (call $resource-new (i32.const 1)))) (local.get $h)',
      },
    ],
    ['the rep of no handle', { construct: '(call $resource-rep (i32.const 99))' }],
    [
      'a handle that was given away',
      {
        construct: '(call $resource-new (i32.const 1))',
        snapshot: '(call $resource-rep (i32.const 1))',
      },
    ],
  ])('that lie are a fault: %s', async (_what, parts) => {
    const { entities } = await liveGuest(parts);
    const fault = await faultOf(async () => {
      const entity = await entities.open(entityRef('a'), undefined);
      await entity.snapshot();
    });
    expect(fault.faultCause).toBe('value');
  });

  test('have a limit', async () => {
    const construct = '(loop $l (drop (call $resource-new (i32.const 1))) (br $l)) unreachable';
    const { entities } = await liveGuest({ construct });
    const fault = await faultOf(() => entities.open(entityRef('a'), undefined));
    expect(fault.faultCause).toBe('limit');
  });

  test('may be made and dropped by the module, whose destructor then runs', async () => {
    const { entities } = await liveGuest({
      construct: `(call $resource-drop (call $resource-new (i32.const 5)))
        (call $resource-rep (call $resource-new (i32.const 1))) (drop)
        (call $resource-new (i32.const 3))`,
      destroy: '(i32.store (i32.const 4096) (local.get $rep))',
      snapshot: `(drop (call $clear))
        (i32.store8 (i32.const 4100) (i32.add (i32.const 48) (i32.load (i32.const 4096))))
        (i32.store8 (i32.const 4101) (i32.add (i32.const 48) (local.get $rep)))
        (i32.store (i32.const 16) (i32.const 4100)) (i32.store (i32.const 20) (i32.const 2)) (i32.const 16)`,
    });
    const entity = await entities.open(entityRef('a'), undefined);
    expect(entity.snapshot()).toBe('53');
  });

  test('that drop each other for ever end in a fault', async () => {
    const { entities } = await liveGuest({
      destroy: '(call $resource-drop (call $resource-new (i32.const 1)))',
      construct: '(call $resource-drop (call $resource-new (i32.const 1))) (i32.const 1)',
    });
    const fault = await faultOf(() => entities.open(entityRef('a'), undefined));
    expect(['stack', 'limit']).toContain(fault.faultCause);
  });
});

describe('instances', () => {
  test('hold several entities, and a fault of one loses them all and no others', async () => {
    const { entities } = await liveGuest(counter, { entitiesPerInstance: 2 });
    const open = (id: string) => entities.open(entityRef(id), undefined);
    const [a, b, c] = [await open('a'), await open('b'), await open('c')];
    await c.apply([COUNTED], undefined);
    await faultOf(() => a.command(CONTEXT, 'trap', ''));
    expect([a.lost, b.lost, c.lost]).toEqual([true, true, false]);
    expect(c.query(CONTEXT, 'get', '')).toEqual({ kind: 'reply', json: '1' });
    const again = await open('a');
    expect(again.query(CONTEXT, 'get', '')).toEqual({ kind: 'reply', json: '0' });
  });

  test('take new entities after closing others, the older instances too', async () => {
    const { entities } = await liveGuest(counter, { entitiesPerInstance: 2 });
    const open = (id: string) => entities.open(entityRef(id), undefined);
    const [a, b, c, d] = [await open('a'), await open('b'), await open('c'), await open('d')];
    a.close();
    const e = await open('e');
    d.close();
    const f = await open('f');
    await faultOf(() => b.command(CONTEXT, 'trap', ''));
    expect([b.lost, e.lost, c.lost, f.lost]).toEqual([true, true, false, false]);
    b.close();
    e.close();
    const g = await open('g');
    await faultOf(() => c.command(CONTEXT, 'trap', ''));
    expect([f.lost, g.lost]).toEqual([true, false]);
  });

  test('are as few as the open entities need, however many come and go', async () => {
    // The first word of the memory counts what the instance received.
    const { entities } = await liveGuest(
      {
        construct: `(i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
          (call $resource-new (i32.const 1))`,
        snapshot: `(drop (call $clear))
          (i32.store8 (i32.const 4100) (i32.add (i32.const 48) (i32.load (i32.const 8))))
          (i32.store (i32.const 16) (i32.const 4100)) (i32.store (i32.const 20) (i32.const 1)) (i32.const 16)`,
      },
      { entitiesPerInstance: 2 },
    );
    const staying = await entities.open(entityRef('a'), undefined);
    for (let turn = 0; turn < 8; turn++)
      (await entities.open(entityRef(`${turn}`), undefined)).close();
    expect(staying.snapshot()).toBe('9');
  });

  test('take no more entities once half of their memory is gone', async () => {
    const { entities } = await liveGuest(counter, { memoryPagesMax: 8 });
    const first = await entities.open(entityRef('a'), undefined);
    await first.query(CONTEXT, 'echo', 'x'.repeat(250_000));
    const second = await entities.open(entityRef('b'), undefined);
    await faultOf(() => first.command(CONTEXT, 'trap', ''));
    expect([first.lost, second.lost]).toEqual([true, false]);
  });

  test('run the destructor of a closed entity, whose fault is not the closer’s', async () => {
    const { entities } = await liveGuest({ destroy: 'unreachable' });
    const [a, b] = [
      await entities.open(entityRef('a'), undefined),
      await entities.open(entityRef('b'), undefined),
    ];
    a.close();
    a.close();
    expect(b.lost).toBe(true);
    expect((await entities.open(entityRef('c'), undefined)).lost).toBe(false);
  });

  test('are all lost when the guest is closed', async () => {
    const guest = await liveGuest(counter);
    const entity = await guest.entities.open(entityRef('a'), undefined);
    await guest.close();
    expect(entity.lost).toBe(true);
    await faultOf(() => entity.snapshot());
    await faultOf(() => guest.entities.open(entityRef('a'), undefined));
    await faultOf(() => guest.endpoints.handle(CONTEXT, request(0), hostCalls()));
  });
});

describe('the log of a module', () => {
  test('keeps its last lines, and cuts long ones', async () => {
    const guest = await liveGuest(logging(50, 100_000), { logLinesMax: 1 });
    const entity = await guest.entities.open(entityRef('a'), undefined);
    await entity.snapshot();
    expect(guest.lines.map(({ message }) => message.slice(0, 8))).toEqual([
      '49 lines',
      expect.any(String),
    ]);
    expect(guest.lines[1]!.message.length).toBeLessThan(20_000);
  });

  test.each([
    ['a level that there is not', logging(1, 0, 4)],
    ['lines out of the memory', logging(-1, 0)],
    ['a message out of the memory', logging(1, -1)],
  ])('with %s is a fault', async (_what, parts) => {
    const { entities } = await liveGuest(parts);
    const entity = await entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => entity.snapshot())).faultCause).toBe('value');
  });

  test('that spins after a trap is left alone', async () => {
    const { entities } = await liveGuest({
      command: '(i32.store (i32.const 8) (i32.const 1)) unreachable',
      takeLog: '(loop $l (br_if $l (i32.load (i32.const 8)))) (drop (call $clear)) (i32.const 16)',
    });
    const entity = await entities.open(entityRef('a'), undefined);
    const fault = await faultOf(() => entity.command(CONTEXT, 'c', ''));
    expect(fault.faultCause).toBe('trap');
    expect(fault.guestMessage).toBeUndefined();
  });
});

/** After a snapshot, the log has this many lines with the same text. */
function logging(count: number, length: number, level = 0): GuestParts {
  return {
    takeLog: `(i32.store8 (i32.const 4096) (i32.const ${level}))
      (i32.store (i32.const 4100) (i32.const 8192)) (i32.store (i32.const 4104) (i32.const ${length}))
      (i32.store (i32.const 16) (i32.const 4096)) (i32.store (i32.const 20) (i32.const ${count}))
      (if (i32.eqz (i32.load (i32.const 8))) (then (i32.store (i32.const 20) (i32.const 0))))
      (i32.const 16)`,
    snapshot: '(i32.store (i32.const 8) (i32.const 1)) (call $clear)',
  };
}
