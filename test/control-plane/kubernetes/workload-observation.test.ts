// An observation of a service in a cluster is what its objects say of the generation that was applied last, and never of the one before.
import { describe, expect, test } from 'vitest';
import { observationOf } from '../../../control-plane/kubernetes/workload-observation.ts';
import type { ContainerStatus } from '../../../control-plane/kubernetes/found-objects.ts';
import type { Workload } from '../../../control-plane/orchestration/orchestrator.ts';
import {
  APPLIED,
  CART,
  controllerRevision,
  found,
  LATER_MS,
  ms,
  pod,
  progressed,
  progressing,
  replicaSet,
  timedOut,
  waiting,
  workload,
  type WorkloadFields,
} from './observed-objects.ts';

type Found = Parameters<typeof found>[0];

const observed = (parts: Found) => observationOf(CART, found(parts)) as Workload;
const ofDeployment = (fields: WorkloadFields, parts: Found = {}) =>
  observed({
    workloads: [workload('Deployment', fields)],
    revisions: [replicaSet('cart-1')],
    pods: [pod('cart-1-a'), pod('cart-1-b')],
    ...parts,
  });

const ofStatefulSet = (fields: WorkloadFields, parts: Found = {}) =>
  observed({
    workloads: [workload('StatefulSet', { instances: 1, ...fields })],
    revisions: [controllerRevision('cart-r2', '2026-11-30T10:00:10Z')],
    pods: [pod('cart-0', { isReady: false })],
    ...parts,
  });
const detailOf = (...pods: readonly ReturnType<typeof pod>[]) =>
  ofDeployment({ conditions: [progressing('cart-1')] }, { pods }).detail;

describe('a Deployment', () => {
  test('is complete once the controllers say so of its present pods', () => {
    expect(ofDeployment({ conditions: [progressed('cart-1')] })).toEqual({
      kind: 'workload',
      key: CART,
      incarnation: 'life1',
      generation: 1,
      wantedInstances: 2,
      readyInstances: 2,
      updatedInstances: 2,
      rollout: { kind: 'complete' },
    });
  });

  test('stays complete when its pods crash', () => {
    const pods = [pod('cart-1-a', { isReady: false }), pod('cart-1-b')];
    const hurt = ofDeployment({ conditions: [progressed('cart-1')] }, { pods });
    expect(hurt).toMatchObject({ readyInstances: 1, rollout: { kind: 'complete' } });
    const lost = ofDeployment({ conditions: [progressed('cart-1')] }, { pods: [] });
    expect(lost).toMatchObject({ readyInstances: 0, rollout: { kind: 'complete' } });
  });

  test('progresses since it was applied while no controller has seen the change', () => {
    const conditions = [progressed('cart-1')];
    expect(ofDeployment({ version: 3, observedVersion: 2, conditions }).rollout).toEqual({
      kind: 'progressing',
      sinceMs: ms(APPLIED),
    });
  });

  test('is not complete for what the controllers say of the generation before', () => {
    const stale = ofDeployment(
      { generation: 2, conditions: [progressed('cart-1')] },
      { revisions: [replicaSet('cart-1'), replicaSet('cart-2', { generation: 2 })] },
    );
    expect(stale).toMatchObject({
      generation: 2,
      readyInstances: 2,
      updatedInstances: 0,
      rollout: { kind: 'progressing' },
    });
    const unseen = ofDeployment({ generation: 2, conditions: [progressed('cart-1')] });
    expect(unseen.rollout.kind).toBe('progressing');
  });

  test('that is resumed is not complete for what the controllers said before the pause', () => {
    const started = '2026-11-30T11:00:00Z';
    const resumed = ofDeployment({ started, conditions: [progressed('cart-1')] }, { pods: [] });
    expect(resumed.rollout.kind).toBe('progressing');
  });

  test('progresses since the last time that a pod became available', () => {
    expect(ofDeployment({ conditions: [progressing('cart-1')] }).rollout).toEqual({
      kind: 'progressing',
      sinceMs: LATER_MS,
    });
  });

  test('has failed with the words of its pods and of the controllers', () => {
    const message = 'Back-off pulling image "registry.example/cart:2"';
    const pods = [
      pod('cart-1-a', { isReady: false, containers: [waiting('ImagePullBackOff', message)] }),
      pod('cart-0-a', { generation: 0 }),
    ];
    const failed = ofDeployment({ conditions: [timedOut('cart-1')] }, { pods });
    expect(failed).toMatchObject({
      readyInstances: 1,
      updatedInstances: 0,
      detail: `ImagePullBackOff: ${message}`,
      rollout: {
        kind: 'failed',
        reason: `ImagePullBackOff: ${message}; ReplicaSet "cart-1" has timed out progressing.`,
      },
    });
  });

  test('quotes why its pods cannot be made', () => {
    const message = 'pods "cart-1-" is forbidden: exceeded quota: small';
    const refused = ofDeployment(
      {
        conditions: [
          progressing('cart-1'),
          { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message },
        ],
      },
      { pods: [] },
    );
    expect(refused.detail).toBe(message);
    expect(refused.rollout.kind).toBe('progressing');
  });

  test('without instances is complete once no pod serves', () => {
    const fields = { instances: 0, conditions: [timedOut('cart-1')] };
    expect(ofDeployment(fields).rollout.kind).toBe('progressing');
    const pods = [pod('cart-1-a', { isDeleted: true })];
    expect(ofDeployment(fields, { pods })).toMatchObject({
      wantedInstances: 0,
      readyInstances: 0,
      rollout: { kind: 'complete' },
    });
  });

  test('progresses while someone has scaled it to nothing', () => {
    const scaled = ofDeployment({ replicas: 0, conditions: [progressed('cart-1')] }, { pods: [] });
    expect(scaled).toMatchObject({ wantedInstances: 2, rollout: { kind: 'progressing' } });
  });

  test('that is being deleted is never complete', () => {
    const ending = ofDeployment({
      deletionTimestamp: '2026-11-30T12:00:00Z',
      conditions: [progressed('cart-1')],
    });
    expect(ending.rollout).toEqual({ kind: 'progressing', sinceMs: ms('2026-11-30T12:00:00Z') });
    expect(ending.detail).toBe('it is being deleted');
  });

  test('takes its generation from its pods if someone has removed its annotations', () => {
    const { metadata, ...rest } = workload('Deployment', { generation: 4 });
    const stripped = { ...rest, metadata: { ...metadata, annotations: {} } };
    expect(observed({ workloads: [stripped] })).toMatchObject({
      incarnation: 'life1',
      generation: 4,
    });
  });
});

const databaseOf = (journal: string | undefined) => {
  const { metadata, ...rest } = workload('Deployment');
  const annotations = { ...metadata.annotations, ...(journal && { 'svc.dev/journal': journal }) };
  return observed({ workloads: [{ ...rest, metadata: { ...metadata, annotations } }] }).database;
};

test('a workload has the database that the service has; a journal on a volume is one that the platform has made', () => {
  expect(['supplied', 'provisioned', 'volume', undefined, 'toString'].map(databaseOf)).toEqual([
    'supplied',
    'provisioned',
    'provisioned',
    undefined,
    undefined,
  ]);
});

describe('a StatefulSet', () => {
  test('is complete once its updated revision is the current one, and stays so', () => {
    const revisions = { currentRevision: 'cart-r2', updateRevision: 'cart-r2' };
    expect(ofStatefulSet(revisions)).toMatchObject({
      readyInstances: 0,
      rollout: { kind: 'complete' },
    });
  });

  test('progresses since its revision was made, or a pod of it became ready', () => {
    const revisions = { currentRevision: 'cart-r1', updateRevision: 'cart-r2' };
    expect(ofStatefulSet(revisions).rollout).toEqual({
      kind: 'progressing',
      sinceMs: ms('2026-11-30T10:00:10Z'),
    });
    expect(ofStatefulSet(revisions, { pods: [pod('cart-0')] }).rollout).toEqual({
      kind: 'progressing',
      sinceMs: LATER_MS,
    });
  });

  test('that has not begun with pods is not complete', () => {
    const revisions = { currentRevision: 'cart-r1', updateRevision: 'cart-r1' };
    expect(ofStatefulSet({ ...revisions, replicas: 0 }).rollout.kind).toBe('progressing');
  });

  test('that no controller has seen is not complete', () => {
    expect(ofStatefulSet({ observedVersion: 0 }).rollout.kind).toBe('progressing');
    expect(ofStatefulSet({}).rollout.kind).toBe('progressing');
  });
});

const failed = (message: string) => ({ terminated: { reason: 'Error', exitCode: 1, message } });

describe('the detail of a workload', () => {
  test('is nothing while its pods start', () => {
    const containers = [waiting('ContainerCreating')];
    expect(detailOf(pod('a', { isReady: false, containers }))).toBeUndefined();
  });

  test('quotes each reason once', () => {
    const containers = [waiting('ErrImagePull', 'not found')];
    const pods = ['a', 'b'].map((name) => pod(name, { isReady: false, containers }));
    expect(detailOf(...pods)).toBe('ErrImagePull: not found');
  });

  test('says how a container ended that is started again and again', () => {
    const crashing = {
      ...waiting('CrashLoopBackOff', 'back-off 10s restarting failed container'),
      lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
    };
    expect(detailOf(pod('a', { isReady: false, containers: [crashing] }))).toBe(
      'CrashLoopBackOff: the container service ends again and again: OOMKilled, exit code 137',
    );
    const unknown = waiting('CrashLoopBackOff', 'back-off 10s restarting failed container');
    expect(detailOf(pod('a', { isReady: false, containers: [unknown] }))).toBe(
      'CrashLoopBackOff: back-off 10s restarting failed container',
    );
    const ended = {
      name: 'service',
      state: { terminated: { reason: 'Error', exitCode: 2 } },
      lastState: {},
    };
    expect(detailOf(pod('a', { isReady: false, containers: [ended] }))).toBe(
      'the container service has ended: Error, exit code 2',
    );
  });

  test('has the last line of a container that has failed, that of a log its code and message', () => {
    const refusal = {
      time: '2026-11-30T10:00:30Z',
      level: 'error',
      message: 'Events of the nodes that run are unknown to this module.',
      code: 'SVC_UPGRADE_UNSAFE',
    };
    const log = `${JSON.stringify({ level: 'info', message: 'starts' })}\n${JSON.stringify(refusal)}\n`;
    const words = `Error, exit code 1; its last line: SVC_UPGRADE_UNSAFE: ${refusal.message}`;
    const backOff = { ...waiting('CrashLoopBackOff'), lastState: failed(log) };
    const again = { name: 'service', state: { running: {} }, lastState: failed(log) };
    const detailsOf = (container: ContainerStatus) =>
      detailOf(pod('a', { isReady: false, containers: [container] }));
    expect(detailsOf(backOff)).toBe(
      `CrashLoopBackOff: the container service ends again and again: ${words}`,
    );
    expect(detailsOf({ name: 'service', state: failed(log), lastState: {} })).toBe(
      `the container service has ended: ${words}`,
    );
    expect(detailsOf(again)).toBe(`the container service was started again: ${words}`);
    // A pod that serves again is not in trouble.
    expect(detailOf(pod('a', { containers: [again] }))).toBeUndefined();

    const raw = detailsOf({ name: 'service', state: failed(`\u001b[2J${'x'.repeat(5000)}`) })!;
    expect(raw.length).toBeLessThan(1200);
    expect(raw).not.toContain('\u001b');
    // The rollout has the same words when it fails.
    const pods = [pod('cart-1-a', { isReady: false, containers: [backOff] })];
    const late = ofDeployment({ conditions: [timedOut('cart-1')] }, { pods });
    expect(late.rollout).toMatchObject({ kind: 'failed', reason: expect.stringContaining(words) });
  });

  test('has what a pod waits for', () => {
    const fields = { conditions: [progressing('cart-1')] };
    const containers = [waiting('ContainerCreating')];
    const pods = [pod('a', { isReady: false, containers })];
    expect(ofDeployment(fields, { pods, waiting: 'it waits for the secret db' }).detail).toBe(
      'it waits for the secret db',
    );
  });

  test('says why no node takes a pod', () => {
    const unscheduled = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/3 nodes are available: 3 Insufficient memory.',
    };
    const waits = pod('a', { isReady: false, containers: [], conditions: [unscheduled] });
    expect(detailOf(waits)).toBe('Unschedulable: 0/3 nodes are available: 3 Insufficient memory.');
  });

  test('says that a web-hosted process does not listen', () => {
    const spec = {
      containers: [
        { name: 'proxy', env: [{ name: 'SVC_PROXY_PROCESS_PORT', value: '8081' }] },
        { name: 'service' },
      ],
    };
    expect(detailOf(pod('a', { isReady: false, spec }))).toBe(
      'the process is not listening on port 8081',
    );
    const containers = [waiting('ErrImagePull', 'not found')];
    expect(detailOf(pod('a', { isReady: false, spec, containers }))).toBe(
      'ErrImagePull: not found',
    );
    expect(detailOf(pod('a', { spec }))).toBeUndefined();
  });

  test('is of the present generation alone, and of pods that stay', () => {
    const containers = [waiting('ErrImagePull', 'not found')];
    const former = pod('a', { isReady: false, generation: 0, containers });
    const ending = pod('b', { isReady: false, isDeleted: true, containers });
    expect(detailOf(former, ending)).toBeUndefined();
  });

  test('is short and without control characters, whatever the cluster says', () => {
    const containers = [waiting('ErrImagePull', `\u001b[31m${'x'.repeat(5000)}`)];
    const detail = detailOf(pod('a', { isReady: false, containers }))!;
    expect(detail).toHaveLength(2000);
    expect(detail).not.toContain('\u001b');
  });
});

describe('what has no workload', () => {
  test('is nothing only if neither an object nor a pod is left', () => {
    expect(observed({})).toEqual({ kind: 'none', key: CART });
    expect(observed({ pods: [pod('cart-1-a', { isDeleted: true })] })).toMatchObject({
      kind: 'workload',
      incarnation: 'life1',
      generation: 1,
      wantedInstances: 0,
      readyInstances: 0,
      rollout: { kind: 'progressing', sinceMs: LATER_MS },
      detail: 'its instances are ending',
    });
  });

  test('names the objects that are left', () => {
    const secret = { kind: 'Secret', metadata: { name: 'cart-env', creationTimestamp: APPLIED } };
    expect(observed({ others: [secret] })).toMatchObject({
      kind: 'workload',
      incarnation: 'unknown',
      generation: 0,
      rollout: { kind: 'progressing', sinceMs: ms(APPLIED) },
      detail: 'there is no workload, but there are: Secret cart-env',
    });
  });

  test('does not count instances that have ended by themselves', () => {
    const evicted = pod('cart-1-c', { isReady: false, phase: 'Failed' });
    const pods = [pod('cart-1-a'), pod('cart-1-b'), evicted];
    const full = ofDeployment({ conditions: [progressed('cart-1')] }, { pods });
    expect(full).toMatchObject({ readyInstances: 2 });
    expect(full.detail).toBeUndefined();
  });
});
