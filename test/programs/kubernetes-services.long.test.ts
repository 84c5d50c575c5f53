// `svc control-plane` runs services in a cluster: with a real API server and its controllers, and a scripted node in place of kubelet and scheduler.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { IMAGES, ScriptedPrograms } from '../control-plane/kubernetes/scripted-programs.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { ControlPlaneProcess } from '../support/control-plane-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { printedMissingKubernetes } from '../support/kubernetes/kubernetes-programs.ts';
import { KubernetesServer } from '../support/kubernetes/kubernetes-server.ts';
import { ScriptedNode } from '../support/kubernetes/scripted-node.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const noKubernetes = printedMissingKubernetes('kubernetes-services.long.test.ts');
const SERVICE = '/services/shop/site';
const DESCRIPTOR = {
  name: 'site',
  image: IMAGES.good,
  hosting: 'process',
  protocol: 'http/1.1',
};

interface Status {
  readonly lifecycle: string;
  readonly confirmed: boolean;
  readonly generation: number;
  readonly detail?: string;
}

async function withProject(svc: ControlPlaneProcess): Promise<void> {
  await svc.send('POST /organizations/acme', 'ann', { name: 'Acme' });
  const created = await svc.send('POST /projects/shop', 'ann', {
    name: 'Shop',
    organizationId: 'acme',
  });
  expect(created.status).toBeLessThan(300);
}

async function statusOf(svc: ControlPlaneProcess): Promise<Status> {
  const { status, body } = await svc.send(`GET ${SERVICE}`, 'ann');
  expect(status).toBe(200);
  return body as Status;
}

async function until(svc: ControlPlaneProcess, expected: Partial<Status>): Promise<void> {
  await expect.poll(() => statusOf(svc), { timeout: 60_000, interval: 50 }).toMatchObject(expected);
}

describe.skipIf(noKubernetes !== undefined)('a control plane with a cluster', () => {
  let provider: IdentityProvider;
  let server: KubernetesServer;
  let node: ScriptedNode;
  let programs: ScriptedPrograms;

  beforeAll(async () => {
    provider = await IdentityProvider.start();
    server = await KubernetesServer.start();
    node = await ScriptedNode.start(server);
    programs = new ScriptedPrograms(node);
  });
  afterAll(async () => {
    programs?.end();
    await node?.stop();
    await server?.stop();
    await provider.stop();
  });

  function start(cwd: string, kubeconfig: string, env: NodeJS.ProcessEnv = {}) {
    const svc = new ControlPlaneProcess(provider, cwd, {
      args: ['--log', 'json'],
      env: {
        SVC_KUBERNETES_IMAGE: 'registry.example/svc:1',
        SVC_KUBERNETES_KUBECONFIG: kubeconfig,
        SVC_KUBERNETES_IDENTIFY_PAUSE_MS: '100',
        SVC_ORCHESTRATOR_OBSERVE_PAUSE_MS: '50',
        SVC_ORCHESTRATOR_OBSERVATION_AGE_MAX_MS: '100',
        ...env,
      },
    });
    onTestFinished(async () => void (await svc.end('SIGKILL')));
    return svc;
  }

  async function remove(svc: ControlPlaneProcess): Promise<void> {
    expect((await svc.send(`DELETE ${SERVICE}`, 'ann')).status).toBeLessThan(300);
    await expect.poll(() => podUids(), { timeout: 60_000 }).toEqual([]);
  }

  async function podUids(): Promise<readonly (string | undefined)[]> {
    const { items } = await server.client().list('/api/v1/namespaces/svc-shop/pods');
    return items.map(({ metadata }) => metadata.uid);
  }

  /** Writes the kubeconfig of the administrator with other fields. */
  function kubeconfigWith(cluster: object, user?: object): string {
    const document = JSON.parse(readFileSync(server.administrator.kubeconfig, 'utf8')) as {
      readonly clusters: { cluster: object }[];
      readonly users: { user: object }[];
    };
    const [entry] = document.clusters;
    entry!.cluster = { ...entry!.cluster, ...cluster };
    if (user !== undefined) document.users[0]!.user = user;
    const file = join(temporaryFolder(), 'kubeconfig');
    writeFileSync(file, JSON.stringify(document));
    return file;
  }

  test('a service is applied, becomes ready, has logs, goes on while the API server is away, and is deleted', async () => {
    const cwd = temporaryFolder();
    const { kubeconfig } = server.administrator;
    const first = start(cwd, kubeconfig);
    await first.listening();
    await withProject(first);
    const began = performance.now();
    expect((await first.send(`PUT ${SERVICE}`, 'ann', DESCRIPTOR)).status).toBe(200);
    await until(first, { lifecycle: 'ready', confirmed: true, generation: 1 });
    console.log(`apply to ready: ${Math.round(performance.now() - began)} ms`);
    expect(first.stderr).toMatch(/"uid":"[0-9a-f-]{36}".*"message":"cluster found"/);
    const logs = await first.send(`GET ${SERVICE}/logs`, 'ann');
    expect(logs.body).toMatchObject({
      instances: [{ output: expect.stringContaining('run 0 listens') as string, error: null }],
    });
    const refused = await first.send(`PUT ${SERVICE}`, 'ann', {
      ...DESCRIPTOR,
      image: 'oci:images/site',
    });
    expect(refused.status).toBe(400);
    const uids = await podUids();
    expect(uids.length).toBe(1);
    expect((await first.end('SIGTERM')).code).toBe(0);

    await server.killProgram('api-server');
    const second = start(cwd, kubeconfig);
    await second.listening();
    // Whether it says `ready` depends on whether the end of the rollout was stored before SIGTERM.
    await until(second, { confirmed: false });
    await second.logged(/The cluster cannot be asked which one it is/);
    await server.startProgram('api-server');
    await until(second, { lifecycle: 'ready', confirmed: true });
    expect(await podUids()).toEqual(uids);
    await remove(second);
    expect((await second.end('SIGTERM')).code).toBe(0);
    // The namespace belongs to the installation of this test until its operator says otherwise.
    await server.client().transport.send({
      method: 'PATCH',
      path: '/api/v1/namespaces/svc-shop',
      body: { metadata: { annotations: { 'svc.dev/installation': null } } },
      contentType: 'application/merge-patch+json',
    });
  });

  test('another cluster after a restart is left alone, until the operator chooses it', async () => {
    const cwd = temporaryFolder();
    const first = start(cwd, server.administrator.kubeconfig);
    await first.listening();
    await withProject(first);
    await first.send(`PUT ${SERVICE}`, 'ann', DESCRIPTOR);
    await until(first, { lifecycle: 'ready', confirmed: true });
    await first.end('SIGTERM');

    const other = await KubernetesServer.start();
    onTestFinished(() => other.stop());
    const { kubeconfig } = other.administrator;
    const namespace = () => other.client().get('/api/v1/namespaces/svc-shop');
    const { code, stderr } = await start(cwd, kubeconfig).ended;
    expect(code).toBe(1);
    const last = stderr.trim().split('\n').at(-1);
    expect(JSON.parse(last)).toMatchObject({ level: 'error', code: 'SVC_CLUSTER_CHANGED' });
    expect(await namespace()).toBeUndefined();

    const chosen = start(cwd, kubeconfig, { SVC_KUBERNETES_NEW_CLUSTER: 'true' });
    await expect.poll(namespace, { timeout: 60_000 }).toBeDefined();
    await chosen.end('SIGTERM');
    const back = start(cwd, server.administrator.kubeconfig, {
      SVC_KUBERNETES_NEW_CLUSTER: 'true',
    });
    await until(back, { lifecycle: 'ready', confirmed: true });
    await remove(back);
  });

  test('a server of another authority, and refused credentials, are named while the control plane goes on', async () => {
    const { certificate } = await CertificateAuthority.create('stranger');
    const untrusted = kubeconfigWith({
      'certificate-authority-data': Buffer.from(certificate).toString('base64'),
    });
    const refused = kubeconfigWith({}, { token: 'no-such-token' });
    for (const [kubeconfig, code] of [
      [untrusted, 'SVC_CLUSTER_UNTRUSTED'],
      [refused, 'SVC_CLUSTER_REFUSED'],
    ] as const) {
      const svc = start(temporaryFolder(), kubeconfig);
      await svc.logged(new RegExp(String.raw`\[${code}\]`));
      expect((await svc.send('GET /auth/whoami', 'ann')).status).toBe(200);
      expect(svc.stderr).not.toContain('no-such-token');
      expect((await svc.end('SIGTERM')).code).toBe(0);
    }
  });

  test('a credential plugin gives a ServiceAccount its token, and a hanging one does not keep the control plane', async () => {
    await server.createNamespace('svc-accounts');
    const account = await server.serviceAccount({
      namespace: 'svc-accounts',
      name: 'control-plane',
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    });
    const { users } = JSON.parse(readFileSync(account.kubeconfig, 'utf8')) as {
      readonly users: readonly { readonly user: { readonly token: string } }[];
    };
    const command = join(temporaryFolder(), 'login');
    const apiVersion = 'client.authentication.k8s.io/v1';
    const exec = { apiVersion, command, interactiveMode: 'Never' };
    const printed = JSON.stringify({ apiVersion, kind: 'ExecCredential', status: users[0]!.user });
    writeFileSync(command, `#!/bin/sh\nprintf '%s' '${printed}'\n`);
    chmodSync(command, 0o755);
    const svc = start(temporaryFolder(), kubeconfigWith({}, { exec }));
    await svc.logged(/cluster found/);
    await svc.end('SIGTERM');

    writeFileSync(command, '#!/bin/sh\nsleep 1000\n');
    const hanging = start(temporaryFolder(), kubeconfigWith({}, { exec }), {
      SVC_KUBERNETES_ANSWER_TIMEOUT_MS: '300',
    });
    await hanging.logged(/has not answered within 300 ms/);
    expect((await hanging.end('SIGTERM')).code).toBe(0);
  });
});
