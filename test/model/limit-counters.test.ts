import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { COUNTED, LimitCounters, summedCounts } from '../../model/limit-counters.ts';
import { LimitLog } from '../../host/service/limit-log.ts';
import { LIMIT_NAMES } from '../../model/limit-name.ts';
import type { LogEntry } from '../../kit/log-entry.ts';

test('every limit has a count of its own, and what is counted in one thread is read in another', async () => {
  const counters = new LimitCounters();
  const file = new URL('../../model/limit-counters.ts', import.meta.url).href;
  const program = `
    import { workerData } from 'node:worker_threads';
    import { COUNTED, LimitCounters } from ${JSON.stringify(file)};
    const counters = new LimitCounters(workerData);
    COUNTED.forEach((name, place) => { for (let times = 0; times <= place; times++) counters.count(name); });`;
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const worker = new Worker(url, { workerData: counters.shared });
  await new Promise((resolve) => {
    worker.once('exit', resolve);
  });
  expect(counters.read()).toEqual(
    Object.fromEntries(COUNTED.map((name, place) => [name, place + 1])),
  );
  for (const name of LIMIT_NAMES) expect(COUNTED).toContain(`limit:${name}`);
});

test('the log gets the counts that are not zero, and only when they have changed', () => {
  const counters = new LimitCounters();
  const log: LogEntry[] = [];
  const limitLog = new LimitLog(counters, (entry) => log.push(entry));
  limitLog.logChanges();
  expect(log).toEqual([]);
  counters.count('fault:fuel');
  counters.count('limit:command-fuel');
  limitLog.logChanges();
  limitLog.logChanges();
  counters.count('fault:fuel');
  limitLog.logChanges();
  expect(log).toEqual([
    {
      level: 'info',
      message: 'limits met since the start',
      fields: { 'fault:fuel': 1, 'limit:command-fuel': 1 },
    },
    {
      level: 'info',
      message: 'limits met since the start',
      fields: { 'fault:fuel': 2, 'limit:command-fuel': 1 },
    },
  ]);
});

test('what several shards have counted is summed by its names', () => {
  const [one, other] = [new LimitCounters(), new LimitCounters()];
  one.count('fault:fuel');
  other.count('fault:fuel');
  other.count('shard-ends');
  const sums = summedCounts([one, other]);
  expect(sums).toMatchObject({ 'fault:fuel': 2, 'shard-ends': 1, 'fault:trap': 0 });
  expect(Object.keys(sums)).toEqual(COUNTED);
});
