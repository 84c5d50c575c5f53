// Views of a module: what `keys` and `fold` are given and answer, that they reach no import, and that no call sees what
// another left.
import { describe, expect, test } from 'vitest';
import type { RowState } from '../../../../../model/view.ts';
import { faultOf } from '../support/live-guest.ts';
import { type Field, StaticMemory } from '../support/static-memory.ts';
import { entityEvent, viewGuest } from '../support/view-guest.ts';

const EVENTS = [entityEvent('a', 7), entityEvent('ö', 1)];
const keyed = EVENTS.map((event) => ({ event, rows: [0] }));
const row = (key: string, json?: string): RowState => ({ key, json });
const ok = '(drop (call $clear))';
/** A result with a list of one row, whose key and text lie at the address that WAT computes. */
const rowOf = (key: string, json: string) => `${ok}
  (i32.store (i32.const 20) (i32.const 256)) (i32.store (i32.const 24) (i32.const 1))
  (i64.store align=4 (i32.const 256) (i64.load align=4 ${key}))
  (i32.store8 (i32.const 264) (i32.const 1))
  (i64.store align=4 (i32.const 268) (i64.load align=4 ${json}))
  (i32.const 16)`;
const rows = '(local.get $rows)';
const at = (base: string, offset: number) => `(i32.add ${base} (i32.const ${offset}))`;
/** The last event in a list of `keyed-event`s. */
const lastEvent =
  '(i32.add (local.get $events) (i32.mul (i32.sub (local.get $count) (i32.const 1)) (i32.const 56)))';

/** The fields of a list of this length, which lies in the module's memory. */
const listOf = (length: number): Field[] => [
  [0, { u32: 4096 }],
  [4, { u32: length }],
];

/** A guest whose functions answer this result, at whatever they are asked. */
async function answering(fields: readonly Field[], build = (_memory: StaticMemory) => fields) {
  const memory = new StaticMemory();
  const result = memory.record(12, build(memory));
  const body = `(i32.const ${result})`;
  return viewGuest({ fields: memory.data, keys: body, fold: body });
}
const answeringKeys = (keys: readonly (readonly string[])[]) =>
  answering([], (memory) =>
    memory.list(
      4,
      8,
      keys.map((texts) =>
        memory.list(
          0,
          8,
          texts.map((text) => [[0, text]]),
        ),
      ),
    ),
  );
const answeringRows = (found: readonly RowState[]) =>
  answering([], (memory) =>
    memory.list(
      4,
      20,
      found.map(({ key, json }) => [
        [0, key],
        ...(json === undefined
          ? []
          : ([
              [8, { u8: 1 }],
              [12, json],
            ] as const)),
      ]),
    ),
  );

describe('keys', () => {
  test('are lifted, a list for each event', async () => {
    const { views } = await answeringKeys([['k1', 'ü'], []]);
    expect(await views.keys('orders', EVENTS)).toEqual([['k1', 'ü'], []]);
  });

  test('may fail with a text about an event', async () => {
    const { views } = await answering([
      [0, { u8: 1 }],
      [4, 'event 7 of order a: no such type'],
    ]);
    expect(await views.keys('orders', EVENTS)).toBe('event 7 of order a: no such type');
  });

  test.each([0, 1, 3])('of %s events for two are a fault', async (count) => {
    const { views } = await answeringKeys(Array.from({ length: count }, () => ['k']));
    expect((await faultOf(() => views.keys('orders', EVENTS))).faultCause).toBe('value');
  });

  test('are given the view and each event, field by field', async () => {
    const fits = `(i32.eq (local.get $count) (i32.const 2))
      (i64.eq (i64.load offset=16 (local.get $events)) (i64.const 7)) i32.and
      (i64.eq (i64.load offset=72 (local.get $events)) (i64.const 1700000000001)) i32.and`;
    for (const [offset, text] of [
      [0, 'order'],
      [8, 'ö'],
      [32, 'order-event'],
      [40, '{"type":"placed","n":1}'],
    ] as const) {
      // The error's text is a text of the second event.
      const { views } = await viewGuest({
        fold: '(call $clear)',
        keys: `${fits} i32.eqz (if (then unreachable)) ${ok} (i32.store8 (i32.const 16) (i32.const 1))
          (i64.store align=4 (i32.const 20) (i64.load align=4 ${at('(local.get $events)', 48 + offset)}))
          (i32.const 16)`,
      });
      expect(await views.keys('orders', EVENTS)).toBe(text);
    }
  });

  test('with a length of 2^32 - 1 are a fault', async () => {
    const outer = await answering([
      [4, { u32: 4096 }],
      [8, { u32: 0xffff_ffff }],
    ]);
    expect((await faultOf(() => outer.views.keys('orders', EVENTS))).faultCause).toBe('value');
    const inner = await answering([], (memory) =>
      memory.list(4, 8, [listOf(1), listOf(0xffff_ffff)]),
    );
    expect((await faultOf(() => inner.views.keys('orders', EVENTS))).faultCause).toBe('value');
  });

  test('that show the same long list again and again meet the limit of lifted bytes', async () => {
    const MEGABYTE = 1024 * 1024;
    const list: Field[] = [
      [0, { u32: MEGABYTE }],
      [4, { u32: 8000 }],
    ];
    const memory = new StaticMemory();
    const many = Array.from({ length: 200 }, () => list);
    const result = memory.record(12, memory.list(4, 8, many));
    // The long list lies in memory that is zero: its texts are empty.
    const keys = `(drop (memory.grow (i32.const 32))) (i32.const ${result})`;
    const { views } = await viewGuest({ fields: memory.data, keys, fold: '(call $clear)' });
    const events = many.map((_, seq) => entityEvent('a', seq));
    const fault = await faultOf(() => views.keys('orders', events));
    expect([fault.faultCause, fault.limit]).toEqual(['limit', 'lifted-bytes']);
  });
});

describe('a fold', () => {
  test('is given rows and events with the rows that they concern, and answers changed rows', async () => {
    const given = [row('k0', '{"n":0}'), row('kü')];
    const events = [
      { event: EVENTS[0]!, rows: [0, 1] },
      { event: EVENTS[1]!, rows: [1] },
    ];
    // The key of the row that the last event names, and the text of the event.
    const named = `(i32.add ${rows} (i32.mul (i32.load (i32.load offset=48 ${lastEvent})) (i32.const 20)))`;
    const { views } = await viewGuest({
      keys: '(call $clear)',
      fold: `(if (i32.ne (i32.load offset=52 (local.get $events)) (i32.const 2)) (then unreachable))
        (if (i32.ne (local.get $rows-length) (i32.const 2)) (then unreachable))
        (if (i32.ne (i32.load8_u offset=8 ${rows}) (i32.const 1)) (then unreachable))
        (if (i32.load8_u offset=28 ${rows}) (then unreachable))
        ${rowOf(named, at(lastEvent, 40))}`,
    });
    expect(await views.fold('orders', given, events)).toEqual([
      row('kü', '{"type":"placed","n":1}'),
    ]);
  });

  test('is given the text of a row', async () => {
    const { views } = await viewGuest({
      keys: '(call $clear)',
      fold: rowOf(rows, at(rows, 12)),
    });
    expect(await views.fold('orders', [row('k0', '{"n":"é"}')], keyed)).toEqual([
      row('k0', '{"n":"é"}'),
    ]);
  });

  test('may remove rows, and leave rows as they are', async () => {
    const { views } = await answeringRows([row('b')]);
    const given = [row('a', '1'), row('b', '2')];
    expect(await views.fold('orders', given, keyed)).toEqual([row('b')]);
  });

  test('may fail with a text', async () => {
    const { views } = await answering([
      [0, { u8: 1 }],
      [4, 'the row k0 cannot be decoded'],
    ]);
    expect(await views.fold('orders', [row('k0')], keyed)).toBe('the row k0 cannot be decoded');
  });

  test.each([
    ['a foreign key', [row('c', '1')]],
    ['no key', [row('', '1')]],
    ['a row twice', [row('a', '1'), row('a', '2')]],
  ])('that answers %s is a fault', async (_what, found) => {
    const { views } = await answeringRows(found);
    const fault = await faultOf(() => views.fold('orders', [row('a'), row('b')], keyed));
    expect([fault.faultCause, fault.message]).toEqual([
      'value',
      'The module passed a row twice, or of a key that it was not given.',
    ]);
  });

  test.each<[string, readonly Field[]]>([
    ['a result of a third kind', [[0, { u8: 2 }]]],
    [
      '2^32 - 1 rows',
      [
        [4, { u32: 4096 }],
        [8, { u32: 0xffff_ffff }],
      ],
    ],
    [
      'rows outside the memory',
      [
        [4, { u32: 0x7fff_fff0 }],
        [8, { u32: 2 }],
      ],
    ],
    [
      'unaligned rows',
      [
        [4, { u32: 4098 }],
        [8, { u32: 1 }],
      ],
    ],
  ])('that answers %s is a fault', async (_what, fields) => {
    const { views } = await answering(fields);
    const fault = await faultOf(() => views.fold('orders', [row('a')], keyed));
    expect(fault.faultCause).toBe('value');
  });

  test.each<[string, readonly Field[]]>([
    [
      'an option of a text that is neither there nor not',
      [
        [0, 'a'],
        [8, { u8: 2 }],
      ],
    ],
    [
      'a key outside the memory',
      [
        [0, { u32: 0xffff_0000 }],
        [4, { u32: 9 }],
      ],
    ],
    [
      'a text that is not UTF-8',
      [
        [0, 'a'],
        [8, { u8: 1 }],
        [12, { u32: 8 }],
        [16, { u32: 1 }],
      ],
    ],
  ])('that answers a row with %s is a fault', async (_what, fields) => {
    const memory = new StaticMemory();
    const result = memory.record(12, memory.list(4, 20, [fields]));
    const fold = `(i32.store8 (i32.const 8) (i32.const 255)) (i32.const ${result})`;
    const { views } = await viewGuest({ fields: memory.data, keys: '(call $clear)', fold });
    const fault = await faultOf(() => views.fold('orders', [row('a')], keyed));
    expect(fault.faultCause).toBe('value');
  });
});

describe('the functions of a view', () => {
  test.each([
    ['clock.now-ms', '(drop (call $now-ms))'],
    ['clock.set-timer', '(call $set-timer (i32.const 4096) (i32.const 256))'],
    ['clock.cancel-timer', `(call $cancel-timer ${'(i32.const 0)'.repeat(7)})`],
    [
      'journal.read',
      '(call $read (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i32.const 1) (i32.const 256))',
    ],
    ['journal.find', `(call $find ${'(i32.const 0)'.repeat(11)})`],
    ['routing.call', `(call $call ${'(i32.const 0)'.repeat(14)})`],
  ])('reach no import: %s', async (name, call) => {
    const body = `${call} (call $clear)`;
    const { views } = await viewGuest({ keys: body, fold: body });
    for (const ask of [
      () => views.keys('orders', EVENTS),
      () => views.fold('orders', [row('a')], keyed),
    ]) {
      const fault = await faultOf(ask);
      expect(fault.faultCause).toBe('trap');
      expect(fault.message).toContain(`called ${name} where it may not be called`);
    }
  });

  test('see nothing that another call left', async () => {
    const fold = `(global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
      (if (i32.ne (i32.load (i32.const 8)) (i32.const 1)) (then unreachable))
      (if (i32.ne (global.get $calls) (i32.const 1)) (then unreachable))
      (call $clear)`;
    const fields = '(global $calls (mut i32) (i32.const 0))';
    const { views } = await viewGuest({ fields, keys: '(call $clear)', fold });
    for (let round = 0; round < 3; round++)
      expect(await views.fold('orders', [row('a')], keyed)).toEqual([]);
  });

  test('go on in a new instance after a fault', async () => {
    const fold = `(if (i32.gt_u (local.get $count) (i32.const 1)) (then unreachable)) (call $clear)`;
    const { views, guest } = await viewGuest({ keys: '(call $clear)', fold });
    const bytes = guest.numbers.memoryBytes;
    const fault = await faultOf(() => views.fold('orders', [row('a')], keyed));
    expect(fault.faultCause).toBe('trap');
    expect(guest.numbers.memoryBytes).toBe(bytes);
    expect(await views.fold('orders', [row('a')], keyed.slice(1))).toEqual([]);
  });

  test('have the fuel of folding, and tell how much they used', async () => {
    const { views } = await viewGuest(
      { keys: '(call $clear)', fold: '(loop (br 0)) unreachable' },
      { applyFuelPerEvent: 1000, applyFuelPerBatch: 1500 },
    );
    const spent = { fuel: 0 };
    const fault = await faultOf(() => views.fold('orders', [row('a')], keyed, spent));
    expect([fault.faultCause, fault.limit]).toEqual(['fuel', 'apply-fuel']);
    expect(spent.fuel).toBe(1500);
    await views.keys('orders', [], spent);
    expect(spent.fuel).toBeGreaterThan(1500);
  });

  test('fault once the guest is closed', async () => {
    const { views, guest } = await viewGuest({ keys: '(call $clear)', fold: '(call $clear)' });
    await views.keys('orders', []);
    await guest.close();
    expect((await faultOf(() => views.keys('orders', []))).message).toBe('The module was closed.');
  });
});

test('a module without views has none, and one with views makes no instance before it is asked', async () => {
  const without = await viewGuest({});
  expect([without.guest.views, without.guest.consumers]).toEqual([undefined, undefined]);
  const { guest, views } = await viewGuest({ keys: '(call $clear)', fold: '(call $clear)' });
  expect(guest.numbers.memoryBytes).toBe(without.guest.numbers.memoryBytes);
  await views.fold('orders', [], []);
  expect(guest.numbers.memoryBytes).toBeGreaterThan(without.guest.numbers.memoryBytes);
});
