// Turns: work for one key is done in its order, and that for others beside it.
import { expect, test } from 'vitest';
import { Turns } from '../../../webhooks/model/turns.ts';

test('work for a key waits for what was given before, also if that fails, and other keys do not wait', async () => {
  const turns = new Turns();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const failed = turns.take('a', async () => {
    await first.promise;
    done.push('a1');
    throw new Error('failed');
  });
  const second = turns.take('a', () => Promise.resolve(done.push('a2')));
  await turns.take('b', () => Promise.resolve(done.push('b1')));
  expect(done).toEqual(['b1']);
  first.resolve();
  await expect(failed).rejects.toThrow('failed');
  expect(await second).toBe(3);
  expect(done).toEqual(['b1', 'a1', 'a2']);
});
