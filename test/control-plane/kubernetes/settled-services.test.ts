// A settled service is neither read nor written again while watches say that nothing has changed; whatever changes, ends or is silent has the server asked.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '@svc/kit/clock';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import {
  desiredService,
  installation,
  PROCESS,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { until } from '../local/until.ts';
import { StoredObjects, SYSTEM_NAMESPACE } from './stored-objects.ts';

const never = new AbortController().signal;
const SITE = desiredService({ ...WEB, env: { A: '1' }, instances: 2 });
const { key } = SITE;
const SHOP = '/api/v1/namespaces/svc-shop';
const APPS = '/apis/apps/v1/namespaces/svc-shop';
const WORKLOAD = `${APPS}/deployments/site`;
const POD = `${SHOP}/pods/site-1`;
const CONTACT = `GET ${SYSTEM_NAMESPACE}`;

/** Time passes when a test says so. Pauses between watches end at once. */
class SteppedClock implements Clock {
  #nowMs = 1_000_000;

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(ms: number, callback: () => void): () => void {
    if (ms >= 60_000) return () => undefined;
    const timer = setTimeout(callback, 1);
    return () => clearTimeout(timer);
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }
}

let clock: SteppedClock;
let cluster: StoredObjects;
let orchestrator: KubernetesOrchestrator;
let reports: number;

beforeEach(async () => {
  clock = new SteppedClock();
  cluster = await StoredObjects.start();
  reports = 0;
  orchestrator = new KubernetesOrchestrator({
    client: cluster.api.client(),
    installation: installation(),
    log: () => undefined,
    clock,
    watchLimits: { silentMs: 120_000 },
    random: () => 1,
  });
});
afterEach(async () => {
  await orchestrator[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

const ownedBy = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ kind, name, uid, controller: true }],
});

/** Does what the controllers and the nodes do with the workload, as it is. */
function rollOut(): void {
  const found = cluster.objects.get(WORKLOAD)!;
  const { template } = found['spec'] as {
    readonly template: { readonly metadata: KubeObject['metadata'] };
  };
  const { annotations, labels } = template.metadata;
  const metadata = { namespace: 'svc-shop', labels: labels!, annotations: annotations! };
  const set = { ...metadata, name: 'site-1', uid: 'set', ...ownedBy('Deployment', 'site', 'it') };
  cluster.change(`${APPS}/replicasets/site-1`, { metadata: set, spec: { template } });
  for (const name of ['site-1', 'site-2'])
    cluster.change(`${SHOP}/pods/${name}`, {
      metadata: { ...metadata, name, ...ownedBy('ReplicaSet', 'site-1', 'set') },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
  const message = 'ReplicaSet "site-1" has successfully progressed.';
  const condition = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' };
  cluster.changeStatus(WORKLOAD, {
    observedGeneration: 1000,
    conditions: [{ ...condition, message }],
  });
}

async function looked(desired: DesiredService = SITE): Promise<readonly string[]> {
  cluster.takeRequests();
  await orchestrator.reconcile(desired, never);
  await orchestrator.observe(key, never);
  return cluster.takeRequests();
}

/** Looks at the service until no request is needed. */
async function settle(): Promise<void> {
  await until(async () => {
    const requests = await looked();
    if (requests.some(isWrite)) rollOut();
    return requests.length === 0;
  });
}

async function watchedAndSettled(): Promise<void> {
  orchestrator.watch(() => reports++);
  await settle();
}

const isWrite = (request: string) => request.startsWith('PATCH');
const changed = (path: string, more: object): void => {
  const found = cluster.objects.get(path)!;
  const { resourceVersion: _, generation: __, ...metadata } = found.metadata;
  cluster.change(path, { ...found, ...more, metadata });
};

test('a settled service is looked at without a request, and any number of times with one in five seconds', async () => {
  await watchedAndSettled();
  expect(await looked()).toEqual([]);
  clock.pass(5000);
  expect(await looked()).toEqual([CONTACT]);
  for (let at = 0; at < 10; at++) expect(await looked()).toEqual([]);
});

test('without watches the server is always asked', async () => {
  await looked();
  expect((await looked()).filter(isWrite).length).toBeGreaterThan(3);
});

test.each([
  ['the workload', WORKLOAD, { replicas: 9 }],
  ['a Service', `${SHOP}/services/site`, { selector: {} }],
  [
    'a NetworkPolicy',
    '/apis/networking.k8s.io/v1/namespaces/svc-shop/networkpolicies/site',
    { ingress: [] },
  ],
  [
    'a budget',
    '/apis/policy/v1/namespaces/svc-shop/poddisruptionbudgets/site',
    { maxUnavailable: 9 },
  ],
])('a change of %s by someone else is won back, and reported', async (_, path, more) => {
  await watchedAndSettled();
  const before = structuredClone(cluster.objects.get(path)!['spec']) as object;
  const reported = reports;
  changed(path, { spec: { ...before, ...more } });
  await until(async () => reports > reported);
  expect((await looked()).some(isWrite)).toBe(true);
  expect(cluster.objects.get(path)!['spec']).toEqual(before);
  await settle();
});

test('a namespace whose labels are changed is won back', async () => {
  await watchedAndSettled();
  const { metadata } = cluster.objects.get(SHOP)!;
  const reported = reports;
  cluster.change(SHOP, {
    ...cluster.objects.get(SHOP)!,
    metadata: {
      name: metadata.name,
      uid: metadata.uid!,
      labels: { ...metadata.labels, 'pod-security.kubernetes.io/enforce': 'privileged' },
    },
  });
  await until(async () => reports > reported);
  await looked();
  expect(cluster.objects.get(SHOP)!.metadata.labels).toEqual(metadata.labels);
});

test('a pod that changes has the service observed, and nothing applied', async () => {
  await watchedAndSettled();
  const reported = reports;
  cluster.changeStatus(POD, { conditions: [{ type: 'Ready', status: 'False' }] });
  await until(async () => reports > reported);
  const requests = await looked();
  expect(requests.filter(isWrite)).toEqual([]);
  expect(requests).toContain(`GET ${SHOP}/pods`);
  // Why a pod is not ready may be known later, without a change of the pod.
  expect(await looked()).toContain(`GET ${SHOP}/pods`);
  cluster.changeStatus(POD, { conditions: [{ type: 'Ready', status: 'True' }] });
  await settle();
});

test('a status that changes has the service observed, and nothing applied', async () => {
  await watchedAndSettled();
  const reported = reports;
  cluster.changeStatus(WORKLOAD, { observedGeneration: 1001 });
  await until(async () => reports > reported);
  const requests = await looked();
  expect(requests.filter(isWrite)).toEqual([]);
  expect(requests).toContain(`GET ${WORKLOAD}`);
});

test('another descriptor, generation or incarnation is applied at once', async () => {
  await watchedAndSettled();
  for (const more of [
    { generation: 8 },
    { incarnation: 'other' },
    { descriptor: { ...SITE.descriptor, env: { A: '2' } } },
  ]) {
    expect((await looked({ ...SITE, ...more })).some(isWrite)).toBe(true);
    expect((await looked()).some(isWrite)).toBe(true);
    await settle();
  }
});

test('a service that was removed and applied again is applied, and observed', async () => {
  await watchedAndSettled();
  await orchestrator.reconcile({ kind: 'removed', key }, never);
  expect(await orchestrator.observe(key, never)).toMatchObject({
    detail: 'its instances are ending',
  });
  expect((await looked()).some(isWrite)).toBe(true);
});

test('an apply that fails is not taken for done', async () => {
  await watchedAndSettled();
  const next = { ...SITE, generation: 8 };
  const apply = `PATCH ${WORKLOAD}`;
  cluster.refusals.set(apply, { status: 500, reason: 'InternalError', message: 'no' });
  await expect(orchestrator.reconcile(next, never)).rejects.toThrow('no');
  cluster.refusals.clear();
  expect(await looked(next)).toContain(apply);
  expect(await looked()).toContain(apply);
});

describe('what watches cannot tell', () => {
  test('is asked for after half a day', async () => {
    await watchedAndSettled();
    const secret = `${SHOP}/secrets/site-env`;
    const before = cluster.objects.get(secret)!['data'];
    changed(secret, { data: {} });
    await looked();
    expect(cluster.objects.get(secret)!['data']).toEqual({});
    // The watches would have been ended as silent on the way.
    cluster.endWatches();
    clock.pass(43_200_000);
    await until(async () => (await looked()).some(isWrite));
    expect(cluster.objects.get(secret)!['data']).toEqual(before);
  });

  test('is applied again once an instance is in trouble, since a secret may be gone', async () => {
    await watchedAndSettled();
    const secret = `${SHOP}/secrets/site-env`;
    cluster.objects.delete(secret);
    const state = { waiting: { reason: 'CreateContainerConfigError', message: 'no secret' } };
    changed(`${SHOP}/pods/site-1`, {
      status: { phase: 'Pending', containerStatuses: [{ name: 'service', state }] },
    });
    await expect.poll(() => looked()).toContain(`PATCH ${secret}`);
    rollOut();
    await settle();
    expect(await looked()).toEqual([]);
  });

  test('is asked for while a watch was silent for too long', async () => {
    await watchedAndSettled();
    clock.pass(119_999);
    expect((await looked()).some(isWrite)).toBe(false);
    clock.pass(1);
    expect((await looked()).some(isWrite)).toBe(true);
  });

  test('is found by the list with which the next watch begins', async () => {
    await watchedAndSettled();
    cluster.leavesOutChanges = true;
    changed(WORKLOAD, {
      spec: { ...(cluster.objects.get(WORKLOAD)!['spec'] as object), replicas: 9 },
    });
    cluster.change(POD, undefined);
    expect(await looked()).toEqual([]);
    cluster.endWatches();
    await until(async () => (await looked()).some(isWrite));
    expect(cluster.objects.get(WORKLOAD)!['spec']).toMatchObject({ replicas: 2 });
  });
});

test('a service at rest whose database was not noted is applied at each look until its secret is there', async () => {
  const database = { urlFrom: 'site-url' };
  const desired = desiredService({ ...PROCESS, name: 'site', instances: 2, database });
  const url = `${SHOP}/secrets/site-url`;
  const note = `${SHOP}/secrets/site-journal`;
  const settleIt = () =>
    until(async () => {
      const requests = await looked(desired);
      if (requests.some(isWrite)) rollOut();
      return requests.length === 0;
    });
  orchestrator.watch(() => reports++);
  for (let at = 0; at < 4; at++) {
    await looked(desired);
    rollOut();
  }
  // Its instances have started since, which no watch has to say.
  expect(await orchestrator.observe(key, never)).toMatchObject({ readyInstances: 2 });
  expect((await looked(desired)).some(isWrite)).toBe(true);
  cluster.objects.set(url, { metadata: { name: 'site-url' } });
  expect(await looked(desired)).toContain(`PATCH ${note}`);
  await settleIt();
  // The note stays without the secret, so nothing is awaited.
  cluster.objects.delete(url);
  changed(WORKLOAD, { spec: {} });
  await until(async () => (await looked(desired)).some(isWrite));
  rollOut();
  await settleIt();
  expect(cluster.objects.has(note)).toBe(true);
});

test('a server that does not answer is not there, although every watch is open', async () => {
  await watchedAndSettled();
  clock.pass(5000);
  cluster.refuseAll = { status: 500, reason: 'InternalError', message: 'no leader' };
  await expect(orchestrator.observe(key, never)).rejects.toThrow('no leader');
  await expect(orchestrator.reconcile(SITE, never)).rejects.toThrow('no leader');
  cluster.refuseAll = undefined;
  await settle();
});

test('a server that leaves one request without an answer is asked for each service in the time of an observation', async () => {
  await watchedAndSettled();
  clock.pass(5000);
  cluster.silentPath = SYSTEM_NAMESPACE;
  cluster.takeRequests();
  const timely = AbortSignal.timeout(ORCHESTRATOR_DEFAULTS.observeTimeoutMs);
  const observed = await Promise.all([1, 2, 3].map(() => orchestrator.observe(key, timely)));
  expect(observed).toMatchObject([1, 2, 3].map(() => ({ kind: 'workload', readyInstances: 2 })));
  expect(cluster.takeRequests().filter((request) => request === CONTACT)).toEqual([CONTACT]);
});

test('what was observed during an apply that then fails is not remembered', async () => {
  await watchedAndSettled();
  cluster.refusals.set(`PATCH ${WORKLOAD}`, {
    status: 500,
    reason: 'InternalError',
    message: 'no',
  });
  let observing: Promise<unknown> | undefined;
  cluster.onRequest = () => {
    if (cluster.api.requests.at(-1)?.method === 'PATCH')
      observing ??= orchestrator.observe(key, never);
  };
  await expect(orchestrator.reconcile({ ...SITE, generation: 8 }, never)).rejects.toThrow('no');
  await observing;
  cluster.takeRequests();
  await orchestrator.observe(key, never);
  expect(cluster.takeRequests()).toContain(`GET ${SHOP}/pods`);
});

test('a call that is not waited for any more ends with the reason of its signal', async () => {
  await watchedAndSettled();
  clock.pass(5000);
  const stopping = new AbortController();
  cluster.onRequest = () => stopping.abort(new Error('not waited for'));
  await expect(orchestrator.observe(key, stopping.signal)).rejects.toThrow('not waited for');
});
