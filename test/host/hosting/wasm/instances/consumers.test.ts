// Consumers of a module: what `consumer.handle` is given, its verdicts, and the imports that it reaches.
import { describe, expect, test } from 'vitest';
import { CONTEXT, faultOf, hostCalls } from '../support/live-guest.ts';
import { type Field, StaticMemory } from '../support/static-memory.ts';
import { entityEvent, viewGuest } from '../support/view-guest.ts';

const EVENT = entityEvent('ö', 7);
const zeros = (count: number) => '(i32.const 0)'.repeat(count);
const handled = async (consume: string, fields = '', calls = hostCalls()) => {
  const { consumers } = await viewGuest({ fields, consume });
  return consumers.handle(CONTEXT, 'ledger', EVENT, calls);
};
/** Answers a result that lies in memory: tag 0, verdict or refusal 8. */
const answered = async (fields: readonly Field[]) => {
  const memory = new StaticMemory();
  const result = memory.record(40, fields);
  return handled(`(i32.const ${result})`, memory.data);
};
/** A verdict that skips, with a text whose pointer and length these are. */
const skipped = (
  pointer: string,
  length: string,
) => `(memory.fill (i32.const 256) (i32.const 0) (i32.const 40))
  (i32.store8 (i32.const 264) (i32.const 2))
  (i32.store (i32.const 272) ${pointer}) (i32.store (i32.const 276) ${length}) (i32.const 256)`;

describe('a verdict', () => {
  test.each<[string, readonly Field[], unknown]>([
    ['done', [], { kind: 'done' }],
    [
      'retry, as the back-off says',
      [
        [8, { u8: 1 }],
        [16, 'later'],
      ],
      { kind: 'retry', reason: 'later', afterMs: undefined },
    ],
    [
      'retry, after a time',
      [
        [8, { u8: 1 }],
        [16, 'später'],
        [24, { u8: 1 }],
        [32, 2n ** 40n],
      ],
      { kind: 'retry', reason: 'später', afterMs: 2 ** 40 },
    ],
    [
      'skip',
      [
        [8, { u8: 2 }],
        [16, 'not mine'],
      ],
      { kind: 'skip', reason: 'not mine' },
    ],
    [
      'a refusal',
      [
        [0, { u8: 1 }],
        [8, { u8: 4 }],
        [20, 'no'],
        [28, { u8: 1 }],
        [32, '{}'],
      ],
      { kind: 'refusal', code: 'CONFLICT', message: 'no', details: '{}' },
    ],
  ])('is lifted: %s', async (_what, fields, verdict) => {
    expect(await answered(fields)).toMatchObject(verdict as object);
  });

  test.each<[string, readonly Field[]]>([
    ['a result of a third kind', [[0, { u8: 2 }]]],
    ['a verdict of a fourth kind', [[8, { u8: 3 }]]],
    [
      'a time that is neither there nor not',
      [
        [8, { u8: 1 }],
        [16, 'x'],
        [24, { u8: 2 }],
      ],
    ],
    [
      'a reason outside the memory',
      [
        [8, { u8: 2 }],
        [16, { u32: 0x7fff_0000 }],
        [20, { u32: 4 }],
      ],
    ],
    [
      'a reason of 2^32 - 1 bytes',
      [
        [8, { u8: 2 }],
        [16, { u32: 4096 }],
        [20, { u32: 0xffff_ffff }],
      ],
    ],
  ])('that is %s is a fault', async (_what, fields) => {
    expect((await faultOf(() => answered(fields))).faultCause).toBe('value');
  });
});

test.each([
  ['the consumer', '$consumer', 'ledger'],
  ['the component', '$component', 'order'],
  ['the id', '$id', 'ö'],
  ['the manifest', '$manifest', 'order-event'],
  ['the event', '$json', '{"type":"placed","n":7}'],
])('a consumer is given %s', async (_what, name, text) => {
  const verdict = skipped(`(local.get ${name})`, `(local.get ${name}-length)`);
  expect(await handled(verdict)).toEqual({ kind: 'skip', reason: text });
});

test('a consumer is given the numbers of the event, and the time and the seed of the context', async () => {
  const wrong = (
    [
      ['$now', CONTEXT.nowMs],
      ['$seed', -1],
      ['$seq', 7],
      ['$time', EVENT.timeMs],
    ] as const
  ).map(([name, value]) => `(i64.ne (local.get ${name}) (i64.const ${value}))`);
  const body = `${wrong.join(' ')} i32.or i32.or i32.or (if (then unreachable))
    (if (i64.ne (call $now-ms) (local.get $now)) (then unreachable)) (call $clear)`;
  expect(await handled(body)).toEqual({ kind: 'done' });
});

test('a consumer calls components, reads, finds rows and changes timers, and its clock stands still', async () => {
  const done: string[] = [];
  const later = async (what: string) => void done.push(what);
  const calls = hostCalls({
    call: async () => (await later('call'), { kind: 'reply', json: '{}' }),
    readEvents: async () => (await later('read'), []),
    find: async () => (await later('find'), { rows: [], cursor: undefined, asOfMs: undefined }),
    setTimer: async () => later('set'),
    cancelTimer: async () => later('cancel'),
  });
  const body = `(call $call ${zeros(13)} (i32.const 256))
    (call $read ${zeros(4)} (i64.const 0) (i32.const 1) (i32.const 256))
    (call $find ${zeros(6)} (i32.const 1) ${zeros(3)} (i32.const 256))
    (call $set-timer (i32.const 4096) (i32.const 256))
    (call $cancel-timer ${zeros(6)} (i32.const 256))
    (if (i64.ne (call $now-ms) (local.get $now)) (then unreachable)) (call $clear)`;
  expect(await handled(body, '', calls)).toEqual({ kind: 'done' });
  expect(done).toEqual(['call', 'read', 'find', 'set', 'cancel']);
});

test('consumers are served together, each in an instance of its own, and apart from requests', async () => {
  const { consumers, guest } = await viewGuest({
    consume: `(call $call ${'(i32.const 0)'.repeat(13)} (i32.const 256)) (call $clear)`,
  });
  const { endpointInstances } = guest.numbers;
  const waiting: (() => void)[] = [];
  const calls = hostCalls({
    call: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({ kind: 'reply', json: '{}' }));
      }),
  });
  const verdicts = ['ledger', 'mails', 'ledger'].map(async (name) =>
    consumers.handle(CONTEXT, name, EVENT, calls),
  );
  expect(waiting).toHaveLength(3);
  expect(guest.numbers.endpointInstances).toBe(endpointInstances);
  for (const resume of waiting) resume();
  expect(await Promise.all(verdicts)).toEqual([
    { kind: 'done' },
    { kind: 'done' },
    { kind: 'done' },
  ]);
});

test('a consumer whose events hang takes no instance from another, and is told which of them wait', async () => {
  const consume = `(call $call ${zeros(13)} (i32.const 256)) (call $clear)`;
  const { consumers, guest } = await viewGuest({ consume }, { endpointInstancesMax: 4 });
  const hanging: string[] = [];
  const resume: (() => void)[] = [];
  const hangs = (name: string) =>
    hostCalls({
      call: () =>
        new Promise((resolve) => {
          hanging.push(name);
          resume.push(() => resolve({ kind: 'reply', json: '{}' }));
        }),
      noteWaiting: (isWaiting) => void hanging.push(`${name} ${isWaiting ? 'waits' : 'begins'}`),
    });
  const verdicts = ['a', 'b', 'c'].map(async (name) =>
    consumers.handle(CONTEXT, 'ledger', EVENT, hangs(name)),
  );
  expect(hanging).toEqual(['a', 'b', 'c waits']);
  const calls = hostCalls({ call: async () => ({ kind: 'reply', json: '{}' }) });
  const others = [1, 2, 3, 4].map(async () => consumers.handle(CONTEXT, 'mails', EVENT, calls));
  expect(await Promise.all(others)).toEqual(Array.from({ length: 4 }, () => ({ kind: 'done' })));
  resume.shift()!();
  expect(await verdicts[0]).toEqual({ kind: 'done' });
  await expect.poll(() => hanging).toEqual(['a', 'b', 'c waits', 'c begins', 'c']);
  const closed = Promise.allSettled(verdicts.slice(1));
  await guest.close();
  expect((await closed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('an event finds nothing that another left', async () => {
  const { consumers } = await viewGuest({
    consume: `(if (i32.load (i32.const 8)) (then unreachable))
      (i32.store (i32.const 8) (i32.const 1)) (call $clear)`,
  });
  for (let round = 0; round < 3; round++)
    expect(await consumers.handle(CONTEXT, 'ledger', EVENT, hostCalls())).toEqual({ kind: 'done' });
});

test('a fault of a consumer names it in the log, and ends with the guest', async () => {
  const { consumers, guest, lines } = await viewGuest({
    consume: '(i32.store (i32.const 8) (i32.const 1)) unreachable',
    takeLog: `(if (i32.load (i32.const 8)) (then (drop (call $clear))
      (i32.store (i32.const 16) (i32.const 256)) (i32.store (i32.const 20) (i32.const 1))
      (i32.store8 (i32.const 256) (i32.const 1))
      (return (i32.const 16)))) (drop (call $clear)) (i32.const 16)`,
  });
  const fault = await faultOf(() => consumers.handle(CONTEXT, 'mails', EVENT, hostCalls()));
  expect(fault.faultCause).toBe('trap');
  expect(lines.map(({ source }) => source)).toEqual(['consumer mails']);
  await guest.close();
  const closed = await faultOf(() => consumers.handle(CONTEXT, 'mails', EVENT, hostCalls()));
  expect(closed.message).toBe('The module was closed.');
});
