// An installation without an orchestrator: services are stored, and everybody is told that nothing runs.
import { expect, test } from 'vitest';
import { Ok } from '@svc/host';
import { SYSTEM_CLOCK as clock } from '../../../kit/clock.ts';
import { FailedRequests } from '../../../control-plane/orchestration/failed-requests.ts';
import { FaultLog } from '../../../control-plane/orchestration/fault-log.ts';
import { Observations } from '../../../control-plane/orchestration/observations.ts';
import { ORCHESTRATOR_DEFAULTS as section } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { Orchestrator } from '../../../control-plane/orchestration/orchestrator.ts';
import { Reconciler } from '../../../control-plane/orchestration/reconciler.ts';
import { emptyService } from '../../../control-plane/model/service-state.ts';
import { NO_ORCHESTRATOR } from '../../../control-plane/orchestration/no-orchestrator.ts';
import { checkedObservation } from '../../../control-plane/orchestration/checked-observation.ts';
import { statusOf } from '../../../control-plane/orchestration/service-status.ts';
import { desired, KEY } from './desired.ts';

const { signal } = new AbortController();
const NOW_MS = 1_800_000_000_000;

async function statusWithout(more: Parameters<typeof desired>[0]) {
  const answer = await NO_ORCHESTRATOR.observe(KEY, signal);
  const observation = checkedObservation(answer, KEY, NOW_MS);
  return statusOf(
    desired(more),
    { observation, isCurrent: true },
    { nowMs: NOW_MS, progressDeadlineMs: 600_000 },
  );
}

test('every service can be stored, is pending, and says why', async () => {
  expect(await NO_ORCHESTRATOR.problems(desired(), signal)).toEqual([]);
  await NO_ORCHESTRATOR.reconcile(desired(), signal);
  expect(await statusWithout({})).toMatchObject({
    lifecycle: 'pending',
    confirmed: false,
    readyInstances: 0,
    detail: 'no orchestrator is configured in this installation, so nothing runs',
  });
});

test('a paused or suspended one is said to be so', async () => {
  expect(await statusWithout({ isPaused: true, instances: 0 })).toMatchObject({
    lifecycle: 'paused',
    confirmed: false,
  });
  expect((await statusWithout({ isSuspended: true, instances: 0 })).lifecycle).toBe('suspended');
});

test('a deleted service leaves nothing behind, and there are no logs', async () => {
  await NO_ORCHESTRATOR.reconcile({ kind: 'removed', key: KEY }, signal);
  expect(await NO_ORCHESTRATOR.observe(KEY, signal)).toMatchObject({ kind: 'none', key: KEY });
  expect(await NO_ORCHESTRATOR.logs(KEY, { previous: false, bytesMax: 1024 }, signal)).toEqual([]);
});

/** Returns what follows from a look at a service that exists. */
async function outcomeWith(orchestrator: Orchestrator) {
  const faults = new FaultLog(() => {}, clock);
  const failedRequests = new FailedRequests();
  const given = { orchestrator, section, clock, failedRequests };
  const observations = new Observations({ ...given, faults });
  const { descriptor } = desired();
  const state = { ...emptyService(), isAlive: true, claim: 'life1', generation: 3, descriptor };
  const call = (() => ({ desired: () => Promise.resolve(new Ok(state)) })) as never;
  return await new Reconciler({ ...given, call, observations }).work(KEY, signal);
}

test('a service is not looked at again and again, as it is with an orchestrator that has not begun yet', async () => {
  expect(await outcomeWith(NO_ORCHESTRATOR)).toBe('settled');
  const { runsNothing: _, ...other } = NO_ORCHESTRATOR;
  expect(await outcomeWith(other)).toBe('unsettled');
});
