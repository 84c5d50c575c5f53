// NumberedSlots compared with a Map.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberedSlots } from '../../../host/shards/numbered-slots.ts';

test('it holds what a Map would hold, and a number that was taken names nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (steps) => {
      const slots = new NumberedSlots<string>();
      const model = new Map<number, string>();
      const taken: number[] = [];
      for (const [index, step] of steps.entries()) {
        const known = [...model.keys()];
        if (step < 12 || known.length === 0) {
          const { next } = slots;
          const number = slots.add(`${index}`);
          assert.equal(number, next);
          assert(!model.has(number));
          model.set(number, `${index}`);
        } else {
          const number = known[step % known.length]!;
          assert.equal(slots.take(number), model.get(number));
          model.delete(number);
          taken.push(number);
        }
        expect(slots.size).toBe(model.size);
        for (const [number, value] of model) expect(slots.get(number)).toBe(value);
        for (const number of taken) expect(slots.get(number)).toBeUndefined();
      }
      expect(slots.takeAll().toSorted()).toEqual([...model.values()].toSorted());
      expect(slots.size).toBe(0);
      expect(slots.takeAll()).toEqual([]);
    }),
    { seed: 11, numRuns: 100 },
  );
});

test('a slot that is used again has another number, for a long time', () => {
  const slots = new NumberedSlots<number>();
  const numbers = new Set<number>();
  for (let use = 0; use < 2 ** 17; use++) {
    const number = slots.add(use);
    expect(slots.take(number)).toBe(use);
    numbers.add(number);
  }
  expect(numbers.size).toBe(2 ** 17);
  expect(Math.max(...[...numbers].slice(0, 9))).toBeLessThan(2 ** 31);
  // Numbers repeat after that, and none of them is negative.
  expect(slots.add(0)).toBe(0);
});
