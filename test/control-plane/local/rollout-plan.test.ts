// The plan of a rollout, carried out by a small model of a machine in which instances start, crash and end at random.
import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  InstanceView,
  PlanInput,
  Step,
  Wanted,
} from '../../../control-plane/local/plan-types.ts';
import { planRollout } from '../../../control-plane/local/rollout-plan.ts';
import { SimulatedMachine } from './simulated-machine.ts';

const wanted = (more: Partial<Wanted> = {}): Wanted => ({
  incarnation: 'life1',
  generation: 1,
  instances: 1,
  hasDataFolder: true,
  ...more,
});

function instance(name: string, more: Partial<InstanceView> = {}): InstanceView {
  return {
    name,
    incarnation: 'life1',
    generation: 1,
    phase: 'ready',
    failures: 0,
    endedAtMs: undefined,
    ...more,
  };
}

function stepsOf(input: Partial<PlanInput>): readonly Step[] {
  return planRollout({
    wanted: wanted(),
    instances: [],
    hold: 'none',
    failure: undefined,
    takeoverSinceMs: undefined,
    nowMs: 1000,
    limits: { takeoverMs: 10_000, restartPauseMinMs: 100, restartPauseMaxMs: 30_000 },
    ...input,
  }).steps;
}

const ended = (failures: number) => [
  instance('one', { phase: 'ended', failures, endedAtMs: 1000 }),
];
const two = (generation: number) => wanted({ generation, instances: 2, hasDataFolder: false });

describe('the plan for a service with a data folder', () => {
  const second = wanted({ generation: 2 });
  const present = instance('one');
  const next = (phase: InstanceView['phase'], more: Partial<InstanceView> = {}) =>
    instance('two', { generation: 2, phase, ...more });

  test('creates the first instance, and does nothing once it is ready', () => {
    expect(stepsOf({})).toEqual([{ kind: 'create' }]);
    expect(stepsOf({ instances: [present] })).toEqual([]);
  });

  test('leaves the present instance alone until the next one is prepared', () => {
    expect(stepsOf({ wanted: second, instances: [present] })).toEqual([{ kind: 'create' }]);
    expect(stepsOf({ wanted: second, instances: [present, next('starting')] })).toEqual([]);
  });

  test('holds before the present instance ends, and ends it only when that is acknowledged', () => {
    const instances = [present, next('prepared')];
    expect(stepsOf({ wanted: second, instances })).toEqual([{ kind: 'hold' }]);
    expect(stepsOf({ wanted: second, instances, hold: 'asked' })).toEqual([]);
    expect(stepsOf({ wanted: second, instances, hold: 'acknowledged' })).toEqual([
      { kind: 'stop', name: 'one' },
    ]);
  });

  test('releases what is held once the next instance is ready, and removes the former one', () => {
    const instances = [instance('one', { phase: 'ended' }), next('ready')];
    expect(stepsOf({ wanted: second, instances, hold: 'acknowledged' })).toEqual([
      { kind: 'release' },
      { kind: 'remove', name: 'one' },
    ]);
  });

  test('gives up a generation that is not ready in time with the data folder, and starts the former one again', () => {
    const instances = [instance('one', { phase: 'ended' }), next('prepared')];
    const late = { wanted: second, instances, hold: 'acknowledged', takeoverSinceMs: 0 } as const;
    expect(stepsOf({ ...late, nowMs: 9999 })).toEqual([]);
    expect(stepsOf({ ...late, nowMs: 10_000 })).toEqual([
      { kind: 'fail', reason: 'it was not ready 10 s after it had the data folder' },
    ]);
    expect(stepsOf({ ...late, nowMs: 10_000, failure: 'too late' })).toEqual([
      { kind: 'stop', name: 'two' },
      { kind: 'restart', name: 'one' },
    ]);
  });

  test('starts an instance again after a pause that doubles with each end', () => {
    expect(stepsOf({ instances: ended(1), nowMs: 1099 })).toEqual([]);
    expect(stepsOf({ instances: ended(1), nowMs: 1100 })).toEqual([
      { kind: 'restart', name: 'one' },
    ]);
    expect(stepsOf({ instances: ended(3), nowMs: 1399 })).toEqual([]);
    expect(stepsOf({ instances: ended(100), nowMs: 31_000 })).toEqual([
      { kind: 'restart', name: 'one' },
    ]);
  });

  test('ends everything when no instance is wanted, and removes what has ended', () => {
    const instances = [present, next('ended')];
    expect(stepsOf({ wanted: wanted({ instances: 0 }), instances, hold: 'asked' })).toEqual([
      { kind: 'stop', name: 'one' },
      { kind: 'remove', name: 'two' },
      { kind: 'release' },
    ]);
  });
});

describe('the plan for a service whose instances serve side by side', () => {
  const pair = [instance('one'), instance('two')];
  const third = (phase: InstanceView['phase']) => instance('three', { generation: 2, phase });

  test('creates all that are wanted', () => {
    expect(stepsOf({ wanted: two(1) })).toEqual([{ kind: 'create' }, { kind: 'create' }]);
  });

  test('starts one more during a rollout, and takes one out of service once it is ready', () => {
    expect(stepsOf({ wanted: two(2), instances: pair })).toEqual([{ kind: 'create' }]);
    expect(stepsOf({ wanted: two(2), instances: [...pair, third('starting')] })).toEqual([]);
    expect(stepsOf({ wanted: two(2), instances: [...pair, third('ready')] })).toEqual([
      { kind: 'retire', name: 'one' },
    ]);
    const retired = [instance('one', { phase: 'retired' }), pair[1]!, third('ready')];
    expect(stepsOf({ wanted: two(2), instances: retired })).toEqual([
      { kind: 'stop', name: 'one' },
    ]);
  });

  test('leaves the former instances alone when the new generation has failed', () => {
    expect(
      stepsOf({
        wanted: two(2),
        instances: [...pair, third('starting')],
        failure: 'no such image',
      }),
    ).toEqual([{ kind: 'stop', name: 'three' }]);
  });
});

describe.each([
  ['with a data folder', true],
  ['whose instances serve side by side', false],
])('a machine with a service %s', (_, hasDataFolder) => {
  test('gets to what is desired, whatever crashes on the way, and never serves less than it should', () => {
    assert(
      property(integer(), integer({ min: 5, max: 60 }), (seed, rounds) => {
        const machine = new SimulatedMachine(seed, hasDataFolder);
        machine.live(rounds);
        machine.settle();
        expect(machine.complaints).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});
