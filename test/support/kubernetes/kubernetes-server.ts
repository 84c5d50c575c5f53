// KubernetesServer is a real Kubernetes control plane for tests: etcd, the API server and the controller manager, on ports of loopback, with
// certificates and a folder of its own. There is no scheduler, no network and no container: ScriptedNode stands for the kubelet. It ends
// with `stop`, and at the latest with the process of the tests.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import {
  fixedCredentials,
  type KubeCredentials,
} from '../../../control-plane/kubernetes/api/kube-credentials.ts';
import type { KubeLimits } from '../../../control-plane/kubernetes/api/kube-limits.ts';
import {
  type JsonObject,
  type KubeConnection,
  KubeTransport,
} from '../../../control-plane/kubernetes/api/kube-transport.ts';
import { freePorts } from '../free-ports.ts';
import { AuditLog, auditPolicy } from './audit-log.ts';
import { ClusterCertificates } from './cluster-certificates.ts';
import { GuardedProcesses } from './guarded-processes.ts';
import { DRIVER_USER } from './installation-files.ts';
import { type KubernetesPrograms, kubernetesPrograms } from './kubernetes-programs.ts';

/** An account that asks the server: an administrator, or a ServiceAccount with a token. */
export interface ClusterUser {
  readonly connection: KubeConnection;
  /** File for `kubectl --kubeconfig`. */
  readonly kubeconfig: string;
}

export interface ServiceAccountOptions {
  readonly namespace: string;
  readonly name: string;
  /** The rules of its ClusterRole, as RBAC has them. */
  readonly rules: readonly JsonObject[];
}

interface Ports {
  readonly etcd: number;
  readonly etcdPeer: number;
  readonly api: number;
  readonly controllers: number;
}

export type ClusterProgram = 'etcd' | 'api-server' | 'controller-manager';

const ISSUER = 'https://kubernetes.default.svc';
const PATIENCE_MS = 60_000;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

export class KubernetesServer {
  readonly certificates: ClusterCertificates;
  readonly administrator: ClusterUser;
  readonly programs: KubernetesPrograms;
  readonly url: string;
  /** Requests of the ServiceAccount of the control plane. */
  readonly audit: AuditLog;
  readonly #folder: string;
  readonly #ports: Ports;
  readonly #processes: GuardedProcesses;
  readonly #transports: KubeTransport[] = [];
  #transport: KubeTransport;

  private constructor(parts: {
    readonly folder: string;
    readonly ports: Ports;
    readonly certificates: ClusterCertificates;
    readonly processes: GuardedProcesses;
    readonly programs: KubernetesPrograms;
    readonly administrator: { readonly certificate: string; readonly key: string };
  }) {
    this.certificates = parts.certificates;
    this.programs = parts.programs;
    this.#folder = parts.folder;
    this.#ports = parts.ports;
    this.#processes = parts.processes;
    this.url = `https://127.0.0.1:${this.#ports.api}`;
    this.audit = new AuditLog(this.#auditFile);
    this.administrator = this.#user('administrator', parts.administrator, {
      'client-certificate': this.certificates.file('administrator.crt'),
      'client-key': this.certificates.file('administrator.key'),
    });
    this.#transport = this.transport(this.administrator);
  }

  /** Starts a server. Whoever calls this also stops it. Throws if its programs were not built. */
  static async start(): Promise<KubernetesServer> {
    const programs = kubernetesPrograms();
    const folder = mkdtempSync(join(tmpdir(), 'svc-kubernetes-'));
    const processes = new GuardedProcesses(folder);
    try {
      const certificates = await ClusterCertificates.create(join(folder, 'certificates'));
      const names = { addresses: ['127.0.0.1', '10.0.0.1'], dnsNames: ['localhost'] };
      const [administrator] = await Promise.all([
        certificates.issue('administrator', { subject: 'CN=administrator, O=system:masters' }),
        certificates.issue('controllers', { subject: 'CN=controllers, O=system:masters' }),
        certificates.issue('api-server', { subject: 'CN=kube-apiserver', ...names }),
        certificates.issue('node', { subject: 'CN=scripted-node', ...names }),
      ]);
      const [etcd, etcdPeer, api, controllers] = (await freePorts(4)) as [
        number,
        number,
        number,
        number,
      ];
      const ports = { etcd, etcdPeer, api, controllers };
      const parts = { folder, ports, certificates, processes, programs, administrator };
      const server = new KubernetesServer(parts);
      await server.startProgram('etcd');
      await server.startProgram('api-server');
      await server.startProgram('controller-manager');
      return server;
    } catch (error) {
      await processes.end();
      throw error;
    }
  }

  /** Returns a client, which is closed with the server. */
  client(user: ClusterUser = this.administrator, limits: Partial<KubeLimits> = {}): KubeClient {
    return new KubeClient(this.transport(user, limits), 'svc-control-plane');
  }

  /** Returns what sends any request as a user, and is closed with the server. */
  transport(user: ClusterUser, limits: Partial<KubeLimits> = {}): KubeTransport {
    const transport = new KubeTransport(user.connection, limits);
    this.#transports.push(transport);
    return transport;
  }

  /** Makes a namespace, which has to be new. */
  async createNamespace(name: string): Promise<void> {
    await this.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
  }

  /** Creates an object as the administrator. Rejects if it exists. */
  create(path: string, object: JsonObject): Promise<JsonObject> {
    return this.#transport.send({ method: 'POST', path, body: object });
  }

  /** Makes a ServiceAccount that may do what a ClusterRole says, and nothing else. */
  async serviceAccount({ namespace, name, rules }: ServiceAccountOptions): Promise<ClusterUser> {
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const role = `${namespace}-${name}`;
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    await this.create(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } });
    await this.create(`${RBAC}/clusterroles`, {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: role },
      rules,
    });
    await this.create(`${RBAC}/clusterrolebindings`, {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    });
    const answer = await this.create(`${accounts}/${name}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name },
      spec: { audiences: [ISSUER], expirationSeconds: 7200 },
    });
    const { token } = answer['status'] as { readonly token: string };
    return this.#user(role, { authorization: `Bearer ${token}` }, { token });
  }

  /** Starts a program of the server that was stopped, and waits until it answers. */
  async startProgram(name: ClusterProgram): Promise<void> {
    const { etcd, apiServer, controllerManager } = this.programs;
    const startedMs = Date.now();
    if (name === 'etcd') this.#processes.start(name, etcd, this.#etcdFlags());
    else if (name === 'api-server') this.#processes.start(name, apiServer, this.#apiServerFlags());
    else this.#processes.start(name, controllerManager, this.#controllerFlags());
    if (name === 'etcd') await this.#until(name, () => this.#etcd('maintenance/status', {}));
    // Readiness follows the controllers of the API server, such as that of RBAC.
    if (name === 'api-server')
      await this.#until(name, () =>
        this.#transport.stream(
          {
            method: 'GET',
            path: '/readyz',
            signal: AbortSignal.timeout(5000),
            endsInTime: true,
          },
          async () => undefined,
        ),
      );
    if (name === 'api-server') this.audit.addStart(startedMs, Date.now());
  }

  /** Kills a program of the server, as in a crash. What etcd has acknowledged stays. */
  async killProgram(name: ClusterProgram): Promise<void> {
    await this.#processes.stop(name);
  }

  pid(name: ClusterProgram): number {
    return this.#processes.pid(name);
  }

  log(name: ClusterProgram): string {
    return this.#processes.log(name);
  }

  /** Writes a key that no object has, so that the version of the cluster increases. */
  async increaseVersion(): Promise<void> {
    const key = Buffer.from('/test/version').toString('base64');
    await this.#etcd('kv/put', { key, value: key });
  }

  /** Removes all versions but the present one from etcd: watches of earlier ones are 410. */
  async compact(): Promise<void> {
    const key = Buffer.from('/test/version').toString('base64');
    const { header } = (await this.#etcd('kv/range', { key })) as {
      readonly header: { readonly revision: string };
    };
    await this.#etcd('kv/compaction', { revision: header.revision, physical: true });
  }

  /** Ends all programs and removes their files. */
  async stop(): Promise<void> {
    await Promise.all(this.#transports.map((transport) => transport[Symbol.asyncDispose]()));
    await this.#processes.end();
  }

  #user(name: string, credentials: KubeCredentials, fields: JsonObject): ClusterUser {
    const { authority } = this.certificates;
    const kubeconfig = join(this.#folder, `${name}.kubeconfig`);
    const cluster = { server: this.url, 'certificate-authority': this.certificates.file('ca.crt') };
    const document = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster }],
      users: [{ name, user: fields }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: name } }],
      'current-context': 'test',
    };
    // JSON is YAML.
    writeFileSync(kubeconfig, JSON.stringify(document, undefined, 2), { mode: 0o600 });
    const connection = { server: this.url, authority, credentials: fixedCredentials(credentials) };
    return { connection, kubeconfig };
  }

  async #etcd(path: string, body: JsonObject): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${this.#ports.etcd}/v3/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(5000),
    });
    if (!answer.ok) throw new Error(`etcd answers ${answer.status}: ${await answer.text()}`);
    return answer.json();
  }

  async #until(name: ClusterProgram, answers: () => Promise<unknown>): Promise<void> {
    const ends = Date.now() + PATIENCE_MS;
    for (;;) {
      this.#processes.pid(name);
      try {
        await answers();
        return;
      } catch (error) {
        if (Date.now() > ends)
          throw new Error(`${name} does not become ready: ${this.log(name)}`, { cause: error });
      }
      await delay(50);
    }
  }

  #etcdFlags(): readonly string[] {
    const client = `http://127.0.0.1:${this.#ports.etcd}`;
    const peer = `http://127.0.0.1:${this.#ports.etcdPeer}`;
    return [
      `--data-dir=${join(this.#folder, 'etcd')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      '--unsafe-no-fsync',
    ];
  }

  get #auditFile(): string {
    return join(this.#folder, 'audit.log');
  }

  #apiServerFlags(): readonly string[] {
    const policy = join(this.#folder, 'audit-policy.json');
    writeFileSync(policy, JSON.stringify(auditPolicy(DRIVER_USER)));
    const file = (name: string) => this.certificates.file(name);
    return [
      `--etcd-servers=http://127.0.0.1:${this.#ports.etcd}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${this.#ports.api}`,
      `--tls-cert-file=${file('api-server.crt')}`,
      `--tls-private-key-file=${file('api-server.key')}`,
      `--client-ca-file=${file('ca.crt')}`,
      `--service-account-issuer=${ISSUER}`,
      `--api-audiences=${ISSUER}`,
      `--service-account-key-file=${file('tokens.pub')}`,
      `--service-account-signing-key-file=${file('tokens.key')}`,
      '--authorization-mode=RBAC',
      `--audit-policy-file=${policy}`,
      `--audit-log-path=${this.#auditFile}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      // Pods need no token, and no controller makes tokens for the default account in time.
      '--disable-admission-plugins=ServiceAccount',
      `--kubelet-certificate-authority=${file('ca.crt')}`,
      `--kubelet-client-certificate=${file('api-server.crt')}`,
      `--kubelet-client-key=${file('api-server.key')}`,
      '--kubelet-preferred-address-types=InternalIP',
    ];
  }

  #controllerFlags(): readonly string[] {
    const { kubeconfig } = this.#user(
      'controllers',
      {},
      {
        'client-certificate': this.certificates.file('controllers.crt'),
        'client-key': this.certificates.file('controllers.key'),
      },
    );
    return [
      `--kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${this.#ports.controllers}`,
      '--port=0',
      '--leader-elect=false',
      // As in large clusters. With the default, 20 a second, the rollout of 500 services takes two minutes, whatever svc does.
      '--kube-api-qps=200',
      '--kube-api-burst=300',
      `--service-account-private-key-file=${this.certificates.file('tokens.key')}`,
      `--root-ca-file=${this.certificates.file('ca.crt')}`,
      // Without those of nodes, volumes and clouds.
      '--controllers=*,-nodelifecycle,-nodeipam,-route,-service,-persistentvolume-binder,-attachdetach,-csrsigning,-tokencleaner,-bootstrapsigner',
    ];
  }
}
