// Commands of a journal or a disk that is full: refused without folding anything anew, while what fits is stored.
import { expect, test } from 'vitest';
import { SvcError } from '../../../../kit/svc-error.ts';
import { COUNTER, added } from '../../../support/counter-guest.ts';
import { EngineUnderTest, turns } from '../../../support/engine-under-test.ts';

const HOUR_MS = 3_600_000;
const FAILURE = new SvcError('SVC_JOURNAL_FULL', 'The test says so.');
const FULL = 'failed SVC_JOURNAL_FULL';
const five = { events: Array.from({ length: 5 }, () => added(1)) };

/** An engine with an entity `a` that has counted 3, one command of which was refused. */
async function full(name: string, input: unknown, failure = FAILURE) {
  const it = new EngineUnderTest();
  await it.outcome('a', 'add', 3);
  it.journal.held = true;
  const refused = it.outcome('a', name, input);
  await turns();
  await it.journal.fail(failure);
  expect(await refused).toBe(`failed ${failure.code}`);
  it.journal.held = false;
  expect(await it.outcome('a', 'total')).toBe(3);
  it.journal.reads.length = 0;
  it.journal.appendCount = 0;
  return it;
}

test.each(['SVC_JOURNAL_FULL', 'SVC_DISK_FULL'] as const)(
  'are refused for a while, and their entities need not be folded anew: %s',
  async (code) => {
    const it = await full('add', 4, new SvcError(code, 'The test says so.'));
    const refused = `failed ${code}`;
    expect(await it.outcome('a', 'add', 5)).toBe(refused);
    expect(await it.outcome('a', 'effect', five)).toBe(refused);
    expect(await it.outcome('b', 'add', 5)).toBe(refused);
    expect(await it.outcome('a', 'history')).toEqual([3]);
    expect([it.journal.reads, it.journal.appendCount]).toEqual([[`${COUNTER}/b>0`], 0]);
    expect(it.faults).toEqual([]);
  },
);

test('are tried when they store nothing, or less than the smallest that was refused', async () => {
  const it = await full('effect', five);
  expect(await it.outcome('a', 'noop')).toBe(3);
  expect(await it.outcome('a', 'add', 1)).toBe(4);
  it.journal.held = true;
  const [small, large] = [it.outcome('a', 'add', 1), it.outcome('b', 'effect', five)];
  await turns();
  await it.journal.fail(FAILURE);
  it.journal.held = false;
  expect([await small, await large]).toEqual([FULL, FULL]);
  expect(await it.outcome('a', 'add', 1)).toBe(FULL);
});

function keyed(it: EngineUnderTest, key: string, name: string, input: unknown): Promise<unknown> {
  const target = { component: COUNTER, id: 'a' };
  return Promise.resolve().then(() => it.engine.call(target, name, JSON.stringify(input), [], key));
}

test('are refused with an idempotency key as well, where only the answer is to be stored', async () => {
  const it = await full('add', 4);
  it.journal.held = true;
  // Smaller than the record, so it is tried.
  const tried = keyed(it, 'k1', 'noop', null);
  await turns();
  expect(it.journal.waitingCount).toBe(1);
  await it.journal.fail(FAILURE);
  await expect(tried).rejects.toBe(FAILURE);
  it.journal.held = false;
  it.journal.appendCount = 0;
  for (const [name, input] of [
    ['take', 9],
    ['noop', null],
  ] as const)
    await expect(keyed(it, 'k2', name, input)).rejects.toBe(FAILURE);
  expect(it.journal.appendCount).toBe(0);
  // What stores nothing is done all the same.
  expect([await it.outcome('a', 'noop'), await it.outcome('a', 'take', 9)]).toEqual([
    3,
    'refused CONFLICT',
  ]);
});

test('are refused with an idempotency key where the reply is computed later, whose size nobody knows', async () => {
  const it = new EngineUnderTest();
  it.guest.laterReply = () => ({ kind: 'reply', json: JSON.stringify('x'.repeat(1_000)) });
  await it.outcome('a', 'add', 3);
  const opened = () => it.guest.opened.length;
  it.journal.held = true;
  const first = keyed(it, 'k1', 'tell', 4);
  await turns();
  await it.journal.fail(FAILURE);
  await expect(first).rejects.toBe(FAILURE);
  it.journal.held = false;
  expect(await it.outcome('a', 'total')).toBe(3);
  const before = [it.journal.appendCount, opened()];
  await expect(keyed(it, 'k2', 'tell', 4)).rejects.toBe(FAILURE);
  await expect(keyed(it, 'k3', 'tell', 4)).rejects.toBe(FAILURE);
  expect([it.journal.appendCount, opened()]).toEqual(before);
  // Without a key the reply is not stored, and the event by itself is smaller than what was refused.
  expect(await it.outcome('a', 'tell', 4)).toBe('x'.repeat(1_000));
  it.nowMs += 1_000;
  await expect(keyed(it, 'k4', 'tell', 4)).resolves.toMatchObject({ kind: 'reply' });
});

test.each([0, HOUR_MS, -HOUR_MS])(
  'are tried again after a second, however the wall clock was set meanwhile: %i',
  async (setMs) => {
    const it = await full('add', 4);
    it.wallSetMs = setMs;
    it.nowMs += 999;
    expect(await it.outcome('a', 'add', 4)).toBe('failed SVC_JOURNAL_FULL');
    it.nowMs += 1;
    expect(await it.outcome('a', 'add', 4)).toBe(7);
  },
);

test('are tried at once when what was refused had another reason', async () => {
  const it = await full('add', 4, new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The test says so.'));
  expect(await it.outcome('a', 'add', 4)).toBe(7);
});
