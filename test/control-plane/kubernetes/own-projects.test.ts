// The namespace of a project is written only by the installation whose it is, and no certificate reaches one of somebody else.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';
import { IdentitySecrets } from '../../../control-plane/kubernetes/identity-secrets.ts';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import {
  projectLabels,
  serviceLabels,
} from '../../../control-plane/kubernetes/manifests/object-names.ts';
import { DAY_MS, GivenFolder, madeAuthority } from '../../support/certificates/given-folder.ts';
import {
  desiredService,
  installation,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { StoredObjects } from './stored-objects.ts';

const never = new AbortController().signal;
const SITE = desiredService(WEB);
const REMOVED = { kind: 'removed', key: SITE.key } as const;
const SHOP = '/api/v1/namespaces/svc-shop';
const SECRET = `${SHOP}/secrets/site-identity`;
const LABELS = projectLabels(SITE.key.project);
const ANNOTATION = 'svc.dev/installation';

let cluster: StoredObjects;
let identities: IdentitySecrets;
let ours: KubernetesOrchestrator;
let opened: KubernetesOrchestrator[];

beforeEach(async () => {
  cluster = await StoredObjects.start();
  opened = [];
  const folder = new GivenFolder();
  folder.write(await madeAuthority());
  identities = new IdentitySecrets({
    authority: await folder.open(),
    trustDomain: 'example.org',
    lifetimeMs: DAY_MS,
    clock: { nowMs: () => folder.nowMs },
  });
  ours = orchestratorOf();
});
afterEach(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

function orchestratorOf(more: Parameters<typeof installation>[0] = {}): KubernetesOrchestrator {
  const orchestrator = new KubernetesOrchestrator({
    client: cluster.api.client(),
    installation: installation(more),
    identities,
    log: () => undefined,
    clock: SYSTEM_CLOCK,
  });
  opened.push(orchestrator);
  return orchestrator;
}

function namespace(more: object): void {
  cluster.objects.set(SHOP, { metadata: { name: 'svc-shop', uid: 'theirs', ...more } });
}

/** A secret with the labels of the service, for which a certificate would be due. */
function labelledSecret(): void {
  const labels = serviceLabels(SITE.key);
  cluster.objects.set(SECRET, { metadata: { name: 'site-identity', uid: 'lure', labels } });
}

describe('a namespace of somebody else', () => {
  test.each([
    ['without labels', {}],
    ['with the annotation alone', { annotations: { [ANNOTATION]: installation().id } }],
    ['with the labels of another project', { labels: projectLabels('other') }],
  ])(
    'gets no certificate though a secret there has the labels of the service: %s',
    async (_, more) => {
      namespace(more);
      labelledSecret();
      const before = structuredClone([...cluster.objects]);
      await expect(ours.reconcile(SITE, never)).rejects.toThrow('the Namespace svc-shop exists');
      await ours.reconcile(REMOVED, never);
      expect(cluster.takeWrites()).toEqual([]);
      expect([...cluster.objects]).toEqual(before);
      expect(await ours.observe(SITE.key, never)).toEqual({ kind: 'none', key: SITE.key });
      expect(await ours.logs(SITE.key, { previous: false, bytesMax: 1000 }, never)).toEqual([]);
    },
  );

  test('that appears while the service is made is not taken over', async () => {
    cluster.onRequest = () => {
      if (cluster.api.requests.at(-1)?.method === 'POST') namespace({ labels: LABELS });
    };
    await expect(ours.reconcile(SITE, never)).rejects.toMatchObject({ reason: 'AlreadyExists' });
    expect(cluster.takeWrites()).toEqual(['POST /api/v1/namespaces']);
    expect([...cluster.objects.keys()]).toEqual([SHOP]);
  });
});

/** Has the namespace appear when the service asks for it to be made. */
function makeNamespaceMeanwhile(more: object): void {
  cluster.onRequest = () => {
    if (cluster.api.requests.at(-1)?.method !== 'POST') return;
    namespace({ labels: LABELS, annotations: { [ANNOTATION]: installation().id }, ...more });
  };
}

test('a namespace that this installation makes meanwhile, for another service, is used', async () => {
  makeNamespaceMeanwhile({});
  await ours.reconcile(SITE, never);
  expect(cluster.takeWrites().slice(0, 2)).toEqual(['POST /api/v1/namespaces', `PATCH ${SHOP}`]);
  expect(cluster.objects.get(SHOP)).toMatchObject({ metadata: { uid: 'theirs' } });
});

test('one that is being deleted already is not', async () => {
  makeNamespaceMeanwhile({ deletionTimestamp: '2026-01-01T00:00:00Z' });
  await expect(ours.reconcile(SITE, never)).rejects.toMatchObject({ reason: 'AlreadyExists' });
  expect(cluster.takeWrites()).toEqual(['POST /api/v1/namespaces']);
});

test('a namespace with our labels from before there were ids becomes ours before a certificate is written there', async () => {
  namespace({ labels: LABELS });
  labelledSecret();
  await ours.reconcile(SITE, never);
  const writes = cluster.takeWrites();
  expect(writes[0]).toBe(`PATCH ${SHOP}`);
  expect(writes.filter((write) => write.endsWith(SECRET))).toEqual([`PATCH ${SECRET}`]);
  expect(cluster.objects.get(SHOP)!.metadata.annotations).toEqual({
    [ANNOTATION]: installation().id,
  });
});

test('a certificate that such a namespace has already is kept', async () => {
  await ours.reconcile(SITE, never);
  const { metadata, ...rest } = cluster.objects.get(SHOP)!;
  cluster.objects.set(SHOP, { ...rest, metadata: { ...metadata, annotations: {} } });
  cluster.takeWrites();
  await orchestratorOf().reconcile(SITE, never);
  expect(cluster.takeWrites()).not.toContain(`PATCH ${SECRET}`);
});

test('two installations with platforms of the same namespace leave each other’s services alone', async () => {
  await ours.reconcile(SITE, never);
  const before = structuredClone([...cluster.objects]);
  cluster.takeWrites();
  const theirs = orchestratorOf({ id: 'another' });
  await expect(theirs.reconcile(SITE, never)).rejects.toThrow(
    `the Namespace svc-shop is of another installation of svc (${installation().id}): this project needs another id`,
  );
  await theirs.reconcile(REMOVED, never);
  expect(cluster.takeWrites()).toEqual([]);
  expect([...cluster.objects]).toEqual(before);
});

test('an installation whose platform has moved to another namespace keeps its services', async () => {
  await ours.reconcile(SITE, never);
  const moved = orchestratorOf({ namespace: 'svc-moved' });
  await moved.reconcile(SITE, never);
  await moved.reconcile(REMOVED, never);
  expect([...cluster.objects.keys()]).toEqual([SHOP]);
});
