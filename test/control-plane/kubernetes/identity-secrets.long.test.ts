// The certificates of services in a real API server: who judges them is Node, OpenSSL, and a runtime that is started with the files of a secret.
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from 'vitest';
import { projectNamespace, type ServiceKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { KubernetesOrchestrator } from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import { identityIn } from '../../../control-plane/kubernetes/manifests/identity-secret.ts';
import { CONTAINER_NAMES } from '../../../control-plane/kubernetes/manifests/object-names.ts';
import {
  openIdentities,
  type OpenedIdentities,
} from '../../../control-plane/kubernetes/open-identities.ts';
import type { DesiredService } from '../../../control-plane/orchestration/orchestrator.ts';
import { type CertificateTexts, parseCertificates } from '../../../identity/certificates.ts';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';
import { ask } from '../../support/certificates/asked-service.ts';
import { CertificateAuthority } from '../../support/certificates/certificate-authority.ts';
import {
  certificateTexts,
  mountCertificates,
} from '../../support/certificates/certificate-files.ts';
import {
  DAY_MS,
  GivenFolder,
  madeAuthority,
  SETTLE_MS,
} from '../../support/certificates/given-folder.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { ControlPlaneProcess } from '../../support/control-plane-process.ts';
import { startDeployed } from '../../support/deployed-service.ts';
import { IdentityProvider } from '../../support/identity-provider/identity-provider.ts';
import { desiredService, EVERY_HOSTING } from '../../support/kubernetes/installation-under-test.ts';
import { printedMissingKubernetes } from '../../support/kubernetes/kubernetes-programs.ts';
import { mountedFiles, secretReader } from '../../support/kubernetes/mounted-files.ts';
import type { Pod } from '../../support/kubernetes/read-manifests.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { verified, withoutOpenssl } from '../authorities/openssl.ts';
import { deploymentPath, namespacePath, newKey, newService, pathsOf } from './cluster-services.ts';
import { ClusterUnderTest, INSTALLATION, until } from './cluster-under-test.ts';

const noKubernetes = printedMissingKubernetes('identity-secrets.long.test.ts');
const never = new AbortController().signal;
const GATEWAY_SECRET = '/api/v1/namespaces/svc-platform/secrets/gateway-identity';
const module = join(temporaryFolderOfFile(), 'cart.wasm');

const idOf = ({ project, service }: ServiceKey) =>
  `spiffe://example.org/ns/${projectNamespace(project)}/sa/${service}`;
const secretPath = (key: ServiceKey) => `${namespacePath(key)}/secrets/${key.service}-identity`;

describe.skipIf(noKubernetes !== undefined)('with a real API server', () => {
  let cluster: ClusterUnderTest;
  let folder: GivenFolder;
  let opened: OpenedIdentities;
  let orchestrator: KubernetesOrchestrator;
  /** Time by which the clock of the control plane is ahead. */
  let aheadMs = 0;
  const clock = { ...SYSTEM_CLOCK, nowMs: () => Date.now() + aheadMs };

  beforeAll(async () => {
    writeFileSync(module, await compileFixture('routes'));
    cluster = await ClusterUnderTest.start();
  }, 120_000);
  afterAll(() => cluster?.stop());
  beforeEach(async () => {
    aheadMs = 0;
    folder = new GivenFolder();
    folder.write(await madeAuthority());
    opened = await openIdentities({
      client: cluster.client,
      installation: INSTALLATION,
      authority: { kind: 'given', folder: folder.folder },
      gatewaySecret: 'gateway-identity',
      section: {
        identityLifetimeMs: DAY_MS,
        authoritySettleMs: SETTLE_MS,
        certificatePollMs: 100,
      },
      clock,
      log: () => undefined,
    });
    orchestrator = new KubernetesOrchestrator({
      client: cluster.client,
      installation: INSTALLATION,
      ...opened,
      log: () => undefined,
      clock,
    });
  });
  afterEach(() => orchestrator[Symbol.asyncDispose]());

  const reconcile = (desired: DesiredService) => orchestrator.reconcile(desired, never);
  const secretOf = async ({ key }: DesiredService): Promise<KubeObject> =>
    (await cluster.client.get(secretPath(key)))!;
  const podsOf = async ({ key }: DesiredService): Promise<ReadonlySet<string | undefined>> =>
    new Set((await cluster.pods(key)).map(({ metadata }) => metadata.uid));
  const textsOf = async (desired: DesiredService) => identityIn(await secretOf(desired))!;

  /** Waits until the gateway trusts these authorities, since its secret is kept by the way. */
  async function gatewayTexts(trusted: string): Promise<CertificateTexts> {
    let texts: CertificateTexts | undefined;
    await until(async () => {
      const found = await cluster.client.get(GATEWAY_SECRET);
      texts = found && identityIn(found);
      return texts?.authorities === trusted;
    });
    return texts!;
  }

  test.each(EVERY_HOSTING)(
    'a service has its certificate before its pods: $name',
    async (descriptor) => {
      const desired = desiredService(descriptor, { key: newKey(descriptor.name) });
      await reconcile(desired);
      const texts = await textsOf(desired);
      const id = idOf(desired.key);
      expect(parseCertificates(texts, Date.now(), id)).toMatchObject({ id });
      const [leaf, authority] = [texts.certificate, texts.authorities].map(
        (text) => new X509Certificate(text),
      );
      expect(leaf!.verify(authority!.publicKey) && leaf!.checkIssued(authority!)).toBe(true);
      expect(leaf!.subjectAltName).toBe(`URI:${id}`);
      const given = { authority: texts.authorities, leaf: texts.certificate };
      for (const purpose of withoutOpenssl === undefined ? ['sslserver', 'sslclient'] : [])
        expect(verified(temporaryFolder(), given, '-purpose', purpose)).toBe('leaf: OK');
      await cluster.untilState(desired, 'ready');
      const [pod] = await cluster.pods(desired.key);
      const secret = await secretOf(desired);
      expect(Date.parse(secret.metadata.creationTimestamp!)).toBeLessThanOrEqual(
        Date.parse(pod!.metadata.creationTimestamp!),
      );
    },
  );

  test('a second reconcile changes no resourceVersion, and one that is due changes the secret alone', async () => {
    const desired = newService();
    await reconcile(desired);
    await cluster.untilState(desired, 'ready');
    const versions = async () => {
      const paths = [...pathsOf(desired), secretPath(desired.key)];
      const objects = await Promise.all(paths.map((path) => cluster.client.get(path)));
      return objects.map((object) => object!.metadata.resourceVersion);
    };
    let before = await versions();
    await until(async () => {
      const last = before;
      before = await versions();
      return JSON.stringify(last) === JSON.stringify(before);
    });
    const pods = await podsOf(desired);
    const first = await textsOf(desired);
    await reconcile(desired);
    aheadMs = DAY_MS / 2 - 60_000;
    await reconcile(desired);
    expect(await textsOf(desired)).toEqual(first);
    expect((await secretOf(desired)).metadata.resourceVersion).toBe(before.at(-1));

    aheadMs = DAY_MS / 2;
    const { uid } = (await secretOf(desired)).metadata;
    await reconcile(desired);
    const renewed = await secretOf(desired);
    expect(renewed.metadata.uid).toBe(uid);
    expect(identityIn(renewed)!.key).not.toBe(first.key);
    expect((await versions()).slice(0, -1)).toEqual(before.slice(0, -1));
    expect(await podsOf(desired)).toEqual(pods);
  });

  test('another authority reaches the services and the gateway: it is trusted first, and issues later', async () => {
    const desired = newService();
    await reconcile(desired);
    const first = await textsOf(desired);
    await gatewayTexts(first.authorities);
    const next = await madeAuthority();
    folder.write(next, [{ certificate: first.authorities, key: '' }]);
    const both = `${first.authorities}${next.certificate}`;
    await gatewayTexts(both);
    await reconcile(desired);
    expect(await textsOf(desired)).toEqual({ ...first, authorities: both });
    aheadMs = SETTLE_MS + 60_000;
    await reconcile(desired);
    const { certificate } = await textsOf(desired);
    expect(
      new X509Certificate(certificate).checkIssued(new X509Certificate(next.certificate)),
    ).toBe(true);
  });

  test('a service that is removed loses its certificate, and has another one when it is applied again', async () => {
    const desired = newService();
    await reconcile(desired);
    const first = await textsOf(desired);
    await orchestrator.reconcile({ kind: 'removed', key: desired.key }, never);
    await until(async () => (await orchestrator.observe(desired.key, never)).kind === 'none');
    expect(await cluster.client.get(secretPath(desired.key))).toBeUndefined();
    await reconcile({ ...desired, incarnation: 'k4' });
    expect((await textsOf(desired)).certificate).not.toBe(first.certificate);
  });

  test('a secret that is not ours refuses the service, and stays as it is', async () => {
    const desired = newService();
    await cluster.send('POST', '/api/v1/namespaces', {
      metadata: {
        name: projectNamespace(desired.key.project),
        labels: { 'app.kubernetes.io/managed-by': 'svc', 'svc.dev/project': desired.key.project },
      },
    });
    await cluster.send('POST', `${namespacePath(desired.key)}/secrets`, {
      metadata: { name: `${desired.key.service}-identity` },
      data: { 'tls.crt': 'YQ==' },
    });
    const before = await secretOf(desired);
    await expect(reconcile(desired)).rejects.toThrow('exists and is not managed by svc');
    await orchestrator.reconcile({ kind: 'removed', key: desired.key }, never);
    expect(await secretOf(desired)).toEqual(before);
    expect(await cluster.client.get(deploymentPath(desired.key))).toBeUndefined();
  });

  test('a runtime with the files of its secret serves the gateway with its own, and takes renewed ones into use', async () => {
    const key = newKey('cart');
    const desired = desiredService(
      EVERY_HOSTING.find(({ name }) => name === 'counter')!,
      { key },
    );
    await reconcile(desired);
    const mounted = temporaryFolder();
    const first = await textsOf(desired);
    mountCertificates(mounted, first);
    const { svc } = await startDeployed(module, temporaryFolder(), [
      'svc.name=cart',
      `svc.project=${key.project}`,
      `svc.identity.folder=${mounted}`,
      `svc.identity.trust-domain=${INSTALLATION.trustDomain}`,
      `svc.identity.gateway=${INSTALLATION.gatewayId}`,
      'svc.http.host=127.0.0.1',
    ]);
    const url = `${await svc.listening()}/requests/caller`;
    const answer = await ask(url, await gatewayTexts(first.authorities));
    expect(answer).toEqual({ status: 200, body: 'internet', leaf: first.certificate });

    const orders = { ...desired, key: { ...key, service: 'orders' } };
    await reconcile({ ...orders, descriptor: { ...orders.descriptor, name: 'orders' } });
    expect(await ask(url, await textsOf(orders))).toMatchObject({
      body: `service ${key.project}/orders`,
    });

    aheadMs = DAY_MS / 2;
    await reconcile(desired);
    const renewed = await textsOf(desired);
    mountCertificates(mounted, renewed);
    await svc.logged(/New certificates are in use/);
    expect((await ask(url, await gatewayTexts(first.authorities))).leaf).toBe(renewed.certificate);
    await expect(
      ask(url, { ...(await gatewayTexts(first.authorities)), ...(await madeAuthority()) }),
    ).rejects.toBeInstanceOf(Error);
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
  }, 120_000);

  test('a certificate of the operator, in the layout of cert-manager, is waited for, mounted, and left behind', async () => {
    const desired = newService();
    const { key } = desired;
    const operated = cluster.newOrchestrator({ identities: undefined });
    onTestFinished(() => operated[Symbol.asyncDispose]());
    cluster.node.script(() => ({ kind: 'waiting', reason: 'ContainerCreating' }));
    onTestFinished(() => cluster.programs.update());
    const observe = () => operated.observe(key, never);
    const wait = { timeout: 60_000, interval: 20 };
    const mounted = async () => {
      const [pod] = await cluster.pods(key);
      const { containers } = pod!['spec'] as Pod;
      const proxy = containers.find(({ name }) => name === CONTAINER_NAMES.proxy)!;
      return await mountedFiles(pod!, proxy, secretReader(cluster.client));
    };

    await operated.reconcile(desired, never);
    await expect
      .poll(async () => (await observe()).detail, wait)
      .toContain(`it waits for the secret ${key.service}-identity`);
    expect(await mounted()).toBeUndefined();

    const issuer = await CertificateAuthority.create('cert-manager');
    const texts = certificateTexts(await issuer.issue({ uris: [idOf(key)] }), issuer);
    await cluster.send('POST', `${namespacePath(key)}/secrets`, {
      metadata: { name: `${key.service}-identity` },
      type: 'kubernetes.io/tls',
      stringData: {
        'tls.crt': texts.certificate,
        'tls.key': texts.key,
        'ca.crt': texts.authorities,
      },
    });
    expect(await mounted()).toEqual({
      '/etc/svc/identity/tls.crt': Buffer.from(texts.certificate),
      '/etc/svc/identity/tls.key': Buffer.from(texts.key),
      '/etc/svc/identity/ca.crt': Buffer.from(texts.authorities),
    });
    await expect.poll(async () => (await observe()).detail, wait).toBeUndefined();
    cluster.programs.update();
    await expect.poll(observe, wait).toMatchObject({ readyInstances: 2 });

    await operated.reconcile({ ...desired, generation: 2 }, never);
    await operated.reconcile({ kind: 'removed', key }, never);
    await expect.poll(observe, wait).toEqual({ kind: 'none', key });
    expect(await textsOf(desired)).toEqual(texts);
  });

  test('a control plane that is given an authority makes the certificates of its services and of the gateway', async () => {
    const provider = await IdentityProvider.start();
    onTestFinished(() => provider.stop());
    await orchestrator[Symbol.asyncDispose]();
    await cluster.client.delete(GATEWAY_SECRET);
    const svc = new ControlPlaneProcess(provider, temporaryFolder(), {
      args: ['--log', 'json'],
      env: {
        SVC_KUBERNETES_IMAGE: 'registry.example/svc:1',
        SVC_KUBERNETES_KUBECONFIG: cluster.server.administrator.kubeconfig,
        SVC_KUBERNETES_AUTHORITY_FOLDER: folder.folder,
        SVC_KUBERNETES_TRUST_DOMAIN: 'example.org',
      },
    });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    await svc.listening();
    const key = newKey('site');
    await svc.send('POST /organizations/acme', 'ann', { name: 'Acme' });
    const project = { name: 'Shop', organizationId: 'acme' };
    await svc.send(`POST /projects/${key.project}`, 'ann', project);
    const descriptor = EVERY_HOSTING.find(({ name }) => name === 'site');
    const applied = await svc.send(`PUT /services/${key.project}/site`, 'ann', descriptor);
    expect(applied.status).toBe(200);
    await until(async () => (await cluster.client.get(deploymentPath(key))) !== undefined);
    const texts = identityIn((await cluster.client.get(secretPath(key)))!)!;
    expect(parseCertificates(texts, Date.now(), idOf(key))).toMatchObject({ id: idOf(key) });
    expect(texts.authorities).toBe(readFileSync(join(folder.folder, 'tls.crt'), 'utf8'));
    const gateway = await gatewayTexts(texts.authorities);
    const id = 'spiffe://example.org/gateway';
    expect(parseCertificates(gateway, Date.now(), id)).toMatchObject({ id });
    expect(await svc.end('SIGTERM')).toMatchObject({ code: 0 });
    expect(svc.stdout + svc.stderr).not.toContain('PRIVATE KEY');
  }, 120_000);
});
