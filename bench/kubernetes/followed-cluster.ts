// FollowedCluster: the parts of a control plane that follow a Kubernetes cluster, without HTTP and people: entities, orchestration and driver, with a real
// API server and a scripted node.
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceKey } from '@svc/client';
import { createService, type Service } from '@svc/host';
import { reconcileServices } from '../../control-plane/consumers/reconcile-services.ts';
import { applyService } from '../../control-plane/flows/apply-service.ts';
import { createOrganization } from '../../control-plane/flows/create-organization.ts';
import { createProject } from '../../control-plane/flows/create-project.ts';
import { serviceId } from '../../control-plane/flows/service-id.ts';
import { KubeClient } from '../../control-plane/kubernetes/api/kube-client.ts';
import { KubernetesOrchestrator } from '../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import { FIELD_MANAGER } from '../../control-plane/kubernetes/manifests/object-names.ts';
import { email } from '../../control-plane/model/email.ts';
import { hostname } from '../../control-plane/model/hostname.ts';
import { organization } from '../../control-plane/model/organization.ts';
import { person } from '../../control-plane/model/person.ts';
import { project } from '../../control-plane/model/project.ts';
import { service } from '../../control-plane/model/service.ts';
import { workload } from '../../control-plane/model/workload.ts';
import { knownServices } from '../../control-plane/orchestration/known-services.ts';
import { Orchestration } from '../../control-plane/orchestration/orchestration.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../control-plane/orchestration/orchestrator-section.ts';
import { CountedTransport } from '../../test/support/kubernetes/counted-transport.ts';
import { installation } from '../../test/support/kubernetes/installation-under-test.ts';
import { KubernetesServer } from '../../test/support/kubernetes/kubernetes-server.ts';
import { ScriptedNode } from '../../test/support/kubernetes/scripted-node.ts';
import { processorUs } from '../processor-time.ts';

const BY = { subject: 'bench', display: 'bench', administrative: false };
const OWNER = { ...BY, email: 'bench@example.org', emailKey: 'bench@example.org' };
const DESCRIPTOR = {
  image: 'registry.example/site:1',
  hosting: 'process' as const,
  protocol: 'http/1.1',
};
const PROJECTS = 10;
const LOOK_MS = 10;

const log = ({ message }: { readonly message: string }) => process.stderr.write(`${message}\n`);

export class FollowedCluster implements AsyncDisposable {
  readonly server: KubernetesServer;
  readonly transport: CountedTransport;
  readonly orchestrator: KubernetesOrchestrator;
  readonly #node: ScriptedNode;
  readonly #orchestration: Orchestration;
  readonly #running: Service;
  readonly #folder: string;

  private constructor(
    parts: Pick<FollowedCluster, 'server' | 'transport' | 'orchestrator'> & {
      readonly node: ScriptedNode;
      readonly orchestration: Orchestration;
      readonly running: Service;
      readonly folder: string;
    },
  ) {
    this.server = parts.server;
    this.transport = parts.transport;
    this.orchestrator = parts.orchestrator;
    this.#node = parts.node;
    this.#orchestration = parts.orchestration;
    this.#running = parts.running;
    this.#folder = parts.folder;
  }

  /** The journal is in `folder`, which is removed at the end. Nothing is followed yet. */
  static async start(folder: string): Promise<FollowedCluster> {
    const server = await KubernetesServer.start();
    const node = await ScriptedNode.start(server);
    const transport = new CountedTransport(server.administrator.connection);
    const orchestrator = new KubernetesOrchestrator({
      client: new KubeClient(transport, FIELD_MANAGER),
      installation: installation({
        cluster: { disruptionBudgets: 'policy/v1beta1', hasSleepAction: false },
      }),
      log,
    });
    const orchestration = new Orchestration({ orchestrator, section: ORCHESTRATOR_DEFAULTS, log });
    const running = await createService({
      name: 'control-plane',
      entities: [organization, project, service, hostname, email, person, workload],
      views: [knownServices],
      consumers: [reconcileServices(orchestration.changed)],
      http: false,
      log: 'none',
      dataFolder: folder,
    });
    const call = running.call.bind(running);
    await createOrganization(call, 'bench', { name: 'bench', owner: OWNER }, BY);
    for (let at = 0; at < PROJECTS; at++)
      await createProject(call, `p${at}`, { organizationId: 'bench', name: `p${at}` }, BY);
    return new FollowedCluster({
      server,
      transport,
      orchestrator,
      node,
      orchestration,
      running,
      folder,
    });
  }

  /** Processor time that the API server, its storage and its controllers have used so far. */
  serverProcessorMs(): number {
    const programs = ['etcd', 'api-server', 'controller-manager'] as const;
    return programs.reduce((sum, name) => sum + processorUs(this.server.pid(name)) / 1000, 0);
  }

  /** Keys of services, spread over projects. */
  static keys(count: number): readonly ServiceKey[] {
    return Array.from({ length: count }, (_, at) => ({
      project: `p${at % PROJECTS}`,
      service: `s${at}`,
    }));
  }

  /** Stores what is desired of a service: a web-hosted one of one instance. */
  async apply(key: ServiceKey): Promise<void> {
    const call = this.#running.call.bind(this.#running);
    const applied = await applyService(call, key, { ...DESCRIPTOR, name: key.service }, BY);
    if (!applied.isOk) throw new Error(applied.message);
  }

  follow(): void {
    this.#orchestration.start(this.#running);
  }

  /** Asks for the status of a service until it is ready, as a member does. */
  async untilReady(key: ServiceKey): Promise<void> {
    const state = await this.#running.call(service, serviceId(key)).get();
    if (!state.isOk) throw new Error(state.message);
    while ((await this.#orchestration.status(key, { state: state.value })).lifecycle !== 'ready')
      await pause(LOOK_MS);
  }

  /** Waits until the statuses that lists have say of every service that it is ready. */
  async untilAllReady(keys: readonly ServiceKey[]): Promise<void> {
    for (const key of keys) {
      const state = await this.#running.call(service, serviceId(key)).get();
      if (!state.isOk) throw new Error(state.message);
      while (this.#orchestration.lastStatus(key, { state: state.value }).lifecycle !== 'ready')
        await pause(LOOK_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#orchestration.stop();
    await this.#running.stop();
    await this.orchestrator[Symbol.asyncDispose]();
    await this.transport[Symbol.asyncDispose]();
    try {
      await this.#node.stop();
    } finally {
      await this.server.stop();
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }
}
