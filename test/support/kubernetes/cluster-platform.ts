// ClusterPlatform: an installation whose services are in a cluster: the real programs `svc login-provider` and `svc control-plane`, a real API server, and
// a scripted node. Modules that were published run in real runtimes; everything else is scripted. It ends with `stop`.
//
// Invariant: the control plane has the rights of the role with which svc is installed (deploy/kubernetes/), and what it asks for beyond them fails the
// file of the test at its end. It issues certificates by an authority that it was given.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { PeerCertificate } from 'node:tls';
import type { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import { identityIn } from '../../../control-plane/kubernetes/manifests/identity-secret.ts';
import type { CertificateTexts } from '../../../identity/certificates.ts';
import { ScriptedPrograms } from '../../control-plane/kubernetes/scripted-programs.ts';
import { GivenFolder, madeAuthority } from '../certificates/given-folder.ts';
import { type Ended, runSvc, SvcProcess } from '../host-process.ts';
import { type InstallationAddress, MachinePerson } from '../machine-person.ts';
import { MACHINE, PEOPLE } from '../one-machine.ts';
import { checkDriverRights, driverAccount } from './driver-account.ts';
import { DRIVER_ACCOUNT } from './installation-files.ts';
import { type ClusterUser, KubernetesServer } from './kubernetes-server.ts';
import { secretReader } from './mounted-files.ts';
import { PodRuntimes } from './pod-runtimes.ts';
import { ScriptedNode } from './scripted-node.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Domain of hostnames, and of identities. */
const DOMAIN = 'svc.localhost';
const PORT = 8443;
const { namespace: NAMESPACE } = DRIVER_ACCOUNT;
/** Folder with the authority of the control plane, in that of the installation. */
const AUTHORITY_FOLDER = 'authority';
const GATEWAY_SECRET = 'gateway-identity';

interface Parts {
  readonly folder: string;
  readonly server: KubernetesServer;
  readonly node: ScriptedNode;
  /** The account of the control plane. */
  readonly account: ClusterUser;
  /** Certificate of the authority that the control plane is given. */
  readonly authority: string;
  readonly loginProvider: SvcProcess;
  readonly issuer: string;
}

export class ClusterPlatform implements InstallationAddress {
  /** URL of the control plane once it has listened. It stays the same. */
  url = '';
  readonly authority = undefined;
  readonly server: KubernetesServer;
  readonly client: KubeClient;
  readonly node: ScriptedNode;
  readonly programs: ScriptedPrograms;
  readonly runtimes: PodRuntimes;
  readonly #parts: Parts;
  #controlPlane: SvcProcess;

  private constructor(parts: Parts) {
    const { server, node, folder } = parts;
    this.#parts = parts;
    this.server = server;
    this.client = server.client();
    this.node = node;
    this.runtimes = new PodRuntimes({
      secretOf: secretReader(this.client),
      logs: node.logs,
      folder: this.newFolder(),
      changed: () => this.programs.update(),
    });
    this.programs = new ScriptedPrograms(node, (pod) => this.runtimes.report(pod));
    node.endWith((pod) => this.runtimes.end(pod));
    mkdirSync(join(folder, 'administrator'));
    this.#controlPlane = this.#newControlPlane();
  }

  /** `folder`: for all files of the installation. */
  static async start(folder: string): Promise<ClusterPlatform> {
    writeFileSync(join(folder, 'people.yaml'), PEOPLE);
    const audience = `https://api.${DOMAIN}:${PORT}`;
    const words = ['login-provider', '--people', 'people.yaml', '--audience', audience];
    const loginProvider = new SvcProcess([...words, '--port', '0'], { cwd: folder });
    let server: KubernetesServer | undefined;
    let platform: ClusterPlatform | undefined;
    try {
      server = await KubernetesServer.start();
      const authority = await madeAuthority();
      const authorityFolder = join(folder, AUTHORITY_FOLDER);
      mkdirSync(authorityFolder);
      new GivenFolder(authorityFolder).write(authority);
      platform = new ClusterPlatform({
        folder,
        server,
        account: await driverAccount(server),
        authority: authority.certificate,
        loginProvider,
        node: await ScriptedNode.start(server),
        issuer: await loginProvider.listening(),
      });
      platform.url = await platform.#controlPlane.listening();
      await platform.administrator(`context set local --url ${platform.url}`);
      return platform;
    } catch (error) {
      await (platform?.stop() ?? Promise.all([loginProvider.end('SIGKILL'), server?.stop()]));
      throw error;
    }
  }

  /** Returns an empty folder. */
  newFolder(): string {
    return mkdtempSync(join(this.#parts.folder, 'part-'));
  }

  loggedIn(subject: string): Promise<MachinePerson> {
    return MachinePerson.loggedIn(subject, this, this.newFolder());
  }

  /** Runs a command of the platform administrator, which has to succeed. Resolves with its output. */
  async administrator(line: string): Promise<string> {
    const cwd = join(this.#parts.folder, 'administrator');
    const env = { ...MACHINE, SVC_CONTEXT: 'local', XDG_CONFIG_HOME: cwd, XDG_STATE_HOME: cwd };
    const { code, stdout, stderr } = await runSvc(line.split(' '), { cwd, env });
    if (code !== 0) throw new Error(`svc ${line} ended with ${code}: ${stderr}`);
    return stdout + stderr;
  }

  /** Sends SIGTERM to the control plane, and resolves with its end. */
  stopControlPlane(): Promise<Ended> {
    return this.#controlPlane.end('SIGTERM');
  }

  async startControlPlane(): Promise<void> {
    this.#controlPlane = this.#newControlPlane();
    await this.#controlPlane.listening();
  }

  /** Returns the pods of a service of the project `shop` that are not being deleted. */
  async pods(service: string): Promise<readonly KubeObject[]> {
    const labelSelector = `svc.dev/service=${service}`;
    const { items } = await this.client.list('/api/v1/namespaces/svc-shop/pods', { labelSelector });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Sends a request to the runtime of a service of the project `shop`, as the gateway does; undefined: none is ready. */
  async send(service: string, path: string, body?: object): Promise<Answer | undefined> {
    const host = this.runtimes.addressOf(service);
    if (host === undefined) return undefined;
    const { certificate, key, authorities } = await this.#gateway();
    const id = `URI:spiffe://${DOMAIN}/ns/svc-shop/sa/${service}`;
    return await new Promise((resolve, reject) => {
      request(
        {
          host,
          port: 9000,
          path,
          agent: false,
          cert: certificate,
          key,
          ca: authorities,
          method: body === undefined ? 'GET' : 'POST',
          headers: { 'content-type': 'application/json' },
          checkServerIdentity: (_, { subjectaltname }: PeerCertificate) =>
            subjectaltname === id ? undefined : new Error(`${subjectaltname} is not ${id}`),
        },
        (response) =>
          void text(response).then(
            (answer) => resolve({ status: response.statusCode!, body: answer }),
            reject,
          ),
      )
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  async stop(): Promise<void> {
    await this.#controlPlane.end('SIGKILL');
    await this.#parts.loginProvider.end('SIGKILL');
    this.programs.end();
    await this.runtimes.kill();
    const { forbidden } = this.server.audit;
    try {
      await this.node.stop();
    } finally {
      await this.server.stop();
    }
    checkDriverRights({ forbidden });
  }

  /** Returns the identity of the gateway, which the control plane keeps. */
  async #gateway(): Promise<CertificateTexts> {
    const found = await secretReader(this.client)(NAMESPACE, GATEWAY_SECRET);
    const identity = found && identityIn(found);
    if (identity?.authorities !== this.#parts.authority)
      throw new Error('the gateway has no identity of the given authority');
    return identity;
  }

  #newControlPlane(): SvcProcess {
    const { folder, account, issuer } = this.#parts;
    const port = this.url === '' ? '0' : new URL(this.url).port;
    return new SvcProcess(['control-plane', '--port', port, '--data', 'data'], {
      cwd: folder,
      env: {
        SVC_AUTH_ISSUER: issuer,
        SVC_AUTH_CLIENT_ID: 'svc-cli',
        SVC_CONTROL_PLANE_BASE_DOMAIN: `${DOMAIN}:${PORT}`,
        SVC_KUBERNETES_IMAGE: 'registry.example/svc:1',
        SVC_KUBERNETES_KUBECONFIG: account.kubeconfig,
        SVC_KUBERNETES_AUTHORITY_FOLDER: AUTHORITY_FOLDER,
        SVC_KUBERNETES_NAMESPACE: NAMESPACE,
        SVC_KUBERNETES_INGRESS_CLASS: 'nginx',
      },
    });
  }
}
