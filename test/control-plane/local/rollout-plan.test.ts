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
    isRefused: false,
    ...more,
  };
}

function stepsOf(input: Partial<PlanInput>): readonly Step[] {
  return planRollout({
    wanted: wanted(),
    instances: [],
    hold: 'none',
    haveRoutersGathered: true,
    failure: undefined,
    takeoverSinceMs: undefined,
    unservedSinceMs: undefined,
    nowMs: 1000,
    limits: {
      takeoverMs: 10_000,
      restartHoldMs: 2000,
      restartPauseMinMs: 100,
      restartPauseMaxMs: 30_000,
    },
    ...input,
  }).steps;
}

const ended = (failures: number) => [
  instance('one', { phase: 'ended', failures, endedAtMs: 1000 }),
];
const again = (phase: InstanceView['phase'], failures: number) => [
  instance('one', { phase, failures, ...(phase === 'ended' ? { endedAtMs: 1000 } : {}) }),
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

  test('holds nothing as long as the present instance serves and routers may still have to connect', () => {
    const early = { wanted: second, haveRoutersGathered: false };
    expect(stepsOf({ ...early, instances: [present, next('prepared')] })).toEqual([]);
    const stopping = [instance('one', { phase: 'stopping' }), next('prepared')];
    expect(stepsOf({ ...early, instances: stopping })).toEqual([{ kind: 'hold' }]);
  });

  test('takes a hold up again in the middle of a takeover, but not once that is late', () => {
    for (const phase of ['prepared', 'unready'] as const) {
      const instances = [instance('one', { phase: 'ended' }), next(phase)];
      const taking = { wanted: second, instances, takeoverSinceMs: 0 };
      expect(stepsOf({ ...taking, nowMs: 9999 })).toEqual([{ kind: 'hold' }]);
      expect(stepsOf({ ...taking, nowMs: 10_000 })).toEqual([
        { kind: 'fail', reason: expect.stringContaining('was not ready') },
      ]);
    }
  });

  test('holds requests while an instance is started again, for a while, unless it ends again and again', () => {
    const unserved = { unservedSinceMs: 1000, nowMs: 1050 };
    for (const phase of ['ended', 'starting', 'prepared', 'unready'] as const) {
      const first = { ...unserved, instances: again(phase, 1) };
      expect(stepsOf(first)).toEqual([{ kind: 'hold' }]);
      expect(stepsOf({ ...first, hold: 'asked' })).toEqual([]);
      const twice = { ...unserved, instances: again(phase, 2) };
      expect(stepsOf(twice)).toEqual([]);
      expect(stepsOf({ ...twice, hold: 'asked' })).toEqual([{ kind: 'release' }]);
    }
    const late = { instances: again('starting', 1), unservedSinceMs: 1000, nowMs: 3000 };
    expect(stepsOf(late)).toEqual([]);
    expect(stepsOf({ ...late, hold: 'acknowledged' })).toEqual([{ kind: 'release' }]);
    const ready = { ...unserved, instances: [present], unservedSinceMs: undefined };
    expect(stepsOf({ ...ready, hold: 'acknowledged' })).toEqual([{ kind: 'release' }]);
  });

  test('keeps holding when the next instance has failed, until the former one serves', () => {
    const failed = { wanted: second, failure: 'too late', hold: 'acknowledged' } as const;
    const ownEnd = next('ended', { endedAtMs: 1000 });
    const coming = [instance('one', { phase: 'starting' }), ownEnd];
    expect(stepsOf({ ...failed, instances: coming })).toEqual([]);
    expect(stepsOf({ ...failed, instances: [present, ownEnd] })).toEqual([{ kind: 'release' }]);
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

  test('does not start again what this installation refuses, holds nothing for it, and lets held requests continue', () => {
    const [own] = ended(1);
    const refused = [{ ...own!, isRefused: true }];
    const later = { nowMs: 1500, unservedSinceMs: 1000 };
    for (const failure of [undefined, 'too new'])
      expect(stepsOf({ ...later, instances: refused, failure })).toEqual([]);
    const ofSecond = { ...later, wanted: second, failure: 'too new' } as const;
    expect(stepsOf({ ...ofSecond, instances: refused })).toEqual([]);
    expect(stepsOf({ ...ofSecond, instances: refused, hold: 'asked' })).toEqual([
      { kind: 'release' },
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

  test('takes an instance that is not ready out of the routes before it ends', () => {
    const ready = [third('ready'), { ...third('ready'), name: 'four' }];
    const unready = (phase: InstanceView['phase']) => [instance('one', { phase }), ...ready];
    expect(stepsOf({ wanted: two(2), instances: unready('unready') })).toEqual([
      { kind: 'retire', name: 'one' },
    ]);
    expect(stepsOf({ wanted: two(2), instances: unready('retired') })).toEqual([
      { kind: 'stop', name: 'one' },
    ]);
    expect(stepsOf({ wanted: two(2), instances: unready('starting') })).toEqual([
      { kind: 'stop', name: 'one' },
    ]);
  });

  test('starts no former instance again that this installation refuses', () => {
    const former = instance('one', { phase: 'ended', failures: 1, endedAtMs: 0 });
    const crashed = { wanted: two(2), failure: 'too new' };
    const of = (isRefused: boolean) =>
      stepsOf({ ...crashed, instances: [{ ...former, isRefused }, instance('two')] });
    expect(of(false)).toEqual([{ kind: 'restart', name: 'one' }]);
    expect(of(true)).toEqual([]);
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

const rivals = (phase: InstanceView['phase'] = 'ready') => [
  instance('one', { phase, cohort: 'a' }),
  instance('two', { phase, cohort: 'a' }),
];
const ally = (phase: InstanceView['phase'], name = 'three') =>
  instance(name, { generation: 2, phase, cohort: 'b' });

describe('the plan for a service whose instances must not run beside those of another cohort', () => {
  const next = wanted({ generation: 2, instances: 2, hasDataFolder: false, cohort: 'b' });

  test('holds, ends all of the other cohort, and starts all that are wanted', () => {
    expect(stepsOf({ wanted: next, instances: rivals() })).toEqual([{ kind: 'hold' }]);
    expect(stepsOf({ wanted: next, instances: rivals(), hold: 'asked' })).toEqual([]);
    expect(stepsOf({ wanted: next, instances: rivals(), hold: 'acknowledged' })).toEqual([
      { kind: 'stop', name: 'one' },
      { kind: 'stop', name: 'two' },
    ]);
    const half = [rivals('ended')[0]!, rivals('stopping')[1]!];
    expect(stepsOf({ wanted: next, instances: half, hold: 'acknowledged' })).toEqual([]);
    expect(stepsOf({ wanted: next, instances: rivals('ended'), hold: 'acknowledged' })).toEqual([
      { kind: 'create' },
      { kind: 'create' },
    ]);
  });

  test('removes what was refused beside the others before these end', () => {
    const refused = [...rivals(), ally('ended'), ally('starting', 'four'), ally('unready', 'five')];
    expect(stepsOf({ wanted: next, instances: refused, hold: 'acknowledged' })).toEqual([
      { kind: 'remove', name: 'three' },
      { kind: 'stop', name: 'four' },
      { kind: 'retire', name: 'five' },
    ]);
  });

  test('releases with the first that is ready, and removes the others', () => {
    const instances = [...rivals('ended'), ally('ready'), ally('starting', 'four')];
    expect(stepsOf({ wanted: next, instances, hold: 'acknowledged' })).toEqual([
      { kind: 'release' },
      { kind: 'remove', name: 'one' },
      { kind: 'remove', name: 'two' },
    ]);
  });

  test('gives up what ends, or is late, and starts the others again once it has ended', () => {
    const held = { wanted: next, hold: 'acknowledged' } as const;
    const crashed = [...rivals('ended'), ally('ended'), ally('starting', 'four')];
    expect(stepsOf({ ...held, instances: crashed })).toEqual(
      expect.arrayContaining([{ kind: 'fail', reason: 'it ended when it had the database' }]),
    );
    const slow = [...rivals('ended'), ally('starting'), ally('unready', 'four')];
    const late = { ...held, instances: slow, takeoverSinceMs: 0 };
    expect(stepsOf({ ...late, nowMs: 9999 })).toEqual([]);
    expect(stepsOf({ ...late, nowMs: 10_000 })).toEqual([
      { kind: 'fail', reason: 'it was not ready 10 s after it had the database' },
    ]);
    expect(stepsOf({ ...late, failure: 'late' })).toEqual([
      { kind: 'stop', name: 'three' },
      { kind: 'stop', name: 'four' },
    ]);
    const over = [...rivals('ended'), ally('ended'), ally('ended', 'four')];
    expect(stepsOf({ ...held, instances: over, failure: 'late' })).toEqual([
      { kind: 'restart', name: 'one' },
      { kind: 'restart', name: 'two' },
    ]);
  });

  test('leaves those alone that run when what is wanted is of their cohort, whatever has failed in between', () => {
    const third = { ...next, generation: 3, cohort: 'a' };
    expect(stepsOf({ wanted: third, instances: [...rivals(), ally('ended')] })).toEqual([
      { kind: 'remove', name: 'three' },
      { kind: 'create' },
    ]);
  });
});

describe.each([
  ['with a data folder', 'data-folder'],
  ['whose instances serve side by side', 'side-by-side'],
  ['whose instances do not run beside those of another cohort', 'cohorts'],
  ['whose images may not fit together', 'images'],
] as const)('a machine with a service %s', (_, service) => {
  test('gets to what is desired, whatever crashes on the way, and never serves less than it should', () => {
    assert(
      property(integer(), integer({ min: 5, max: 60 }), (seed, rounds) => {
        const machine = new SimulatedMachine(seed, service);
        machine.live(rounds);
        machine.settle();
        expect(machine.complaints).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});
