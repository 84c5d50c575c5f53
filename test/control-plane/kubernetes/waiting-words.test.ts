// What has not started, and whose status says nothing of it, is asked about: its database first, and then the warnings of the cluster.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { ProvisionedDatabases } from '../../../control-plane/kubernetes/manifests/installation.ts';
import type { FoundPod } from '../../../control-plane/kubernetes/found-objects.ts';
import { ResourcePaths } from '../../../control-plane/kubernetes/resource-paths.ts';
import {
  WAITING_MS,
  waitingObject,
  waitingWords,
} from '../../../control-plane/kubernetes/waiting-words.ts';
import { CLOUD_NATIVE_PG } from '../../support/kubernetes/installation-under-test.ts';
import {
  APPLIED,
  CART,
  controllerRevision,
  found,
  ms,
  pod,
  waiting,
  workload,
} from './observed-objects.ts';
import { StoredObjects } from './stored-objects.ts';

const never = new AbortController().signal;
const WEB = '/api/v1/namespaces/svc-web';
const CLUSTER = '/apis/postgresql.cnpg.io/v1/namespaces/svc-web/clusters/cart-database';
const NEW = pod('cart-1-a', { isReady: false, containers: [waiting('ContainerCreating')] });
const BORN_MS = ms(APPLIED);

const waitingPod = (pods: readonly FoundPod[], nowMs: number) =>
  waitingObject(found({ workloads: [workload('Deployment')], pods }), nowMs);

describe('a pod is asked about', () => {
  const old = BORN_MS + WAITING_MS;
  test('once it is no longer new', () => {
    expect(waitingPod([NEW], old - 1)).toBeUndefined();
    expect(waitingPod([NEW], old)).toBe(NEW);
    expect(waitingPod([pod('b', { isReady: false, containers: [] })], old)).toBeDefined();
  });

  test.each([
    ['serves', pod('a')],
    ['is being deleted', pod('a', { isReady: false, isDeleted: true, containers: [] })],
    ['runs, and is not ready', pod('a', { isReady: false })],
    ['says why it waits', pod('a', { isReady: false, containers: [waiting('ErrImagePull')] })],
  ])('unless it %s', (_, one) => {
    expect(waitingPod([one], old)).toBeUndefined();
    expect(waitingPod([one, NEW], old)).toBe(NEW);
  });
});

describe('a StatefulSet without a pod is asked about', () => {
  const set = workload('StatefulSet', { instances: 1 });
  const revisions = [
    controllerRevision('cart-1', '2026-11-30T09:00:00Z'),
    controllerRevision('cart-2', APPLIED),
  ];
  const old = BORN_MS + WAITING_MS;

  test('once its revision is no longer new', () => {
    expect(waitingObject(found({ workloads: [set], revisions }), old - 1)).toBeUndefined();
    expect(waitingObject(found({ workloads: [set], revisions }), old)).toBe(set);
  });

  test('unless it has a pod, or should have none', () => {
    expect(
      waitingObject(found({ workloads: [set], revisions, pods: [pod('a')] }), old),
    ).toBeUndefined();
    const paused = workload('StatefulSet', { instances: 0 });
    expect(waitingObject(found({ workloads: [paused], revisions }), old)).toBeUndefined();
    const deployment = workload('Deployment');
    expect(waitingObject(found({ workloads: [deployment], revisions }), old)).toBeUndefined();
    expect(waitingObject(found({}), old)).toBeUndefined();
  });
});

describe('it is said to wait', () => {
  let cluster: StoredObjects;
  beforeEach(async () => {
    cluster = await StoredObjects.start();
    set('/apis/postgresql.cnpg.io/v1', { resources: [{ name: 'clusters', kind: 'Cluster' }] });
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  function set(path: string, fields: object = {}): void {
    const name = path.slice(path.lastIndexOf('/') + 1);
    cluster.objects.set(path, { metadata: { name }, ...fields });
  }

  function wordsOf(
    annotations: Readonly<Record<string, string>>,
    databases: ProvisionedDatabases | undefined = CLOUD_NATIVE_PG,
  ): Promise<string | undefined> {
    const client = cluster.api.client();
    const cart: KubeObject = { metadata: { name: 'cart', annotations } };
    const where = { client, paths: new ResourcePaths(client), installation: { databases } };
    return waitingWords(where, CART, { workload: cart, waiting: NEW }, never);
  }
  const PROVISIONED = { 'svc.dev/journal': 'provisioned' };
  const SUPPLIED = { 'svc.dev/journal': 'supplied', 'svc.dev/journal-secret': 'cart.db' };

  test('for its database, in the words of whoever makes it', async () => {
    const begin =
      'it waits for the secret cart-database-app of its database, the Cluster cart-database: ';
    expect(await wordsOf(PROVISIONED)).toBe(`${begin}it is gone`);
    const ready = { type: 'Ready', status: 'False', message: 'Cluster Is Not Ready' };
    for (const [status, words] of [
      [undefined, 'nothing has taken it up yet'],
      [{ phase: 7, conditions: 'none' }, 'nothing has taken it up yet'],
      [{ phase: 'Setting up primary' }, 'Setting up primary'],
      [{ phase: 'Unable', phaseReason: 'no storage class gold' }, 'Unable, no storage class gold'],
      [{ phase: 'Waiting', conditions: [ready] }, 'Waiting, Cluster Is Not Ready'],
      [{ conditions: [ready] }, 'Cluster Is Not Ready'],
    ] as const) {
      set(CLUSTER, { status });
      expect(await wordsOf(PROVISIONED)).toBe(begin + words);
    }
    set(`${WEB}/secrets/cart-database-app`);
    expect(await wordsOf(PROVISIONED)).toBeUndefined();
  });

  test('for a secret that the operator makes', async () => {
    expect(await wordsOf(SUPPLIED)).toBe(
      'it waits for the secret cart.db (database.urlFrom), which the operator of this installation makes in the namespace svc-web',
    );
    set(`${WEB}/secrets/cart.db`);
    expect(await wordsOf(SUPPLIED)).toBeUndefined();
  });

  test('for what the last warning of the cluster says', async () => {
    set(`${WEB}/secrets/cart.db`);
    const event = (name: string, lastTimestamp: string, message: string) =>
      set(`${WEB}/events/${name}`, { reason: 'FailedMount', message, lastTimestamp });
    event('a', '2026-11-30T10:00:05Z', 'references non-existent secret key: url');
    event('b', '2026-11-30T10:00:02Z', 'secret "cart-identity" not found');
    for (const annotations of [SUPPLIED, { 'svc.dev/journal': 'volume' }, {}])
      expect(await wordsOf(annotations)).toBe(
        'FailedMount: references non-existent secret key: url',
      );
    const asked = cluster.api.requests.find(({ path }) => path.endsWith('/events'));
    expect(asked!.query['fieldSelector']).toBe(
      `involvedObject.uid=${NEW.metadata.uid},type=Warning`,
    );
  });

  test('for nothing if the control plane may not ask, and is observed all the same', async () => {
    const refusal = { status: 403, reason: 'Forbidden', message: 'cannot list events' };
    cluster.refusals.set(`GET ${WEB}/events`, refusal);
    expect(await wordsOf({})).toBeUndefined();
    cluster.refusals.set(`GET ${WEB}/secrets/cart.db`, refusal);
    expect(await wordsOf(SUPPLIED)).toBeUndefined();
    // An operator of databases has been uninstalled.
    cluster.objects.delete('/apis/postgresql.cnpg.io/v1');
    expect(await wordsOf(PROVISIONED)).toBeUndefined();
    const ended = AbortSignal.abort(new Error('ended'));
    const client = cluster.api.client();
    const where = {
      client,
      paths: new ResourcePaths(client),
      installation: { databases: undefined },
    };
    const cart = { metadata: { name: 'cart' } };
    await expect(
      waitingWords(where, CART, { workload: cart, waiting: NEW }, ended),
    ).rejects.toThrow('ended');
  });
});
