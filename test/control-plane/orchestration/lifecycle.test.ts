// The eight states: a row for each case, and what holds for every case.
import {
  assert,
  boolean,
  constant,
  constantFrom,
  integer,
  nat,
  oneof,
  property,
  record,
  type Arbitrary,
} from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LIFECYCLES, type Lifecycle } from '@svc/client';
import { lifecycleOf } from '../../../control-plane/orchestration/lifecycle.ts';
import type {
  DesiredService,
  Observation,
  Rollout,
} from '../../../control-plane/orchestration/orchestrator.ts';
import { KEY, desired, workload } from './desired.ts';

const NOW_MS = 1_800_000_000_000;
const DEADLINE_MS = 600_000;
const none: Observation = { kind: 'none', key: KEY };
const progressing = (agoMs: number): Rollout => ({ kind: 'progressing', sinceMs: NOW_MS - agoMs });
const failed: Rollout = { kind: 'failed', reason: 'no such image' };
const off = { instances: 0 };

const CASES: readonly (readonly [Lifecycle, string, DesiredService, Observation | undefined])[] = [
  ['pending', 'nothing was ever observed', desired(), undefined],
  ['pending', 'nothing runs', desired(), none],
  [
    'pending',
    'a deleted service of the name is left',
    desired(),
    workload({ incarnation: 'life0' }),
  ],
  ['deploying', 'the former generation is ready', desired(), workload({ generation: 2 })],
  [
    'deploying',
    'the former generation failed',
    desired(),
    workload({ generation: 2, rollout: failed }),
  ],
  [
    'deploying',
    'a later generation is ready, as after a restore',
    desired(),
    workload({ generation: 4 }),
  ],
  [
    'deploying',
    'it was resumed, and is still stopped',
    desired(),
    workload({ wantedInstances: 0, readyInstances: 0, updatedInstances: 0 }),
  ],
  [
    'deploying',
    'it was resumed after a failure',
    desired(),
    workload({ wantedInstances: 0, rollout: failed }),
  ],
  [
    'deploying',
    'some instances are new',
    desired(),
    workload({ updatedInstances: 1, rollout: progressing(0) }),
  ],
  [
    'deploying',
    'the deadline is a millisecond away',
    desired(),
    workload({ rollout: progressing(DEADLINE_MS - 1) }),
  ],
  [
    'failed',
    'the deadline is over, and the former generation serves',
    desired(),
    workload({ updatedInstances: 0, rollout: progressing(DEADLINE_MS) }),
  ],
  ['failed', 'the orchestrator has given up', desired(), workload({ rollout: failed })],
  ['ready', 'all instances are ready', desired(), workload()],
  [
    'ready',
    'more instances than wanted are ready',
    desired(),
    workload({ readyInstances: 3, updatedInstances: 3 }),
  ],
  [
    'degraded',
    'an instance is not ready',
    desired(),
    workload({ readyInstances: 1, updatedInstances: 1 }),
  ],
  [
    'unavailable',
    'no instance is ready',
    desired(),
    workload({ readyInstances: 0, updatedInstances: 0 }),
  ],
  ['paused', 'instances are still stopping', desired({ ...off, isPaused: true }), workload()],
  [
    'paused',
    'the rollout failed before',
    desired({ ...off, isPaused: true }),
    workload({ rollout: failed }),
  ],
  ['paused', 'nothing was observed', desired({ ...off, isPaused: true }), undefined],
  ['suspended', 'the organization is disabled', desired({ ...off, isSuspended: true }), workload()],
  [
    'suspended',
    'it is paused as well',
    desired({ ...off, isSuspended: true, isPaused: true }),
    none,
  ],
];

describe('the lifecycle', () => {
  test.each(CASES)('is %s if %s', (lifecycle, _case, service, observation) => {
    expect(lifecycleOf(service, observation, NOW_MS, DEADLINE_MS)).toBe(lifecycle);
  });

  test('has a case for each of its values', () => {
    expect(new Set(CASES.map(([lifecycle]) => lifecycle))).toEqual(new Set(LIFECYCLES));
  });

  test('has a deadline of ten minutes unless another is given', () => {
    const late = workload({ rollout: progressing(600_000) });
    expect(lifecycleOf(desired(), late, NOW_MS)).toBe('failed');
    expect(lifecycleOf(desired(), late, NOW_MS - 1)).toBe('deploying');
  });
});

const count = integer({ min: 0, max: 4 });
const rollouts: Arbitrary<Rollout> = oneof(
  constant<Rollout>({ kind: 'complete' }),
  constant(failed),
  integer({ min: 0, max: 2 * DEADLINE_MS }).map(progressing),
);
const services = record({ generation: count, isPaused: boolean(), isSuspended: boolean() }).chain(
  (flags) =>
    (flags.isPaused || flags.isSuspended ? constant(0) : integer({ min: 1, max: 4 })).map(
      (instances) => desired({ ...flags, instances }),
    ),
);
const observations: Arbitrary<Observation | undefined> = oneof(
  constantFrom(undefined, none),
  record({
    incarnation: constantFrom('life0', 'life1'),
    generation: count,
    wantedInstances: count,
    readyInstances: count,
    updatedInstances: count,
    rollout: rollouts,
  }).map((more) => workload(more)),
);

/** Fails unless it holds of every service and whatever was observed of it. */
function holds(
  rule: (
    service: DesiredService,
    observation: Observation | undefined,
    state: Lifecycle,
  ) => boolean,
): void {
  assert(
    property(services, observations, (service, observation) =>
      rule(service, observation, lifecycleOf(service, observation, NOW_MS, DEADLINE_MS)),
    ),
    { numRuns: 2000 },
  );
}

const isSettled = (state: Lifecycle) =>
  ['ready', 'degraded', 'unavailable', 'failed'].includes(state);

describe('whatever is observed', () => {
  test('the state is settled only by the desired generation of the present life', () => {
    expect(() =>
      holds(
        (service, observation, state) =>
          !isSettled(state) ||
          (observation?.kind === 'workload' &&
            observation.incarnation === service.incarnation &&
            observation.generation === service.generation &&
            observation.wantedInstances === service.instances),
      ),
    ).not.toThrow();
  });

  test('suspended wins over paused, and both over what runs', () => {
    expect(() =>
      holds(
        ({ isPaused, isSuspended }, _observation, state) =>
          (state === 'suspended') === isSuspended &&
          (state === 'paused') === (isPaused && !isSuspended),
      ),
    ).not.toThrow();
  });

  test('a paused service whose organization is disabled and enabled again is paused', () => {
    const paused = desired({ isPaused: true, instances: 0 });
    expect(() =>
      holds(
        (_service, observation) =>
          lifecycleOf({ ...paused, isSuspended: true }, observation, NOW_MS) === 'suspended' &&
          lifecycleOf(paused, observation, NOW_MS) === 'paused',
      ),
    ).not.toThrow();
  });

  test('time alone changes nothing but that a rollout without progress has failed', () => {
    const later = property(
      services,
      observations,
      nat(3 * DEADLINE_MS),
      (service, observation, laterMs) => {
        const before = lifecycleOf(service, observation, NOW_MS, DEADLINE_MS);
        const after = lifecycleOf(service, observation, NOW_MS + laterMs, DEADLINE_MS);
        return before === after || (before === 'deploying' && after === 'failed');
      },
    );
    expect(() => assert(later)).not.toThrow();
  });

  test('a running service of which all instances are ready is ready, whatever was before', () => {
    expect(() =>
      holds((service) => {
        const { generation, instances } = service;
        const counts = { wantedInstances: instances, readyInstances: instances };
        const all = workload({ generation, ...counts, updatedInstances: instances });
        return instances === 0 || lifecycleOf(service, all, NOW_MS) === 'ready';
      }),
    ).not.toThrow();
  });
});
