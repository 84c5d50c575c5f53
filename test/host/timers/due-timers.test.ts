// The bounded part of the due timers that is in memory: what it holds, and when it reads the rest.
import { expect, test } from 'vitest';
import { DueTimers, type HeldTest } from '../../../host/timers/due-timers.ts';
import type { DuePosition, DueTimer } from '../../../host/engine/needs/timers.ts';

const ANY: HeldTest = { isInFlight: () => false, isBusy: () => false, isPaused: () => false };

const timer = (number: number, nextMs = number): DueTimer => ({
  number,
  target: { component: 'account', id: `t${number}` },
  command: 'remind',
  input: '{}',
  schedule: undefined,
  dueMs: nextMs,
  nextMs,
  attempts: 0,
  traceParent: undefined,
});

const isAfter = (position: DuePosition, { nextMs, number }: DueTimer) =>
  nextMs > position.nextMs || (nextMs === position.nextMs && number > position.number);

/** A journal in memory whose timers are in the order of the list, and DueTimers that read it. */
function reading(stored: DueTimer[]) {
  let reads = 0;
  const due = new DueTimers({
    due: (nowMs, limit, after) => {
      reads += 1;
      return stored
        .filter((one) => one.nextMs <= nowMs && (after === undefined || isAfter(after, one)))
        .slice(0, limit);
    },
    input: () => undefined,
    earliestMs: () => undefined,
  });
  return {
    due,
    stored,
    reads: () => reads,
    /** Looks, and reads to the end of the sweep. */
    sweep: async (monotonicMs: number, heldTest = ANY) => {
      due.look(monotonicMs);
      // oxlint-disable-next-line no-await-in-loop -- a page follows the other
      while (!due.isAtEnd) await due.read(1_000_000, monotonicMs, heldTest);
    },
    takeAll: (nowMs = 1_000_000) => {
      const taken: number[] = [];
      due.offer(nowMs, ({ timer: { number } }) => {
        taken.push(number);
        return 'taken';
      });
      return taken;
    },
  };
}

const numbers = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => first + index);

test('a sweep over 5,000 timers that cannot start holds the first of them, and the last page', async () => {
  const { sweep, takeAll } = reading(numbers(1, 5000).map((number) => timer(number)));
  await sweep(0);
  const taken = takeAll();
  expect(taken.slice(0, 256)).toEqual(numbers(1, 256));
  expect(taken.length).toBeLessThanOrEqual(512);
  expect(taken).toEqual([...new Set(taken)]);
});

test('the first page is read again when nothing is held and a timer found no place', async () => {
  const { due, stored, sweep, takeAll } = reading(numbers(1, 2000).map((number) => timer(number)));
  await sweep(0);
  const taken = new Set(takeAll());
  stored.splice(0, stored.length, ...stored.filter(({ number }) => !taken.has(number)));
  await due.read(1_000_000, 1, ANY);
  expect(takeAll()).toEqual(numbers(257, 256));
});

test('timers in flight and those of paused targets are not held', async () => {
  const { sweep, takeAll } = reading(numbers(1, 5).map((number) => timer(number)));
  await sweep(0, {
    ...ANY,
    isInFlight: (number) => number === 2,
    isPaused: (target) => target === 'account\nt4',
  });
  expect(takeAll()).toEqual([1, 3, 5]);
});

test('a held timer is not handed out while the clock is before its time', async () => {
  const { sweep, takeAll } = reading([timer(1, 500), timer(2, 400)].toReversed());
  await sweep(0);
  expect(takeAll(399)).toEqual([]);
  expect(takeAll(499)).toEqual([2]);
  expect(takeAll(500)).toEqual([1]);
});

test('a sweep of several pages goes on with what is due later until it has rested, and holds nothing twice', async () => {
  const { stored, sweep, takeAll, reads } = reading(numbers(1, 300).map((number) => timer(number)));
  await sweep(0);
  expect(takeAll()).toEqual(numbers(1, 300));
  const before = reads();
  await sweep(10);
  await sweep(20);
  stored.push(timer(400));
  await sweep(30);
  expect(takeAll()).toEqual([400]);
  expect(reads()).toBe(before + 3);
});

test('looks in quick succession do not put off the next sweep', async () => {
  const { stored, sweep, takeAll } = reading(numbers(1, 300).map((number) => timer(number)));
  await sweep(0);
  takeAll();
  stored.splice(0, stored.length, timer(0));
  for (let ms = 1; ms < 500; ms += 1) await sweep(ms);
  expect(takeAll()).toEqual([]);
  for (let ms = 500; ms < 510; ms += 1) await sweep(ms);
  expect(takeAll()).toEqual([0]);
});

test('once a timer found no place, those of busy targets are not held out of their order', async () => {
  const { sweep, takeAll } = reading(numbers(1, 2000).map((number) => timer(number)));
  // Each odd number has a target that is busy.
  await sweep(0, {
    ...ANY,
    isBusy: (target) => Number(target.slice('account\nt'.length)) % 2 === 1,
  });
  const late = takeAll().filter((number) => number > 512);
  expect(late.length).toBeGreaterThan(50);
  expect(late.filter((number) => number % 2 === 1)).toEqual([]);
});
