// A seed repeats the faults of a cluster.
import { expect, test } from 'vitest';
import {
  type Fault,
  type ScheduledFault,
  faultSchedule,
  faultText,
  targetOf,
} from '../support/cluster-faults/fault-schedule.ts';

const LENGTH_MS = 60_000;
const KINDS: readonly Fault['kind'][] = [
  'clock',
  'database link',
  'database pause',
  'database restart',
  'failover',
  'kill',
  'link',
  'restart',
  'standby cut',
  'stop',
  'suspend',
];

function schedule(seed: number): readonly ScheduledFault[] {
  return faultSchedule({ seed, nodes: 3, lengthMs: LENGTH_MS });
}

test('a seed has the same faults always, and another one has others', () => {
  expect(schedule(7)).toEqual(schedule(7));
  expect(schedule(7).map(faultText)).not.toEqual(schedule(8).map(faultText));
});

test('a target has one fault at a time, and every kind of fault is drawn', () => {
  const kinds = new Set<string>();
  for (let seed = 1; seed <= 100; seed++) {
    const endsMs = new Map<string, number>();
    let lastMs = 0;
    for (const fault of schedule(seed)) {
      kinds.add(fault.kind);
      const { atMs, forMs } = fault;
      expect(atMs).toBeGreaterThanOrEqual(lastMs);
      expect(atMs).toBeLessThan(LENGTH_MS);
      lastMs = atMs;
      expect(endsMs.get(targetOf(fault)) ?? 0, `seed ${seed}`).toBeLessThanOrEqual(atMs);
      endsMs.set(targetOf(fault), atMs + forMs);
    }
  }
  expect([...kinds].toSorted()).toEqual(KINDS);
});
