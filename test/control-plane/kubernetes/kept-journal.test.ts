// A service in a cluster never begins an empty journal while it has one elsewhere: on a volume, in a database that the cluster made, or in one that
// was declared.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Problem } from '../../../client/index.ts';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import type { KubernetesInstallation } from '../../../control-plane/kubernetes/manifests/installation.ts';
import { serviceLabels } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import {
  type DesiredService,
  WorkloadRefused,
} from '../../../control-plane/orchestration/orchestrator.ts';
import {
  CLOUD_NATIVE_PG,
  desiredService,
  EMBEDDED,
  installation,
  WASM,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { StoredObjects } from './stored-objects.ts';

const never = new AbortController().signal;
const SHOP = '/api/v1/namespaces/svc-shop';
const APPS = '/apis/apps/v1/namespaces/svc-shop';
const CLUSTER = '/apis/postgresql.cnpg.io/v1/namespaces/svc-shop/clusters/cart-database';
const NOTE = `${SHOP}/secrets/cart-journal`;
const CLAIM = `${SHOP}/persistentvolumeclaims/data-cart-0`;
const KEY = { project: 'shop', service: 'cart' };
const MAKES: Partial<KubernetesInstallation> = { databases: CLOUD_NATIVE_PG };

const MODULE = desiredService({ ...WASM, name: 'cart' });
const PROGRAM = desiredService({ ...EMBEDDED, name: 'cart' });
const SITE = desiredService({ ...WEB, name: 'cart' });
const suppliedFrom = (urlFrom: string) =>
  desiredService({ ...WASM, name: 'cart', database: { urlFrom } });
const DECLARED = suppliedFrom('cart-url');

let cluster: StoredObjects;
const orchestrators: KubernetesOrchestrator[] = [];

beforeEach(async () => {
  cluster = await StoredObjects.start();
  cluster.objects.set('/apis/postgresql.cnpg.io/v1', {
    metadata: { name: 'discovery' },
    resources: [{ name: 'clusters', kind: 'Cluster' }],
  });
});
afterEach(async () => {
  for (const one of orchestrators.splice(0)) await one[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

function orchestratorOf(more: Partial<KubernetesInstallation> = {}): KubernetesOrchestrator {
  const orchestrator = new KubernetesOrchestrator({
    client: cluster.api.client(),
    installation: installation(more),
    log: () => undefined,
  });
  orchestrators.push(orchestrator);
  return orchestrator;
}

const reconcile = (desired: DesiredService, more: Partial<KubernetesInstallation> = {}) =>
  orchestratorOf(more).reconcile(desired, never);
const remove = () => orchestratorOf().reconcile({ kind: 'removed', key: KEY }, never);

/** Returns the problems of an apply, and checks that a reconcile refuses the same and writes nothing. */
async function refusedFor(
  desired: DesiredService,
  more: Partial<KubernetesInstallation> = {},
): Promise<readonly Problem[]> {
  const problems = await orchestratorOf(more).problems(desired, never);
  if (problems.length === 0) return problems;
  cluster.takeWrites();
  await expect(reconcile(desired, more)).rejects.toBeInstanceOf(WorkloadRefused);
  expect(cluster.takeWrites()).toEqual([]);
  return problems;
}

/** What the controllers make of a StatefulSet that has a pod. */
function makeClaim(labels = serviceLabels(KEY)): void {
  cluster.objects.set(CLAIM, { metadata: { name: 'data-cart-0', labels } });
}

/** What the operator of the installation makes. */
function makeSecret(name: string): void {
  cluster.objects.set(`${SHOP}/secrets/${name}`, { metadata: { name }, data: { url: 'c2VjcmV0' } });
}

function noted(): unknown {
  return cluster.objects.get(NOTE)?.metadata.annotations;
}

describe('a journal on a volume', () => {
  test('stays there though the installation makes databases later, also over a deletion', async () => {
    await reconcile(MODULE);
    makeClaim();
    for (const step of [() => Promise.resolve(), remove]) {
      await step();
      await reconcile(MODULE, MAKES);
      expect(cluster.objects.has(`${APPS}/statefulsets/cart`)).toBe(true);
      expect(cluster.objects.has(CLUSTER)).toBe(false);
      expect(noted()).toBeUndefined();
    }
    expect(
      await refusedFor({ ...MODULE, descriptor: { ...MODULE.descriptor, instances: 2 } }, MAKES),
    ).toMatchObject([{ path: '/instances' }]);
  });

  test('is not left for a declared database', async () => {
    makeClaim();
    makeSecret('cart-url');
    expect(await refusedFor(DECLARED)).toEqual([
      {
        path: '/database',
        reason:
          'is declared, and the journal of this service is in a volume of the cluster (data-cart-0): have its operator move the journal into the declared database, or apply the service under another name',
      },
    ]);
    for (const any of [MODULE, PROGRAM, SITE]) expect(await refusedFor(any)).toEqual([]);
    // The operator has moved the journal.
    cluster.objects.delete(CLAIM);
    expect(await refusedFor(DECLARED)).toEqual([]);
  });

  test('is not one of somebody else who has a claim of this name', async () => {
    makeClaim({ app: 'theirs' });
    expect(await refusedFor(DECLARED)).toEqual([]);
    await reconcile(MODULE, MAKES);
    expect(cluster.objects.has(CLUSTER)).toBe(true);
  });
});

describe('a database that the cluster made', () => {
  test('is not left for a declared one, a volume or a program, and found again after a deletion', async () => {
    await reconcile(MODULE, MAKES);
    expect(noted()).toEqual({ 'svc.dev/journal': 'provisioned' });
    makeSecret('cart-url');
    for (const step of [() => Promise.resolve(), remove]) {
      await step();
      expect(cluster.objects.has(CLUSTER)).toBe(true);
      expect(await refusedFor(DECLARED, MAKES)).toMatchObject([
        {
          path: '/database',
          reason: expect.stringContaining('a database that the cluster made (cart-database)'),
        },
      ]);
      expect(await refusedFor(PROGRAM, MAKES)).toMatchObject([{ path: '/hosting' }]);
      // The operator has removed the settings of databases.
      expect(await refusedFor(MODULE)).toMatchObject([{ path: '/database' }]);
      for (const any of [MODULE, SITE]) expect(await refusedFor(any, MAKES)).toEqual([]);
    }
    await reconcile(MODULE, MAKES);
    expect(cluster.objects.has(`${APPS}/deployments/cart`)).toBe(true);
  });

  test('has no journal until the cluster has taken it, so a refused one may be corrected', async () => {
    const message = 'admission webhook "vcluster.cnpg.io" denied the request: no such class';
    cluster.refusals.set(`PATCH ${CLUSTER}`, { status: 403, reason: 'Forbidden', message });
    await expect(reconcile(MODULE, MAKES)).rejects.toThrow(`refuses the service: ${message}`);
    expect(noted()).toBeUndefined();
    makeSecret('cart-url');
    expect(await refusedFor(DECLARED, MAKES)).toEqual([]);
  });
});

describe('a declared database', () => {
  test('is noted once its secret is there, and is not left then', async () => {
    await reconcile(DECLARED);
    expect(noted()).toBeUndefined();
    expect(await refusedFor(MODULE)).toEqual([]);
    makeSecret('cart-url');
    // Pods may have started with it since, though nothing has been reconciled.
    expect(await refusedFor(MODULE)).toMatchObject([{ path: '/database' }]);
    await reconcile(DECLARED);
    expect(noted()).toEqual({
      'svc.dev/journal': 'supplied',
      'svc.dev/journal-secret': 'cart-url',
    });
    for (const step of [() => Promise.resolve(), remove]) {
      await step();
      for (const more of [{}, MAKES])
        expect(await refusedFor(MODULE, more)).toMatchObject([
          { path: '/database', reason: expect.stringContaining('database.urlFrom: cart-url') },
        ]);
      expect(await refusedFor(PROGRAM)).toMatchObject([{ path: '/hosting' }]);
      for (const any of [DECLARED, suppliedFrom('other-url'), SITE])
        expect(await refusedFor(any)).toEqual([]);
    }
    cluster.objects.delete(NOTE);
    expect(await refusedFor(MODULE)).toEqual([]);
  });

  test('that got its secret just before the deletion is noted as well', async () => {
    await reconcile(DECLARED);
    makeSecret('cart-url');
    await remove();
    expect(cluster.objects.has(`${APPS}/deployments/cart`)).toBe(false);
    expect(await refusedFor(MODULE)).toMatchObject([{ path: '/database' }]);
    cluster.takeWrites();
    await remove();
    expect(cluster.takeWrites()).toEqual([]);
  });

  test.each([
    ['paused with a descriptor that leaves it', { ...MODULE, instances: 0, isPaused: true }],
    ['paused', { ...DECLARED, instances: 0, isPaused: true }],
    ['web-hosted for a while', SITE],
    ['given another secret, which is not there', suppliedFrom('other-url')],
  ])(
    'that got its secret after the last apply is noted before its service is %s',
    async (_, next) => {
      await reconcile(DECLARED);
      makeSecret('cart-url');
      cluster.takeWrites();
      await reconcile(next);
      expect(cluster.takeWrites()[0]).toBe(`PATCH ${NOTE}`);
      expect(noted()).toMatchObject({ 'svc.dev/journal-secret': 'cart-url' });
      for (const more of [{}, MAKES])
        expect(await refusedFor(MODULE, more)).toMatchObject([{ path: '/database' }]);
      await reconcile(DECLARED);
      expect(cluster.objects.get(`${APPS}/deployments/cart`)).toMatchObject({
        spec: { replicas: 1 },
      });
    },
  );

  test('is left by no apply if the cluster refuses the note', async () => {
    await reconcile(DECLARED);
    makeSecret('cart-url');
    const message = 'secrets "cart-journal" is forbidden: exceeded quota: small';
    cluster.refusals.set(`PATCH ${NOTE}`, { status: 403, reason: 'Forbidden', message });
    cluster.takeWrites();
    await expect(reconcile(SITE)).rejects.toThrow(`refuses the service: ${message}`);
    expect(cluster.takeWrites()).toEqual([`PATCH ${NOTE}`]);
  });

  test('may move to another secret, which is noted once it is there', async () => {
    makeSecret('cart-url');
    await reconcile(DECLARED);
    await reconcile(suppliedFrom('other-url'));
    expect(noted()).toMatchObject({ 'svc.dev/journal-secret': 'cart-url' });
    makeSecret('other-url');
    await reconcile(suppliedFrom('other-url'));
    expect(noted()).toMatchObject({ 'svc.dev/journal-secret': 'other-url' });
  });

  test('is in a secret of which only the metadata are asked for', async () => {
    makeSecret('cart-url');
    await reconcile(DECLARED);
    const { requests } = cluster.api;
    const asked = requests.filter(({ path }) => path === `${SHOP}/secrets/cart-url`);
    expect(asked.length).toBeGreaterThan(0);
    for (const { method, headers } of asked) {
      expect(method).toBe('GET');
      expect(headers.accept).toContain('as=PartialObjectMetadata');
    }
  });
});

test('the journal of a paused service is free to move once what says where it was is deleted, and a reconcile does not bring that back', async () => {
  await reconcile(MODULE, MAKES);
  const pause = (desired: DesiredService) =>
    reconcile({ ...desired, instances: 0, isPaused: true }, MAKES);
  cluster.objects.delete(NOTE);
  await pause(MODULE);
  expect(noted()).toBeUndefined();
  makeSecret('cart-url');
  expect(await refusedFor(DECLARED, MAKES)).toEqual([]);
  await reconcile(DECLARED, MAKES);
  expect(noted()).toMatchObject({ 'svc.dev/journal-secret': 'cart-url' });

  await pause(DECLARED);
  cluster.objects.delete(NOTE);
  await pause(DECLARED);
  // The workload still says so, as long as the secret is there.
  expect(await refusedFor(MODULE, MAKES)).toMatchObject([{ path: '/database' }]);
  cluster.objects.delete(`${SHOP}/secrets/cart-url`);
  expect(await refusedFor(MODULE, MAKES)).toEqual([]);
});

test('a service that is paused with a descriptor that leaves its journal stops, and begins none', async () => {
  makeClaim();
  const paused = { ...DECLARED, instances: 0, isPaused: true };
  makeSecret('cart-url');
  await reconcile(paused);
  expect(cluster.objects.get(`${APPS}/deployments/cart`)).toMatchObject({ spec: { replicas: 0 } });
  expect(noted()).toBeUndefined();
  expect(await refusedFor(DECLARED)).toMatchObject([{ path: '/database' }]);
  // Its own journal is not taken for left either.
  await reconcile(MODULE);
  expect(noted()).toBeUndefined();
  expect(await refusedFor(MODULE)).toEqual([]);
});
