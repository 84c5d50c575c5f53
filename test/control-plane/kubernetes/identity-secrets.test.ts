// The secrets with the certificates of services: who has which one, when it is replaced, and when it is left as it is.
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, SYSTEM_CLOCK } from '../../../kit/clock.ts';
import type { IssuedPair } from '../../../control-plane/authorities/certificate-issuer.ts';
import { GivenAuthority } from '../../../control-plane/authorities/given-authority.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { IdentitySecrets } from '../../../control-plane/kubernetes/identity-secrets.ts';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import { identityIn } from '../../../control-plane/kubernetes/manifests/identity-secret.ts';
import { serviceLabels } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import { applyService } from '../../../control-plane/kubernetes/reconcile-steps.ts';
import { ResourcePaths } from '../../../control-plane/kubernetes/resource-paths.ts';
import { type CertificateTexts, parseCertificates } from '../../../identity/certificates.ts';
import {
  DAY_MS,
  GivenFolder,
  madeAuthority,
  SETTLE_MS,
} from '../../support/certificates/given-folder.ts';
import {
  desiredService,
  EMBEDDED,
  installation,
  WEB,
} from '../../support/kubernetes/installation-under-test.ts';
import { pod, waiting, workload } from './observed-objects.ts';
import { StoredObjects } from './stored-objects.ts';

const never = new AbortController().signal;
const SITE = desiredService({ ...WEB, env: { A: '1' } });
const ID = 'spiffe://example.org/ns/svc-shop/sa/site';
const SHOP = '/api/v1/namespaces/svc-shop';
const SECRET = `${SHOP}/secrets/site-identity`;
const WORKLOAD = '/apis/apps/v1/namespaces/svc-shop/deployments/site';

let cluster: StoredObjects;
let folder: GivenFolder;
let authority: GivenAuthority;
let pair: IssuedPair;
let identities: IdentitySecrets;
let orchestrator: KubernetesOrchestrator;
let clock: Clock;

beforeEach(async () => {
  cluster = await StoredObjects.start();
  folder = new GivenFolder();
  pair = await madeAuthority();
  folder.write(pair);
  authority = await folder.open();
  folder.nowMs += SETTLE_MS;
  clock = { ...SYSTEM_CLOCK, nowMs: () => folder.nowMs };
  identities = new IdentitySecrets({
    authority,
    trustDomain: 'example.org',
    lifetimeMs: DAY_MS,
    clock,
  });
  orchestrator = orchestratorOf(identities);
});
afterEach(async () => {
  await orchestrator[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

function orchestratorOf(made: IdentitySecrets | undefined): KubernetesOrchestrator {
  return new KubernetesOrchestrator({
    client: cluster.api.client(),
    installation: installation(),
    identities: made,
    log: (entry) => void folder.logged.push(entry),
    clock,
  });
}

const reconcile = (desired = SITE) => orchestrator.reconcile(desired, never);
const remove = () => orchestrator.reconcile({ kind: 'removed', key: SITE.key }, never);
const secretWrites = () => cluster.takeWrites().filter((write) => write.endsWith(SECRET));
const stored = () => cluster.objects.get(SECRET)!;
const textsIn = (secret: KubeObject = stored()): CertificateTexts => identityIn(secret)!;
const leafIn = (secret?: KubeObject) => new X509Certificate(textsIn(secret).certificate);

/** Changes the data of the secret that is there. */
function change(texts: Partial<Record<string, string | undefined>>): void {
  const data = { ...(stored()['data'] as object), ...texts };
  cluster.objects.set(SECRET, { ...stored(), data });
}
const base64 = (text: string) => Buffer.from(text).toString('base64');

const due = () => void (folder.nowMs += DAY_MS / 2);
const foreign = (more: object = {}) =>
  cluster.objects.set(SECRET, { metadata: { name: 'site-identity', uid: 'theirs', ...more } });
function madeBy(kind: string, name: string, uid: string) {
  return { ownerReferences: [{ kind, name, uid, controller: true }] };
}

/** The service as the cluster has it, with a pod that waits for its volumes. */
function running(isReady: boolean): void {
  const ours = { labels: serviceLabels(SITE.key), namespace: 'svc-shop' };
  const [deployment, one] = [
    workload('Deployment'),
    pod('site-1', { isReady, containers: [waiting('ContainerCreating')] }),
  ];
  cluster.objects.set(WORKLOAD, { ...deployment, metadata: { ...deployment.metadata, ...ours } });
  cluster.objects.set(WORKLOAD.replace(/deployments.*/, 'replicasets/site-a'), {
    metadata: { name: 'site-a', uid: 'a', ...ours, ...madeBy('Deployment', 'site', 'd') },
  });
  cluster.objects.set(`${SHOP}/pods/site-1`, {
    ...one,
    metadata: { ...one.metadata, ...ours, ...madeBy('ReplicaSet', 'site-a', 'a') },
  });
}
const confirmCluster = () => Promise.resolve();
const detail = async () => (await orchestrator.observe(SITE.key, never)).detail;
const given = (texts: Partial<Record<string, string>>) =>
  cluster.objects.set(SECRET, { metadata: { name: 'site-identity' }, data: texts });

describe('the secret of a service', () => {
  test('is there before its workload, as every program of svc reads it', async () => {
    await reconcile();
    const writes = cluster.takeWrites();
    const [secret, workloadAt] = [`PATCH ${SECRET}`, `PATCH ${WORKLOAD}`].map((write) =>
      writes.indexOf(write),
    );
    expect(writes.indexOf(`PATCH ${SHOP}`)).toBeLessThan(secret!);
    expect(secret).toBeLessThan(workloadAt!);
    expect(stored()).toMatchObject({ type: 'kubernetes.io/tls', apiVersion: 'v1' });
    expect(stored().metadata.labels).toEqual(serviceLabels(SITE.key));
    expect(Object.keys(stored()['data'] as object)).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
    const parsed = parseCertificates(textsIn(), folder.nowMs, ID);
    expect(parsed).toMatchObject({ id: ID });
    expect(leafIn().checkIssued(new X509Certificate(pair.certificate))).toBe(true);
    expect(leafIn().validToDate.getTime()).toBe(folder.nowMs + DAY_MS);
  });

  test('is not written again until it is due, by this process or another one', async () => {
    await reconcile();
    const before = stored();
    cluster.takeWrites();
    folder.nowMs += DAY_MS / 2 - 1;
    await reconcile();
    orchestrator = orchestratorOf(
      new IdentitySecrets({ authority, trustDomain: 'example.org', lifetimeMs: DAY_MS, clock }),
    );
    await reconcile();
    expect(secretWrites()).toEqual([]);
    expect(stored()).toEqual(before);
    folder.nowMs += 1;
    await reconcile();
    expect(secretWrites()).toEqual([`PATCH ${SECRET}`]);
    expect(textsIn().key).not.toBe(textsIn(before).key);
    expect(stored().metadata.uid).toBe(before.metadata.uid);
  });

  test('has to be renewed at the time that an apply returns', async () => {
    const client = cluster.api.client();
    const paths = new ResourcePaths(client);
    const base = { client, paths, installation: installation(), clock };
    const parts = { ...base, confirmCluster, takeUpTimeoutMs: 10_000 };
    const first = await applyService({ ...parts, identities }, SITE, true, never);
    expect(first).toMatchObject({ renewAtMs: folder.nowMs + DAY_MS / 2 });
    folder.nowMs += 1000;
    expect(await applyService({ ...parts, identities }, SITE, true, never)).toMatchObject({
      renewAtMs: first.renewAtMs,
    });
    expect(
      await applyService({ ...parts, identities: undefined }, SITE, true, never),
    ).toMatchObject({
      renewAtMs: undefined,
    });
  });

  test.each<[string, () => void | Promise<void>]>([
    ['has expired', () => void (folder.nowMs += 2 * DAY_MS)],
    ['has garbage', () => change({ 'tls.crt': '%%%', 'tls.key': base64('garbage') })],
    ['has no key', () => change({ 'tls.key': undefined })],
    ['has something else than texts', () => change({ 'ca.crt': 7 as unknown as string })],
    [
      'has the certificate of another service',
      async () => {
        const other = desiredService({ ...WEB, name: 'other' });
        await orchestrator.reconcile(other, never);
        const { data } = cluster.objects.get(`${SHOP}/secrets/other-identity`)! as unknown as {
          readonly data: Record<string, string>;
        };
        change(data);
      },
    ],
    [
      'has a certificate of another authority',
      async () => {
        folder.write(await madeAuthority());
        await authority.refresh();
      },
    ],
  ])('that %s is replaced, once', async (_, spoil) => {
    await reconcile();
    await spoil();
    const before = (stored()['data'] as Record<string, string>)['tls.crt'];
    cluster.takeWrites();
    await reconcile();
    expect(secretWrites()).toEqual([`PATCH ${SECRET}`]);
    expect((stored()['data'] as Record<string, string>)['tls.crt']).not.toBe(before);
    expect(parseCertificates(textsIn(), folder.nowMs, ID)).toMatchObject({ id: ID });
    await reconcile();
    expect(secretWrites()).toEqual([]);
  });

  test('goes with the service, and another one comes with it', async () => {
    await reconcile();
    const first = leafIn();
    await remove();
    expect(cluster.objects.has(SECRET)).toBe(false);
    expect(await orchestrator.observe(SITE.key, never)).toEqual({ kind: 'none', key: SITE.key });
    cluster.takeWrites();
    await remove();
    expect(cluster.takeWrites()).toEqual([]);
    await reconcile();
    expect(leafIn().fingerprint256).not.toBe(first.fingerprint256);
  });

  test('is not deleted when the service is applied, paused or refused', async () => {
    await reconcile();
    await reconcile({ ...SITE, generation: 8, instances: 0, isPaused: true });
    await reconcile(desiredService({ ...WEB, instances: 2 }));
    expect(cluster.objects.has(SECRET)).toBe(true);
  });

  test('left by a removal that was cut off is named by an observation', async () => {
    await reconcile();
    const secret = stored();
    await remove();
    cluster.objects.set(SECRET, secret);
    expect(await detail()).toContain('Secret site-identity');
  });

  test('is made again if somebody deletes it', async () => {
    await reconcile();
    cluster.objects.delete(SECRET);
    await reconcile();
    expect(parseCertificates(textsIn(), folder.nowMs, ID)).toMatchObject({ id: ID });
  });

  test('and its key are in no message of a refusal', async () => {
    const key = 'q'.repeat(64);
    const message = `admission webhook "x" denied the request: {"tls.key":"${key}"} -----BEGIN PRIVATE KEY-----\nabc`;
    cluster.refusals.set(`PATCH ${SECRET}`, { status: 400, reason: 'BadRequest', message });
    await expect(reconcile()).rejects.toThrow(
      'the cluster refuses the service: admission webhook "x" denied the request: {"tls.key":"…"} …',
    );
    expect(cluster.objects.has(WORKLOAD)).toBe(false);
  });
});

describe('a service that is refused keeps its certificate, because its instances go on', () => {
  test('while it asks for what the cluster cannot run', async () => {
    await reconcile(desiredService(EMBEDDED));
    const path = `${SHOP}/secrets/flags-identity`;
    const before = leafIn(cluster.objects.get(path));
    due();
    await expect(reconcile(desiredService({ ...EMBEDDED, instances: 2 }))).rejects.toThrow(
      'a journal on a volume',
    );
    expect(leafIn(cluster.objects.get(path)).fingerprint256).not.toBe(before.fingerprint256);
  });

  test('while another object of its name is not ours', async () => {
    await reconcile();
    const [before, service] = [leafIn(), `${SHOP}/services/site`];
    cluster.objects.set(service, { metadata: { name: 'site', uid: 'theirs' } });
    due();
    await expect(reconcile()).rejects.toThrow('the Service site');
    expect(leafIn().fingerprint256).not.toBe(before.fingerprint256);
  });

  test('and gets none if it had none', async () => {
    await expect(reconcile(desiredService({ ...EMBEDDED, instances: 2 }))).rejects.toThrow(
      'a journal on a volume',
    );
    expect(cluster.takeWrites()).toEqual([]);
  });
});

describe('another authority', () => {
  test('is trusted by all services first, and issues their certificates later', async () => {
    await reconcile();
    const first = textsIn();
    const { revision } = identities;
    const next = await madeAuthority();
    folder.write(next, [pair]);
    await authority.refresh();
    expect(identities.revision).not.toBe(revision);
    await reconcile();
    expect(textsIn()).toEqual({ ...first, authorities: `${pair.certificate}${next.certificate}` });
    folder.nowMs += SETTLE_MS;
    await reconcile();
    expect(leafIn().checkIssued(new X509Certificate(next.certificate))).toBe(true);
    expect(textsIn().key).not.toBe(first.key);
  });
});

describe('a secret that is not ours', () => {
  test.each([
    ['of somebody else', {}],
    ['of another service', { labels: serviceLabels({ project: 'shop', service: 'other' }) }],
  ])('keeps the service from being run, and stays as it is: %s', async (_, more) => {
    foreign(more);
    const before = [...cluster.objects];
    await expect(reconcile()).rejects.toThrow(
      'the Secret site-identity in the namespace svc-shop exists and is not managed by svc',
    );
    await remove();
    expect(cluster.takeWrites()).toEqual([]);
    expect([...cluster.objects]).toEqual(before);
  });

  test('nor is one that is being deleted', async () => {
    const deletionTimestamp = '2026-11-30T10:00:00Z';
    foreign({ labels: serviceLabels(SITE.key), deletionTimestamp });
    await expect(reconcile()).rejects.toThrow(
      'the Secret site-identity in the namespace svc-shop is being deleted',
    );
    expect(cluster.takeWrites()).toEqual([]);
  });

  test('is not taken over if it appears after nothing was read', async () => {
    cluster.onRequest = () => {
      if (cluster.api.requests.at(-1)?.method === 'PATCH' && !cluster.objects.has(SECRET))
        foreign();
    };
    await expect(reconcile()).rejects.toThrow('conflicts with a manager');
    expect(stored().metadata.uid).toBe('theirs');
    expect(cluster.objects.has(WORKLOAD)).toBe(false);
  });
});

describe('where the operator makes certificates', () => {
  beforeEach(() => {
    orchestrator = orchestratorOf(undefined);
  });

  test('the control plane writes and deletes none', async () => {
    given({ 'tls.crt': 'theirs' });
    await reconcile();
    await remove();
    expect(secretWrites()).toEqual([]);
    expect(cluster.objects.has(SECRET)).toBe(true);
    expect(await orchestrator.observe(SITE.key, never)).toEqual({ kind: 'none', key: SITE.key });
  });

  test('a service that waits says which one is missing', async () => {
    running(false);
    expect(await detail()).toBe(
      'it waits for the secret site-identity with its certificate, which the operator of this installation makes in the namespace svc-shop',
    );
  });

  test('a service that waits says what is wrong with its own', async () => {
    running(false);
    given({});
    expect(await detail()).toBe(
      'the secret site-identity with its certificate lacks tls.crt, tls.key or ca.crt',
    );
    const { manifest } = await identities.renewed(
      identities.ofService({ project: 'shop', service: 'other' }),
      undefined,
    );
    given(manifest!['data'] as Record<string, string>);
    expect(await detail()).toBe(
      `the secret site-identity with its certificate cannot be used: The certificate of tls.crt names ${ID.replace('site', 'other')}, and has to name ${ID}.`,
    );
    const own = await identities.renewed(identities.ofService(SITE.key), undefined);
    given(own.manifest!['data'] as Record<string, string>);
    expect(await detail()).toBeUndefined();
    folder.nowMs += 2 * DAY_MS;
    expect(await detail()).toContain('The certificate of tls.crt expired at');
  });

  test('a service that serves is not asked about, nor one whose secret cannot be read', async () => {
    running(true);
    expect(await detail()).toBeUndefined();
    expect(cluster.api.requests.map(({ path }) => path)).not.toContain(SECRET);
    running(false);
    const message = 'User "svc" cannot get resource "secrets"';
    cluster.refusals.set(`GET ${SECRET}`, { status: 403, reason: 'Forbidden', message });
    expect(await detail()).toBeUndefined();
  });
});
