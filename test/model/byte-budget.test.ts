import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { ByteBudget } from '../../model/byte-budget.ts';

function take(budget: ByteBudget, bytes: number): boolean {
  if (!budget.hasRoom(bytes)) return false;
  budget.add(bytes);
  return true;
}

describe('a budget of bytes', () => {
  test('is taken from until it is used up, and what is given back can be taken again', () => {
    const budget = new ByteBudget(100);
    expect(take(budget, 60)).toBe(true);
    expect(take(budget, 41)).toBe(false);
    expect(budget.held).toBe(60);
    expect(take(budget, 40)).toBe(true);
    expect(budget.isUsedUp).toBe(true);
    budget.add(-60);
    expect(budget.isUsedUp).toBe(false);
    expect(take(budget, 60)).toBe(true);
  });

  test('takes what is given anyway beyond its end, and gives nothing out until it is back', () => {
    const budget = new ByteBudget(100);
    budget.add(150);
    expect(budget.total).toBe(150);
    expect(take(budget, 1)).toBe(false);
    budget.add(-51);
    expect(take(budget, 1)).toBe(true);
  });

  test('is used up once the largest that may come has no room', () => {
    const budget = new ByteBudget(100, 30);
    budget.add(70);
    expect(budget.isUsedUp).toBe(false);
    budget.add(1);
    expect(budget.isUsedUp).toBe(true);
  });

  test('has half of it to give out, however large one may be', () => {
    const budget = new ByteBudget(100, 90);
    budget.add(50);
    expect(budget.isUsedUp).toBe(false);
    budget.add(1);
    expect(budget.isUsedUp).toBe(true);
  });

  test('is one for all threads that share it', () => {
    const shared = ByteBudget.shared(3);
    const budgets = [0, 1, 2].map((thread) => new ByteBudget(100, 0, shared, thread));
    expect(take(budgets[0]!, 60)).toBe(true);
    expect(take(budgets[1]!, 41)).toBe(false);
    expect(take(budgets[2]!, 40)).toBe(true);
    expect(budgets.map((budget) => budget.total)).toEqual([100, 100, 100]);
    expect(budgets.map((budget) => budget.isUsedUp)).toEqual([true, true, true]);
    budgets[0]!.add(-60);
    expect(take(budgets[1]!, 60)).toBe(true);
  });

  test('has the bytes of a thread after 64 KiB at the latest', () => {
    const shared = ByteBudget.shared(2);
    const [here, there] = [0, 1].map((thread) => new ByteBudget(2 ** 40, 0, shared, thread));
    for (let bytes = 0; bytes < 1_000_000; bytes += 1_000) {
      here!.add(1_000);
      expect(here!.held - there!.total).toBeLessThan(65_536);
    }
    expect(there!.total).toBeGreaterThan(900_000);
  });

  test('has back what a thread held that has ended', () => {
    const shared = ByteBudget.shared(2);
    const budget = new ByteBudget(100, 0, shared, 0);
    new ByteBudget(100, 0, shared, 1).add(70);
    expect(budget.total).toBe(70);
    ByteBudget.threadEnded(shared, 1);
    expect(budget.total).toBe(0);
  });

  test('has back what a thread held in whose place another one starts', () => {
    const shared = ByteBudget.shared(2);
    const budget = new ByteBudget(100, 0, shared, 0);
    new ByteBudget(100, 0, shared, 1).add(70);
    expect(new ByteBudget(100, 0, shared, 1).total).toBe(0);
    expect(budget.total).toBe(0);
  });

  test('of another thread is seen in this one', async () => {
    const shared = ByteBudget.shared(2);
    const budget = new ByteBudget(100, 0, shared, 0);
    const file = new URL('../../model/byte-budget.ts', import.meta.url);
    const worker = new Worker(
      `import(${JSON.stringify(file.href)}).then(({ ByteBudget }) => {
        const { shared } = require('node:worker_threads').workerData;
        new ByteBudget(100, 0, shared, 1).add(80);
      });`,
      { eval: true, workerData: { shared } },
    );
    await new Promise((resolve) => worker.once('exit', resolve));
    expect(take(budget, 21)).toBe(false);
    expect(take(budget, 20)).toBe(true);
  });
});
