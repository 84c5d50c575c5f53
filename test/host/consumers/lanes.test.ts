// The rows of lanes in memory: the reason is there only until it is on disk. Lanes that have joined the feed again.
import { expect, test } from 'vitest';
import { Lanes } from '../../../host/consumers/lanes.ts';

const parked = (reason: string) => ({ attempts: 1, round: 1, nextMs: undefined, reason });
const entity = { component: 'account', id: 'a' };

test('the reason of a parked lane is in memory only until it is on disk', () => {
  const lanes = new Lanes();
  const lane = lanes.passing(entity, 1);
  lanes.setWait(lane, parked('It faulted.'));
  const changed = lanes.takeChanged();
  lanes.restoreChanged(changed);
  expect(lane.row()?.reason).toBe('It faulted.');
  lanes.written(lanes.takeChanged());
  expect(lane.row()).toMatchObject({ seq: 1, attempts: 1, round: 1, reason: undefined });
  expect(lanes.hasChanged).toBe(false);
});

test('a lane that changes while it is written keeps its new reason', () => {
  const lanes = new Lanes();
  const lane = lanes.passing(entity, 1);
  lanes.setWait(lane, parked('It faulted.'));
  const changed = lanes.takeChanged();
  lanes.setWait(lane, parked('It faulted.'));
  lanes.written(changed);
  expect([...lanes.takeChanged().values()].map((one) => one.row()?.reason)).toEqual([
    'It faulted.',
  ]);
});

test('a lane that joins while the feed is being read waits for the records that it has settled', () => {
  const lanes = new Lanes();
  lanes.restore({ entity, seq: 3, attempts: 0, round: 0, nextMs: 0, reason: undefined }, -Infinity);
  const before = lanes.rejoined();
  const lane = lanes.take()!;
  lanes.setWait(lane, undefined);
  lanes.put(lane);
  lanes.passedAll(before);
  expect(lanes.get(entity)).toBe(lane);
  lanes.passedAll(lanes.rejoined());
  expect(lanes.get(entity)).toBeUndefined();
});
