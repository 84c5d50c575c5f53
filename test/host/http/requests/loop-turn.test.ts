// How long a turn of the event loop takes on work, and who goes on in the next one.
import { expect, test } from 'vitest';
import { LoopTurn } from '../../../../host/http/requests/loop-turn.ts';

/** A clock that stands still, and an event loop that turns when it is told to. */
class Loop {
  nowMs = 1_000;
  /** How often the clock was read. */
  readings = 0;
  readonly turn = new LoopTurn({
    nowMs: () => {
      this.readings += 1;
      return this.nowMs;
    },
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
  expect(loop.turn.isUsedUp()).toBe(false);
  loop.nowMs += 10;
  expect(loop.turn.isUsedUp()).toBe(false);
  loop.nowMs += 1;
  expect(loop.turn.isUsedUp()).toBe(true);
});

test('the next turn has its own time, from its first work on', async () => {
  const loop = new Loop();
  loop.turn.isUsedUp();
  await loop.turns();
  loop.nowMs += 1_000;
  expect(loop.turn.isUsedUp()).toBe(false);
});

test('of a turn, the loop is asked for the next one once', async () => {
  const loop = new Loop();
  for (let time = 0; time < 5; time++) loop.turn.isUsedUp();
  expect(await loop.turns()).toBe(1);
  expect(await loop.turns()).toBe(0);
});

test('what comes in in a turn was there when the first of it was asked about', async () => {
  const loop = new Loop();
  loop.turn.endMs();
  loop.nowMs += 5;
  expect([loop.turn.arrivalMs(), loop.turn.latestMs()]).toEqual([1_005, 1_005]);
  loop.nowMs += 5;
  expect([loop.turn.arrivalMs(), loop.turn.latestMs()]).toEqual([1_005, 1_005]);
  expect(loop.turn.endMs()).toBe(1_010);
  expect([loop.turn.arrivalMs(), loop.turn.latestMs()]).toEqual([1_005, 1_010]);
  await loop.turns();
  loop.nowMs += 5;
  expect([loop.turn.latestMs(), loop.turn.arrivalMs()]).toEqual([1_015, 1_015]);
});

test('what comes in in the turn of those who have waited does so after them', async () => {
  const loop = new Loop();
  void loop.turn.next().then(() => (loop.nowMs += 11));
  await loop.turns();
  expect([loop.turn.latestMs(), loop.turn.arrivalMs()]).toEqual([1_011, 1_011]);
  loop.nowMs += 1;
  expect(loop.turn.arrivalMs()).toBe(1_011);
  // Their time is the turn's all the same.
  expect(loop.turn.isUsedUp()).toBe(true);
});

test('a reading for a span tells once whether the turn is used up', () => {
  const loop = new Loop();
  loop.turn.arrivalMs();
  expect(loop.turn.isUsedUp()).toBe(false);
  expect(loop.readings).toBe(1);
  loop.turn.endMs();
  loop.nowMs += 11;
  // What has been done since is not seen before the next one asks, and nobody has to read for that one either.
  expect(loop.turn.isUsedUp()).toBe(false);
  loop.turn.endMs();
  expect(loop.turn.isUsedUp()).toBe(true);
  expect(loop.readings).toBe(3);
});

test('a reading is not taken for the present when something has started since, or a module has computed', () => {
  for (const since of ['startMs', 'hasComputed'] as const) {
    const loop = new Loop();
    loop.turn.isUsedUp();
    loop.turn.endMs();
    loop.turn[since]();
    loop.nowMs += 11;
    expect(loop.turn.isUsedUp()).toBe(true);
  }
});

test('a turn that is used up takes on one more at most, though nobody else reads the clock', () => {
  const loop = new Loop();
  loop.turn.arrivalMs();
  loop.nowMs += 11;
  expect(loop.turn.isUsedUp()).toBe(false);
  expect(loop.turn.isUsedUp()).toBe(true);
});

test('who waits goes on in a later turn, in the order of arrival', async () => {
  const loop = new Loop();
  const order: number[] = [];
  for (const name of [1, 2, 3]) void loop.turn.next().then(() => order.push(name));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual([]);
  await loop.turns();
  expect(order).toEqual([1, 2, 3]);
});

test('one goes on in each turn, and others only while there is time left', async () => {
  const loop = new Loop();
  const order: number[] = [];
  for (const name of [1, 2, 3])
    void loop.turn.next().then(async () => {
      // What it does at once takes some promises, and is done before the next is let on.
      for (let step = 0; step < 20; step++) await Promise.resolve();
      loop.nowMs += 11;
      order.push(name);
    });
  await loop.turns();
  expect(order).toEqual([1]);
  // When answers are written: of the next turn it says nothing.
  loop.turn.endMs();
  await loop.turns();
  expect(order).toEqual([1, 2]);
  await loop.turns();
  expect(order).toEqual([1, 2, 3]);
});

test('the event loop of the process turns for whoever waits', async () => {
  const turn = new LoopTurn();
  let turned = false;
  setImmediate(() => (turned = true));
  await turn.next();
  expect(turned).toBe(true);
});
