// Timers of a module: changes in the effect of a command, and the calls of handlers that set and cancel them.
import { SvcError } from '@svc/kit/svc-error';
import { describe, expect, test } from 'vitest';
import type { HostCalls } from '../../../../../model/guest.ts';
import type { Timer } from '../../../../../model/timer.ts';
import {
  CONTEXT,
  entityRef,
  faultOf,
  hostCalls,
  liveGuest,
  request,
} from '../support/live-guest.ts';
import { type Field, StaticMemory } from '../support/static-memory.ts';

const version = '0.2.0';
/** The fields of a `timer` at an offset, without its due time. */
const timerAt = (at: number): readonly Field[] => [
  [at, 'expire'],
  [at + 8, 'order'],
  [at + 16, 'ö-1'],
  [at + 24, 'expire'],
  [at + 32, '{"a":1}'],
];
const TIMER = {
  name: 'expire',
  target: { component: 'order', id: 'ö-1' },
  command: 'expire',
  input: '{"a":1}',
};
const DUE: readonly (readonly [Timer['due'], readonly Field[]])[] = [
  [{ kind: 'at', atMs: 2 ** 40 }, [[8, 2n ** 40n]]],
  [
    { kind: 'after', afterMs: 900_000 },
    [
      [0, { u8: 1 }],
      [8, 900_000n],
    ],
  ],
  [
    { kind: 'every', everyMs: 1000 },
    [
      [0, { u8: 2 }],
      [8, 1000n],
    ],
  ],
  [
    { kind: 'cron', expression: '0 9 * * *', zone: 'Europe/Berlin' },
    [
      [0, { u8: 3 }],
      [8, '0 9 * * *'],
      [16, 'Europe/Berlin'],
    ],
  ],
];
const moved = (at: number, fields: readonly Field[]): readonly Field[] =>
  fields.map(([offset, value]) => [offset + at, value]);

/** A guest whose command has an effect with these changes of timers. */
async function deciding(changes: readonly (readonly Field[])[]) {
  const memory = new StaticMemory();
  const result = memory.record(36, [[16, 'null'], ...memory.list(24, 80, changes)]);
  const parts = { version, fields: memory.data, command: `(i32.const ${result})` } as const;
  const { entities } = await liveGuest(parts);
  return entities.open(entityRef('a'), undefined);
}
const decide = async (changes: readonly (readonly Field[])[]) =>
  (await deciding(changes)).command(CONTEXT, '', '');

describe('the effect of a command', () => {
  test('has changes of timers, in their order', async () => {
    const sets = DUE.map(([, fields]) => [...timerAt(8), ...moved(48, fields)]);
    const tried: readonly Field[] = [...sets[0]!, [72, { u8: 1 }], [76, { u32: 3 }]];
    const cancel: readonly Field[] = [
      [0, { u8: 1 }],
      [8, 'remind'],
    ];
    expect(await decide([...sets, cancel, tried])).toEqual({
      kind: 'effect',
      events: [],
      actions: [],
      reply: 'null',
      timers: [
        ...DUE.map(([due]) => ({ kind: 'set', timer: { ...TIMER, due, attempts: undefined } })),
        { kind: 'cancel', name: 'remind' },
        { kind: 'set', timer: { ...TIMER, due: DUE[0]![0], attempts: 3 } },
      ],
    });
  });

  test('has no list of timers if there are none', async () => {
    expect(await decide([])).not.toHaveProperty('timers');
  });

  test('of a module of version 0.1.0 has none, whatever lies behind its reply', async () => {
    const memory = new StaticMemory();
    const cancel: readonly Field[] = [
      [0, { u8: 1 }],
      [8, 'remind'],
    ];
    const result = memory.record(36, [[16, 'null'], ...memory.list(24, 80, [cancel])]);
    const { entities } = await liveGuest({
      fields: memory.data,
      command: `(i32.const ${result})`,
    });
    const entity = await entities.open(entityRef('a'), undefined);
    expect(await entity.command(CONTEXT, '', '')).not.toHaveProperty('timers');
  });

  test('keeps times beyond 2^53 large, so that the engine refuses them', async () => {
    const effect = await decide([[...timerAt(8), [56, 2n ** 64n - 1n]]]);
    expect(effect).toMatchObject({ timers: [{ timer: { due: { atMs: 2 ** 64 } } }] });
  });

  const fine: readonly Field[] = [...timerAt(8), [56, 1n]];
  test.each<[string, readonly Field[]]>([
    ['a change of a third kind', [...fine, [0, { u8: 2 }]]],
    ['a due time of a fifth kind', [...fine, [48, { u8: 4 }]]],
    ['attempts that are neither there nor not', [...fine, [72, { u8: 2 }]]],
    ['a name outside the memory', [...fine, [12, { u32: 0x7fff_ffff }]]],
    ['an input of half the address space', [...fine, [44, { u32: 0x8000_0000 }]]],
    [
      'a zone outside the memory',
      [...fine, [48, { u8: 3 }], [64, { u32: 0xffff_fff0 }], [68, { u32: 8 }]],
    ],
  ])('with %s is a fault of the module', async (_what, fields) => {
    const entity = await deciding([fields]);
    const fault = await faultOf(() => entity.command(CONTEXT, '', ''));
    expect(fault.faultCause).toBe('value');
  });

  test.each<[string, number, number]>([
    ['an unaligned list', 4100, 1],
    ['a list outside the memory', 0xffff_ff00, 3],
    ['2^32 - 1 changes', 4096, 0xffff_ffff],
  ])('with %s is a fault of the module', async (_what, pointer, length) => {
    const memory = new StaticMemory();
    const result = memory.record(36, [
      [16, 'null'],
      [24, { u32: pointer }],
      [28, { u32: length }],
    ]);
    const parts = { version, fields: memory.data, command: `(i32.const ${result})` } as const;
    const { entities } = await liveGuest(parts);
    const entity = await entities.open(entityRef('a'), undefined);
    expect((await faultOf(() => entity.command(CONTEXT, '', ''))).faultCause).toBe('value');
  });

  test('with more timers than a module may pass on is refused, and its instance lives on', async () => {
    const memory = new StaticMemory();
    const result = memory.record(36, [
      [16, 'null'],
      [24, { u32: 65_536 }],
      [28, { u32: 2000 }],
    ]);
    const command = `(drop (memory.grow (i32.const 4))) (i32.const ${result})`;
    const { entities } = await liveGuest(
      { version, fields: memory.data, command },
      { listItemsMax: 1999 },
    );
    const entity = await entities.open(entityRef('a'), undefined);
    expect(await entity.command(CONTEXT, '', '')).toMatchObject({
      kind: 'refusal',
      code: 'UNPROCESSABLE',
    });
    expect(entity.lost).toBe(false);
  });
});

/** Answers the bytes of the first two pages of the module's memory. */
const SHOW_MEMORY = `(drop (call $clear)) (i32.store16 (i32.const 20) (i32.const 200))
  (i32.store8 (i32.const 32) (i32.const 3)) (i32.store (i32.const 36) (i32.const 1))
  (i32.store (i32.const 40) (i32.const 131071)) (i32.const 16)`;
const RESULT = 256;

/** Runs a handler that makes a call of the host, and reads what the call has stored. */
async function handled(call: string, calls: Partial<HostCalls>, memory = new StaticMemory()) {
  const handle = `${call} ${SHOW_MEMORY}`;
  const { endpoints } = await liveGuest({ version, fields: memory.data, handle });
  const answer = await endpoints.handle(CONTEXT, request(0), hostCalls(calls));
  if (answer.kind !== 'response' || answer.body.kind !== 'bytes') throw new Error('no memory');
  const bytes = Buffer.concat([Buffer.alloc(1), answer.body.bytes]);
  const text = (at: number) => {
    const start = bytes.readUInt32LE(at);
    return bytes.toString('utf8', start, start + bytes.readUInt32LE(at + 4));
  };
  return { bytes, text };
}

const withTimer = () => {
  const memory = new StaticMemory();
  const address = memory.record(72, [...timerAt(0), ...moved(40, DUE[3]![1])]);
  return { memory, set: `(call $set-timer (i32.const ${address}) (i32.const ${RESULT}))` };
};

describe('a handler', () => {
  test.each([
    ['at once', (): void => {}],
    ['later', async (): Promise<void> => {}],
  ])('sets a timer, and is answered %s', async (_when, answer) => {
    const { memory, set } = withTimer();
    const timers: Timer[] = [];
    const setTimer = (timer: Timer) => {
      timers.push(timer);
      return answer();
    };
    const { bytes } = await handled(set, { setTimer }, memory);
    expect(timers).toEqual([{ ...TIMER, due: DUE[3]![0], attempts: undefined }]);
    expect(bytes[RESULT]).toBe(0);
  });

  test.each([
    ['SVC_TIMER_INVALID', 1, 'No timer was set: the target is wrong.'],
    ['SVC_TIMERS_FULL', 2, 'there are too many timers'],
    ['SVC_ANSWER_TIMED_OUT', 3, ''],
    ['SVC_JOURNAL_CORRUPT', 4, 'the runtime failed with SVC_JOURNAL_CORRUPT'],
  ] as const)('is told that a timer was not set: %s', async (code, kind, text) => {
    const { memory, set } = withTimer();
    const fail = () => {
      throw new SvcError(code, 'No timer was set: the target is wrong.');
    };
    for (const setTimer of [fail, async () => fail()]) {
      const found = await handled(set, { setTimer }, memory);
      expect([found.bytes[RESULT], found.bytes[RESULT + 4]]).toEqual([1, kind]);
      expect(found.text(RESULT + 8)).toBe(text);
    }
  });

  test('cancels a timer of an entity', async () => {
    const memory = new StaticMemory();
    const texts = memory.record(24, [
      [0, 'order'],
      [8, 'ö-1'],
      [16, 'remind'],
    ]);
    const words = Array.from({ length: 6 }, (_, at) => `(i32.load (i32.const ${texts + at * 4}))`);
    const cancelled: unknown[] = [];
    const cancelTimer = async (...of: unknown[]) => void cancelled.push(of);
    const call = `(call $cancel-timer ${words.join(' ')} (i32.const ${RESULT}))`;
    const { bytes } = await handled(call, { cancelTimer }, memory);
    expect(cancelled).toEqual([[{ component: 'order', id: 'ö-1' }, 'remind']]);
    expect(bytes[RESULT]).toBe(0);
  });

  test('that cannot wait is run again where it can before it sets a timer', async () => {
    const { memory, set } = withTimer();
    const order: string[] = [];
    await handled(
      set,
      {
        speculate: () => undefined,
        beginReplay: () => (order.push('replay'), false),
        setTimer: () => void order.push('set'),
      },
      memory,
    );
    expect(order).toEqual(['replay', 'set']);
  });

  test.each([
    ['the timer outside the memory', '(i32.const -64)', '(i32.const 256)'],
    ['an unaligned timer', '(i32.const 4100)', '(i32.const 256)'],
    ['an unaligned result', '(i32.const 4096)', '(i32.const 257)'],
    ['the result outside the memory', '(i32.const 4096)', '(i32.const 131068)'],
  ])('that passes %s faults', async (_what, at, result) => {
    const handle = `(call $set-timer ${at} ${result}) (call $clear)`;
    const { endpoints } = await liveGuest({ version, handle });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), hostCalls()));
    expect(fault.faultCause).toBe('value');
  });

  test('sets timers no more often than it may call components', async () => {
    const { memory, set } = withTimer();
    let count = 0;
    const { endpoints } = await liveGuest(
      { version, fields: memory.data, handle: `(loop $again ${set} (br $again)) unreachable` },
      { componentCallsMax: 20 },
    );
    const calls = hostCalls({ setTimer: () => void count++ });
    const fault = await faultOf(() => endpoints.handle(CONTEXT, request(0), calls));
    expect([fault.faultCause, fault.limit, count]).toEqual(['limit', 'component-calls', 20]);
  });
});

const CALLS = {
  'clock.set-timer': '(call $set-timer (i32.const 4096) (i32.const 256))',
  'clock.cancel-timer': `(call $cancel-timer ${'(i32.const 0)'.repeat(6)} (i32.const 256))`,
  'routing.request': `(call $request ${'(i32.const 0)'.repeat(10)} (i32.const 256))`,
  'journal.find': `(call $find ${'(i32.const 0)'.repeat(10)} (i32.const 256))`,
} as const;

describe.each(Object.entries(CALLS))('%s', (name, call) => {
  test.each(['construct', 'apply', 'command', 'query', 'snapshot', 'takeLog'] as const)(
    'may not be called in %s',
    async (place) => {
      const { entities } = await liveGuest({
        version,
        [place]: `(if (i32.load (i32.const 8)) (then ${call})) ${place === 'construct' ? `${call} (i32.const 0)` : place === 'takeLog' ? '(call $clear)' : `${call} (call $clear)`}`,
        ...(place === 'takeLog'
          ? { query: '(i32.store (i32.const 8) (i32.const 1)) (call $clear)' }
          : {}),
      });
      const fault = await faultOf(async () => {
        const entity = await entities.open(entityRef('a'), undefined);
        await entity.apply([], undefined);
        await entity.command(CONTEXT, '', '');
        await entity.query(CONTEXT, '', '');
        await entity.snapshot();
      });
      expect(fault.faultCause).toBe('trap');
      expect(fault.message).toContain(`The module called ${name} where it may not be called.`);
    },
  );
});
