// docs/reference/metrics.md: it has a row of each series, with its type and its labels, and of no other.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConsumerSeries } from '../../model/consumer-series.ts';
import { LimitCounters } from '../../model/limit-counters.ts';
import { MetricsSource } from '../../host/introspection/metrics-source.ts';
import { ShardNumbers } from '../../host/shards/shard-numbers.ts';
import { SliceMovements } from '../../host/storage/postgres/nodes/slice-movements.ts';
import { TimerSeries } from '../../host/storage/timer-series.ts';
import { JournalSeries } from '../../host/storage/journal-series.ts';
import { handlersDescriptor } from '../host/introspection/observability/support/handlers-descriptor.ts';

const file = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'metrics.md');

test('lists each series with its type and labels, and no other', () => {
  const page = readFileSync(file, 'utf8');
  const rows = [...page.matchAll(/^\| `((?:svc|process)_\w+)` \| (\w+) \|([^|]*)\|/gm)].map(
    ([, name, type, labels]) =>
      `${name} ${type} ${[...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label).join(',')}`,
  );
  const numbers = new ShardNumbers(handlersDescriptor(), 10);
  numbers.http.answered(0, 200, 1);
  const text = new MetricsSource({
    shards: { numbers: [numbers], counters: new LimitCounters(), count: 1, serving: [true] },
    journal: new JournalSeries(),
    timers: new TimerSeries(),
    consumers: { read: () => [{ consumer: 'ledger', ...new ConsumerSeries().read() }] },
    views: {
      read: () => [
        {
          view: 'orders',
          definition: 'ab'.repeat(32),
          state: 'live',
          lagRecords: 0,
          lagSeconds: 0,
          progress: 1,
          problem: null,
          skipped: [],
        },
      ],
    },
    cluster: {
      read: () => ({
        counts: { leaseLeftMs: 0, slices: 0, ...new SliceMovements().read() },
        nodes: [],
      }),
    },
    ringCapacity: 256,
  }).text();
  const series = [...text.matchAll(/^# TYPE (\w+) (\w+)\n(?:\w+)(?:\{(.*)\})? /gm)].map(
    ([, name, type, labels = '']) => {
      const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label);
      return `${name} ${type} ${names.filter((label) => label !== 'le').join(',')}`;
    },
  );
  expect(series.length).toBeGreaterThan(25);
  expect(rows.toSorted()).toEqual(series.toSorted());
});
