// What is known of a service: the order of answers, age, refusals, and what is stored of it.
import { describe, expect, test } from 'vitest';
import { FailedRequests } from '../../../control-plane/orchestration/failed-requests.ts';
import { FaultLog } from '../../../control-plane/orchestration/fault-log.ts';
import { Observations } from '../../../control-plane/orchestration/observations.ts';
import {
  lifecycleOf,
  PROGRESS_DEADLINE_MS,
} from '../../../control-plane/orchestration/lifecycle.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { Observation } from '../../../control-plane/orchestration/orchestrator.ts';
import { withRefusal } from '../../../control-plane/orchestration/refusal.ts';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import {
  workload as workloadEntity,
  type RolloutEnd,
} from '../../../control-plane/model/workload.ts';
import { VirtualClock } from '../../../host/testing.ts';
import { accepted, givenProject } from '../control-plane-under-test.ts';
import { KEY, desired, workload } from './desired.ts';
import { OrchestratedControlPlane, ann, isReady } from './orchestrated-control-plane.ts';

function given() {
  const clock = new VirtualClock();
  const answers: ((observation: Observation) => void)[] = [];
  const observations = new Observations({
    clock,
    section: ORCHESTRATOR_DEFAULTS,
    faults: new FaultLog(() => {}, clock),
    failedRequests: new FailedRequests(),
    orchestrator: {
      observe: () => new Promise((resolve) => answers.push(resolve)),
    },
  });
  return { clock, answers, observations };
}

describe('what is known', () => {
  test('is not replaced by the answer to an earlier question that arrives later', async () => {
    const { clock, answers, observations } = given();
    const earlier = observations.ask(KEY);
    await clock.advance(100);
    const later = observations.ask(KEY);
    answers[1]!(workload({ generation: 3 }));
    await later;
    answers[0]!(workload({ generation: 2 }));
    await earlier;
    expect(observations.last(desired()).observation).toMatchObject({ generation: 3 });
  });

  test('is still current when an earlier question has no answer', async () => {
    const { clock, answers, observations } = given();
    const earlier = observations.ask(KEY);
    await clock.advance(100);
    const later = observations.ask(KEY);
    answers[1]!(workload());
    await later;
    const failure = earlier.catch(String);
    await clock.advance(2000);
    expect(await failure).toBe('NoAnswerInTime: no answer within 2000 ms');
    expect(observations.last(desired())).toEqual({ observation: workload(), isCurrent: true });
  });

  test.each([86_400_000, -86_400_000])(
    'makes a rollout neither late nor young when the wall clock is set by %i ms',
    async (ms) => {
      const { clock, answers, observations } = given();
      const asked = observations.ask(KEY);
      answers[0]!(workload({ rollout: { kind: 'progressing', sinceMs: clock.nowMs() - 5000 } }));
      await asked;
      clock.set(ms);
      const lifecycle = () =>
        lifecycleOf(desired(), observations.last(desired()).observation, clock.nowMs());
      await clock.advance(PROGRESS_DEADLINE_MS - 5001);
      expect(lifecycle()).toBe('deploying');
      await clock.advance(1);
      expect(lifecycle()).toBe('failed');
    },
  );

  test('is current for ten seconds from the question on', async () => {
    const { clock, answers, observations } = given();
    const asked = observations.ask(KEY);
    await clock.advance(1000);
    answers[0]!(workload());
    await asked;
    await clock.advance(9000);
    expect(observations.last(desired()).isCurrent).toBe(true);
    await clock.advance(1);
    expect(observations.last(desired()).isCurrent).toBe(false);
  });

  test('before a restart is never current, and gives way to what is observed', async () => {
    const { answers, observations } = given();
    observations.restore(workload({ generation: 2 }));
    expect(observations.last(desired())).toMatchObject({ isCurrent: false });
    expect(observations.hasSeen(desired())).toBe(false);
    const asked = observations.ask(KEY);
    answers[0]!(workload());
    await asked;
    observations.restore(workload({ generation: 2 }));
    expect(observations.last(desired())).toEqual({ observation: workload(), isCurrent: true });
  });
});

describe('a refusal', () => {
  const reason = 'something else has this name';

  test('is a failure of the very generation that was refused', () => {
    const refusal = { incarnation: 'life1', generation: 3, reason };
    const before = workload({ generation: 2 });
    expect(withRefusal(before, desired(), refusal)).toMatchObject({
      generation: 3,
      readyInstances: 2,
      updatedInstances: 0,
      rollout: { kind: 'failed', reason },
    });
    expect(withRefusal(before, desired({ generation: 4 }), refusal)).toBe(before);
    expect(withRefusal(before, desired({ incarnation: 'life2' }), refusal)).toBe(before);
    expect(withRefusal(before, desired(), undefined)).toBe(before);
  });

  test('says nothing once the orchestrator has taken the generation up', () => {
    const refusal = { incarnation: 'life1', generation: 3, reason };
    expect(withRefusal(workload(), desired(), refusal)).toEqual(workload());
  });
});

describe('what is stored of a service', () => {
  test('is two ends for a rollout at most: it fails, and is complete', async () => {
    const control = await OrchestratedControlPlane.start();
    const stored = control.call(workloadEntity, 'web/shop');
    const complete: RolloutEnd = {
      incarnation: 'life1',
      generation: 1,
      wantedInstances: 2,
      readyInstances: 2,
      updatedInstances: 2,
    };
    const failed = { ...complete, failure: 'no such image' };
    for (const end of [
      failed,
      failed,
      complete,
      failed,
      complete,
      { ...complete, readyInstances: 1 },
    ])
      // oxlint-disable-next-line no-await-in-loop -- one end after the other
      accepted(await stored.endRollout(end));
    expect((await stored.events()).map(({ event }) => event)).toEqual([
      { type: 'rollout-ended', end: failed },
      { type: 'rollout-ended', end: complete },
    ]);
    accepted(await stored.endRollout({ ...complete, wantedInstances: 0 }));
    expect(await stored.events()).toHaveLength(3);
    accepted(await stored.markGone({ generation: 1 }));
    accepted(await stored.markGone({ generation: 1 }));
    expect(await stored.events()).toHaveLength(4);
    expect(accepted(await stored.last())).toEqual({});
  });

  test('does not grow while instances crash again and again', async () => {
    const control = await OrchestratedControlPlane.start();
    await givenProject(control.call, 'shop', 'web');
    await control.apply();
    await control.until(isReady);
    for (let crashes = 0; crashes < 20; crashes++) {
      control.orchestrator.instancesOf(KEY)[0]!.crash();
      // oxlint-disable-next-line no-await-in-loop -- one crash after the other
      await control.clock.advance(5000);
    }
    expect(await control.call(workloadEntity, 'web/cart').events()).toHaveLength(1);
  });

  test('is forgotten with a deleted service, so that the next one of the name has nothing of it', async () => {
    const control = await OrchestratedControlPlane.start();
    await givenProject(control.call, 'shop', 'web');
    await control.apply();
    await control.until(isReady);
    accepted(await deleteService(control.call, KEY, ann));
    await control.clock.until(async () => {
      const last = accepted(await control.call(workloadEntity, 'web/cart').last());
      return last.end === undefined;
    });
    await control.clock.advance(5000);
    control.orchestrator.failAll('fails');
    await control.apply();
    expect(await control.status()).toMatchObject({
      lifecycle: 'pending',
      detail: 'the orchestrator does not answer, and nothing is known of the service',
    });
  });
});
