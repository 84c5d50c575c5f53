// How long a turn of the event loop takes on work, and who continues in the next one.
import { expect, test } from 'vitest';
import { EventLoopBudget } from '../../../../host/http/requests/event-loop-budget.ts';

/** A clock that stands still, and an event loop that turns when it is told to. */
class Loop {
  nowMs = 1_000;
  readonly budget = new EventLoopBudget({
    nowMs: () => this.nowMs,
    nextTurn: (callback) => this.#next.push(callback),
    afterPromises: (callback) => queueMicrotask(() => process.nextTick(callback)),
  });
  #next: (() => void)[] = [];

  /** Ends the turn, and answers how much was asked of the next one. */
  async turns(): Promise<number> {
    const due = this.#next;
    this.#next = [];
    for (const callback of due) callback();
    await new Promise((resolve) => setImmediate(resolve));
    return due.length;
  }
}

test('a turn is used up once work has been taken on for ten milliseconds', () => {
  const loop = new Loop();
  expect(loop.budget.isUsedUp()).toBe(false);
  loop.nowMs += 10;
  expect(loop.budget.isUsedUp()).toBe(false);
  loop.nowMs += 1;
  expect(loop.budget.isUsedUp()).toBe(true);
});

test('the next turn has its own time, from its first work on', async () => {
  const loop = new Loop();
  loop.budget.isUsedUp();
  await loop.turns();
  loop.nowMs += 1_000;
  expect(loop.budget.isUsedUp()).toBe(false);
});

test('a turn asks the loop for the next one once', async () => {
  const loop = new Loop();
  for (let time = 0; time < 5; time++) loop.budget.isUsedUp();
  expect(await loop.turns()).toBe(1);
  expect(await loop.turns()).toBe(0);
});

test('work that waits continues in a later turn, in the order of arrival', async () => {
  const loop = new Loop();
  const order: number[] = [];
  for (const name of [1, 2, 3]) void loop.budget.yield().then(() => order.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  await loop.turns();
  expect(order).toEqual([1, 2, 3]);
});

test('one goes on in each turn, and others only while there is time left', async () => {
  const loop = new Loop();
  const order: number[] = [];
  for (const name of [1, 2, 3])
    void loop.budget.yield().then(async () => {
      // What it does at once takes some promises, and is done before the next is let on.
      for (let step = 0; step < 20; step++) await Promise.resolve();
      loop.nowMs += 11;
      order.push(name);
    });
  await loop.turns();
  expect(order).toEqual([1]);
  await loop.turns();
  expect(order).toEqual([1, 2]);
  await loop.turns();
  expect(order).toEqual([1, 2, 3]);
});

test('the event loop of the process turns for whoever waits', async () => {
  const budget = new EventLoopBudget();
  let turned = false;
  setImmediate(() => (turned = true));
  await budget.yield();
  expect(turned).toBe(true);
});

test('work that is done alone begins when what the one before it resolved with is handed on, also when that one failed', async () => {
  const { budget } = new Loop();
  const order: string[] = [];
  const works = ['a', 'b', 'c'].map(async (name) => {
    const work = async () => {
      order.push(`begins ${name}`);
      await Promise.resolve();
      if (name === 'b') throw new Error(name);
    };
    await budget.alone(work).catch(() => {});
    for (let hop = 0; hop < 20; hop++) await Promise.resolve();
    order.push(`has ${name}`);
  });
  await Promise.all(works);
  expect(order).toEqual(['a', 'b', 'c'].flatMap((name) => [`begins ${name}`, `has ${name}`]));
});

test('work that waits to be done alone begins in a turn only while there is time for it', async () => {
  const loop = new Loop();
  let begun = 0;
  for (let work = 0; work < 3; work++)
    void loop.budget.alone(async () => {
      begun++;
      loop.nowMs += 6;
    });
  loop.budget.isUsedUp();
  loop.nowMs += 6;
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toBe(2);
  await loop.turns();
  expect(begun).toBe(3);
});
