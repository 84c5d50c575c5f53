// A reconcile reads all objects of a service before it writes the first one, and writes none that is not the platform's.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import {
  KubernetesOrchestrator,
  type KubernetesOrchestratorOptions,
} from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import type { KubernetesInstallation } from '../../../control-plane/kubernetes/manifests/installation.ts';
import { pathOf } from '../../../control-plane/kubernetes/manifests/manifest.ts';
import { serviceLabels } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import { manifestsOf } from '../../../control-plane/kubernetes/manifests/service-manifests.ts';
import {
  type DesiredService,
  WorkloadRefused,
} from '../../../control-plane/orchestration/orchestrator.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  EMBEDDED,
  installation,
  PROCESS,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { StoredObjects } from './stored-objects.ts';

const never = new AbortController().signal;
const SITE = desiredService(
  { ...WEB, env: { A: '1' }, instances: 2 },
  { hostnames: ['a.example'] },
);
const SHOP = '/api/v1/namespaces/svc-shop';
const APPS = '/apis/apps/v1/namespaces/svc-shop';
const SITE_WORKLOAD = `${APPS}/deployments/site`;
const STARTED = 'svc.dev/started';

let cluster: StoredObjects;
let orchestrator: KubernetesOrchestrator;

beforeEach(async () => {
  cluster = await StoredObjects.start();
  orchestrator = orchestratorOf();
});
afterEach(async () => {
  await orchestrator[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

function orchestratorOf(
  more: Partial<KubernetesInstallation> = {},
  options: Partial<KubernetesOrchestratorOptions> = {},
): KubernetesOrchestrator {
  return new KubernetesOrchestrator({
    ...options,
    client: cluster.api.client(),
    installation: installation(more),
    log: () => undefined,
  });
}

const reconcile = (desired: DesiredService) => orchestrator.reconcile(desired, never);

async function refusalOf(desired: DesiredService): Promise<string> {
  const error: unknown = await reconcile(desired).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WorkloadRefused);
  return (error as Error).message;
}

function startedOf(path: string): string | undefined {
  const spec = cluster.objects.get(path)!['spec'] as {
    readonly template: { readonly metadata: { readonly annotations: Record<string, string> } };
  };
  return spec.template.metadata.annotations[STARTED];
}

const foreign = (path: string, labels: Record<string, string> = {}): KubeObject => {
  const object = {
    metadata: { name: path.slice(path.lastIndexOf('/') + 1), uid: 'theirs', labels },
  };
  cluster.objects.set(path, object);
  return object;
};

/** The objects without what differs between two of the same manifest. */
function shown(): unknown {
  return [...cluster.objects].map(([path, { metadata, ...rest }]) => {
    const { uid: _, resourceVersion: __, ...others } = metadata;
    const text = JSON.stringify({ path, metadata: others, ...rest });
    return text.replaceAll(/"svc.dev\/started":"[^"]+"/g, '"svc.dev/started":"some time"');
  });
}

describe('a reconcile', () => {
  test('applies the objects of a service in their order, and the same again', async () => {
    const order = manifestsOf(SITE, installation()).map((one) => `PATCH ${pathOf(one)}`);
    await reconcile(SITE);
    expect(cluster.takeWrites()).toEqual(['POST /api/v1/namespaces', ...order]);
    const stored = structuredClone([...cluster.objects]);
    await reconcile(SITE);
    expect(cluster.takeWrites()).toEqual(order);
    expect([...cluster.objects]).toEqual(stored);
  });

  test('deletes what the descriptor has no more', async () => {
    await reconcile(SITE);
    cluster.takeWrites();
    await reconcile(desiredService({ ...WEB, instances: 1 }));
    const deleted = cluster.takeWrites().filter((write) => write.startsWith('DELETE'));
    expect(deleted).toEqual([
      'DELETE /apis/networking.k8s.io/v1/namespaces/svc-shop/ingresses/site',
      'DELETE /apis/policy/v1/namespaces/svc-shop/poddisruptionbudgets/site',
      `DELETE ${SHOP}/secrets/site-env`,
    ]);
  });

  test('replaces a Deployment by a StatefulSet when a database that never was there is declared no more', async () => {
    orchestrator = orchestratorOf({ databases: undefined });
    const supplied = desiredService({ ...PROCESS, database: { urlFrom: 'cart-url' } });
    await reconcile(supplied);
    cluster.takeWrites();
    await reconcile(desiredService(PROCESS));
    expect(cluster.takeWrites()).toContain(`DELETE ${APPS}/deployments/cart`);
    expect(cluster.objects.has(`${APPS}/statefulsets/cart`)).toBe(true);
  });

  test('removes everything but the namespace, the database and the note of it, and again without a complaint', async () => {
    cluster.objects.set('/apis/postgresql.cnpg.io/v1', {
      metadata: { name: 'discovery' },
      resources: [
        { name: 'clusters/status', kind: 'Cluster' },
        { name: 'clusters', kind: 'Cluster' },
      ],
    });
    orchestrator = orchestratorOf({ databases: CLOUD_NATIVE_PG });
    const desired = desiredService(PROCESS);
    await reconcile(desired);
    const database = '/apis/postgresql.cnpg.io/v1/namespaces/svc-shop/clusters/cart-database';
    expect(cluster.objects.has(database)).toBe(true);
    cluster.takeWrites();
    const removed = { kind: 'removed', key: desired.key } as const;
    await orchestrator.reconcile(removed, never);
    const kept = ['/apis/postgresql.cnpg.io/v1', SHOP, database, `${SHOP}/secrets/cart-journal`];
    expect([...cluster.objects.keys()]).toEqual(kept);
    cluster.takeWrites();
    await orchestrator.reconcile(removed, never);
    expect(cluster.takeWrites()).toEqual([]);
    expect(await orchestrator.observe(desired.key, never)).toEqual({
      kind: 'none',
      key: desired.key,
    });
  });

  test('names what is left while a removal has not ended', async () => {
    await reconcile(SITE);
    cluster.objects.delete(SITE_WORKLOAD);
    const left = await orchestrator.observe(SITE.key, never);
    expect(left).toMatchObject({ kind: 'workload', incarnation: 'unknown' });
    expect(left.detail).toContain('Secret site-env');
  });
});

describe('hard case 26: what is not the platform’s', () => {
  test.each([
    [SHOP, 'the Namespace svc-shop'],
    [SITE_WORKLOAD, 'the Deployment site in the namespace svc-shop'],
    [`${SHOP}/secrets/site-env`, 'the Secret site-env in the namespace svc-shop'],
    [`${SHOP}/services/site`, 'the Service site in the namespace svc-shop'],
  ])('keeps a service from being run, and is as it was: %s', async (path, name) => {
    const object = foreign(path);
    expect(await refusalOf(SITE)).toBe(
      `${name} exists and is not managed by svc: its owner has to rename or delete it, or this service needs another name`,
    );
    expect(cluster.takeWrites()).toEqual([]);
    expect([...cluster.objects]).toEqual([[path, object]]);
  });

  test('is also an object of another service of the platform', async () => {
    foreign(SITE_WORKLOAD, serviceLabels({ project: 'shop', service: 'other' }));
    expect(await refusalOf(SITE)).toContain('the Deployment site');
  });

  test('is not deleted, and is not seen as the service', async () => {
    const object = foreign(SITE_WORKLOAD);
    await orchestrator.reconcile({ kind: 'removed', key: SITE.key }, never);
    expect(await orchestrator.observe(SITE.key, never)).toEqual({ kind: 'none', key: SITE.key });
    expect([...cluster.objects]).toEqual([[SITE_WORKLOAD, object]]);
  });

  test('is not overwritten if it takes the place of an object after that was read', async () => {
    await reconcile(SITE);
    const { uid } = cluster.objects.get(SITE_WORKLOAD)!.metadata;
    cluster.api.requests.length = 0;
    await reconcile(SITE);
    const applied = cluster.api.requests.find(
      ({ method, path }) => method === 'PATCH' && path === SITE_WORKLOAD,
    )!;
    expect(JSON.parse(applied.body)).toMatchObject({ metadata: { uid } });
    expect(applied.query).toMatchObject({ force: 'true' });
  });

  test('is not forced when it appears after nothing was read', async () => {
    await reconcile(SITE);
    // The namespace is created before it is applied.
    const forced = cluster.api.requests.filter(
      ({ path, query }) => query['force'] === 'true' && path !== SHOP,
    );
    expect(forced).toEqual([]);
  });
});

describe('a service is refused with the words of the cluster', () => {
  test('while its namespace is being deleted', async () => {
    await reconcile(SITE);
    const { metadata, ...rest } = cluster.objects.get(SHOP)!;
    const deletionTimestamp = '2026-11-30T10:00:00Z';
    cluster.objects.set(SHOP, { ...rest, metadata: { ...metadata, deletionTimestamp } });
    cluster.takeWrites();
    expect(await refusalOf(SITE)).toBe('the Namespace svc-shop is being deleted');
    expect(cluster.takeWrites()).toEqual([]);
  });

  test.each([
    [422, 'Invalid', 'Deployment.apps "site" is invalid: spec.replicas: must be small'],
    [400, 'BadRequest', 'admission webhook "images.example" denied the request: unsigned image'],
    [403, 'Forbidden', 'deployments.apps "site" is forbidden: exceeded quota: small'],
    [403, 'Forbidden', 'unable to create new content because it is being terminated'],
  ])('which answers %i %s', async (status, reason, message) => {
    cluster.refusals.set(`PATCH ${SITE_WORKLOAD}`, { status, reason, message });
    expect(await refusalOf(SITE)).toBe(`the cluster refuses the service: ${message}`);
  });

  test('of a secret, but without its values', async () => {
    const env = { PASSWORD: 'hunter2', WORD: 'denied' };
    const message =
      'admission webhook "x" denied the request: {"PASSWORD":"aHVudGVyMg=="} has hunter2';
    const refusal = { status: 400, reason: 'BadRequest', message };
    cluster.refusals.set(`PATCH ${SHOP}/secrets/site-env`, refusal);
    expect(await refusalOf(desiredService({ ...WEB, env }))).toBe(
      'the cluster refuses the service: admission webhook "x" … the request: {"PASSWORD":"…"} has …',
    );
  });

  test.each([
    [403, 'Forbidden', 'User "svc" cannot patch resource "deployments"'],
    [409, 'Conflict', 'the object has been modified'],
    [429, 'TooManyRequests', 'please try again'],
    [500, 'InternalError', 'etcdserver: request timed out'],
  ])('but not for a failure that is no fault of it: %i %s', async (status, reason, message) => {
    cluster.refusals.set(`PATCH ${SITE_WORKLOAD}`, { status, reason, message });
    const error: unknown = await reconcile(SITE).catch((failure: unknown) => failure);
    expect(error).not.toBeInstanceOf(WorkloadRefused);
    expect(error).toMatchObject({ name: 'KubeError', status, message });
  });

  test('before anything is written if it has a name that Kubernetes refuses', async () => {
    const long = desiredService({ ...WEB, name: 'a'.repeat(64) });
    expect(await refusalOf(long)).toContain('64 characters');
    expect(await refusalOf({ ...long, instances: 0, isPaused: true })).toContain('64 characters');
    expect(cluster.api.requests).toEqual([]);
  });

  test('of several instances with a journal on a volume, unless it is paused', async () => {
    const two = desiredService({ ...EMBEDDED, instances: 2 });
    expect(await refusalOf(two)).toContain('a journal on a volume');
    await reconcile({ ...two, instances: 0, isPaused: true });
    expect(cluster.objects.has(`${APPS}/statefulsets/flags`)).toBe(true);
  });
});

describe('the start of instances', () => {
  test('is written once, and again when there were none', async () => {
    await reconcile(SITE);
    const first = startedOf(SITE_WORKLOAD);
    expect(Date.parse(first!)).toBeGreaterThan(0);
    await reconcile({ ...SITE, generation: 8 });
    expect(startedOf(SITE_WORKLOAD)).toBe(first);
    await reconcile({ ...SITE, generation: 8, instances: 0, isPaused: true });
    expect(startedOf(SITE_WORKLOAD)).toBe(first);
    await reconcile({ ...SITE, generation: 8 });
    expect(Date.parse(startedOf(SITE_WORKLOAD)!)).toBeGreaterThan(Date.parse(first!));
  });

  test('of a StatefulSet follows one without instances, which the controllers have taken up', async () => {
    await reconcile(desiredService(EMBEDDED));
    const path = `${APPS}/statefulsets/flags`;
    const applied = cluster.api.requests
      .filter(({ method, path: of }) => method === 'PATCH' && of === path)
      .map(({ body }) => (JSON.parse(body) as { spec: { replicas: number } }).spec.replicas);
    expect(applied).toEqual([0, 1]);
    cluster.takeWrites();
    await reconcile(desiredService(EMBEDDED));
    expect(cluster.takeWrites().filter((write) => write === `PATCH ${path}`)).toHaveLength(1);
  });

  test('of a StatefulSet fails where no controller takes it up in time, and goes on once one has', async () => {
    cluster.hasControllers = false;
    orchestrator = orchestratorOf({}, { takeUpTimeoutMs: 100 });
    const path = `${APPS}/statefulsets/flags`;
    await expect(reconcile(desiredService(EMBEDDED))).rejects.toThrow(
      `the controllers of the cluster have not taken up ${path} within 100 ms`,
    );
    expect(cluster.objects.get(path)!['spec']).toMatchObject({ replicas: 0 });
    cluster.changeStatus(path, { currentRevision: 'r1' });
    await reconcile(desiredService(EMBEDDED));
    expect(cluster.objects.get(path)!['spec']).toMatchObject({ replicas: 1 });
  });

  test('keeps the storage of a journal that there is', async () => {
    await reconcile(desiredService(EMBEDDED));
    orchestrator = orchestratorOf({ journals: { storageClass: 'fast', size: '99Gi' } });
    await reconcile(desiredService(EMBEDDED, { generation: 9 }));
    const { spec } = cluster.objects.get(`${APPS}/statefulsets/flags`)! as unknown as {
      readonly spec: { readonly volumeClaimTemplates: readonly unknown[] };
    };
    const [claim] = spec.volumeClaimTemplates;
    expect(claim).toMatchObject({ spec: { resources: { requests: { storage: '10Gi' } } } });
    expect(claim).not.toHaveProperty('spec.storageClassName');
  });
});

describe('hard case 18: a reconcile that ends after any of its requests', () => {
  test.each([
    ['a Deployment', SITE],
    ['a StatefulSet', desiredService({ ...EMBEDDED, env: { A: '1' } })],
  ])('is finished by the next one, with the same objects: %s', async (_, desired) => {
    await reconcile(desired);
    const requests = cluster.api.requests.length;
    const whole = shown();
    expect(requests).toBeGreaterThan(10);
    for (let after = 1; after < requests; after++) {
      cluster.objects.clear();
      cluster.api.requests.length = 0;
      const stopping = new AbortController();
      cluster.onRequest = () => {
        if (cluster.api.requests.length === after) stopping.abort(new Error('killed'));
      };
      await expect(orchestrator.reconcile(desired, stopping.signal)).rejects.toThrow('killed');
      cluster.onRequest = () => undefined;
      await reconcile(desired);
      expect(shown()).toEqual(whole);
    }
  });
});

const confirmCluster = () => Promise.reject(new Error('another cluster'));
const elsewhere = () => orchestratorOf({}, { confirmCluster });

describe('in what may be another cluster', () => {
  test('neither a namespace nor a workload is created, and no service is taken for gone', async () => {
    await using other = elsewhere();
    await expect(other.reconcile(SITE, never)).rejects.toThrow('another cluster');
    await expect(other.observe(SITE.key, never)).rejects.toThrow('another cluster');
    expect(cluster.takeWrites()).toEqual([]);
    await reconcile(SITE);
    cluster.objects.delete(SITE_WORKLOAD);
    cluster.takeWrites();
    await expect(other.reconcile(SITE, never)).rejects.toThrow('another cluster');
    await expect(other.observe(SITE.key, never)).rejects.toThrow('another cluster');
    expect(cluster.takeWrites()).not.toContain(`PATCH ${SITE_WORKLOAD}`);
    expect(cluster.objects.has(SITE_WORKLOAD)).toBe(false);
  });

  test('a service that is there is applied and observed without asking', async () => {
    await reconcile(SITE);
    await using other = elsewhere();
    await other.reconcile({ ...SITE, generation: 8 }, never);
    expect(await other.observe(SITE.key, never)).toMatchObject({ kind: 'workload' });
  });
});
