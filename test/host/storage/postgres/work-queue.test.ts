// WorkQueue: the order of works, and works that fail.
import { expect, test } from 'vitest';
import { WorkQueue } from '../../../../host/storage/postgres/work-queue.ts';

test('works are done one after the other, and one that fails holds none up', async () => {
  const queue = new WorkQueue();
  const log: string[] = [];
  const first = Promise.withResolvers<void>();
  const works = [
    queue.add(async () => {
      log.push('first begins');
      await first.promise;
      log.push('first ends');
      return 1;
    }),
    queue.add(() => {
      log.push('second fails');
      return Promise.reject(new Error('no'));
    }),
    queue.add(() => {
      log.push('third');
      return Promise.resolve(3);
    }),
  ];
  await Promise.resolve();
  expect(log).toEqual(['first begins']);
  first.resolve();
  expect((await Promise.allSettled(works)).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  await queue.idle();
  expect(log).toEqual(['first begins', 'first ends', 'second fails', 'third']);
});
