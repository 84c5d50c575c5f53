// ClusterUnderTest: a real API server with a scripted node, and the orchestrator that runs services there.
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceKey } from '../../../client/index.ts';
import { projectNamespace } from '../../../client/index.ts';
import type { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import type { JsonObject } from '../../../control-plane/kubernetes/api/kube-transport.ts';
import {
  KubernetesOrchestrator,
  type KubernetesOrchestratorOptions,
} from '../../../control-plane/kubernetes/kubernetes-orchestrator.ts';
import { lifecycleOf } from '../../../control-plane/orchestration/lifecycle.ts';
import type {
  DesiredService,
  Observation,
  Workload,
} from '../../../control-plane/orchestration/orchestrator.ts';
import { installation } from '../../support/kubernetes/installation-under-test.ts';
import { KubernetesServer } from '../../support/kubernetes/kubernetes-server.ts';
import { ScriptedNode } from '../../support/kubernetes/scripted-node.ts';
import { ScriptedPrograms } from './scripted-programs.ts';

const never = new AbortController().signal;
const PATIENCE_MS = 60_000;

/** The installation as far as a cluster of 1.20 has its objects. */
export const INSTALLATION = installation({
  cluster: { disruptionBudgets: 'policy/v1beta1', hasSleepAction: false },
});

export class ClusterUnderTest {
  readonly server: KubernetesServer;
  readonly node: ScriptedNode;
  readonly programs: ScriptedPrograms;
  readonly client: KubeClient;
  readonly orchestrator: KubernetesOrchestrator;

  private constructor(server: KubernetesServer, node: ScriptedNode) {
    this.server = server;
    this.node = node;
    this.programs = new ScriptedPrograms(node);
    this.client = server.client();
    this.orchestrator = this.newOrchestrator();
  }

  static async start(): Promise<ClusterUnderTest> {
    const server = await KubernetesServer.start();
    try {
      return new ClusterUnderTest(server, await ScriptedNode.start(server));
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** The caller disposes of it. */
  newOrchestrator(more: Partial<KubernetesOrchestratorOptions> = {}): KubernetesOrchestrator {
    return new KubernetesOrchestrator({
      client: this.client,
      installation: INSTALLATION,
      log: () => undefined,
      ...more,
    });
  }

  observe(key: ServiceKey): Promise<Observation> {
    return this.orchestrator.observe(key, never);
  }

  reconcile(desired: DesiredService): Promise<void> {
    return this.orchestrator.reconcile(desired, never);
  }

  /** Observes a service until it is in a state. */
  async untilState(
    desired: DesiredService,
    state: ReturnType<typeof lifecycleOf>,
    look: (observation: Observation) => void = () => undefined,
  ): Promise<Workload> {
    let found = await this.observe(desired.key);
    await until(
      async () => {
        found = await this.observe(desired.key);
        look(found);
        return this.stateOf(desired, found) === state;
      },
      () => `${desired.key.service} is not ${state}: ${JSON.stringify(found)}`,
    );
    return found as Workload;
  }

  stateOf(desired: DesiredService, found: Observation): ReturnType<typeof lifecycleOf> {
    return lifecycleOf(desired, found, Date.now());
  }

  async pods({ project, service }: ServiceKey): Promise<readonly KubeObject[]> {
    const path = `/api/v1/namespaces/${projectNamespace(project)}/pods`;
    return (await this.client.list(path, { labelSelector: `svc.dev/service=${service}` })).items;
  }

  /** Returns the identities of the pods that are not being deleted. */
  async uids(key: ServiceKey): Promise<readonly string[]> {
    return (await this.pods(key))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid!)
      .toSorted();
  }

  /** Sends a request as an administrator who is not the control plane. */
  send(
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: JsonObject,
    contentType?: string,
  ): Promise<JsonObject> {
    return this.client.transport.send({
      method,
      path,
      body,
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  /** Removes services, and waits until nothing is left of them. */
  async remove(...keys: readonly ServiceKey[]): Promise<void> {
    for (const key of keys) await this.orchestrator.reconcile({ kind: 'removed', key }, never);
    for (const key of keys)
      await until(
        async () => (await this.observe(key)).kind === 'none',
        () => `${key.service} does not end`,
      );
  }

  async stop(): Promise<void> {
    this.programs.end();
    await this.orchestrator[Symbol.asyncDispose]();
    try {
      await this.node.stop();
    } finally {
      await this.server.stop();
    }
  }
}

export async function until(
  condition: () => Promise<boolean>,
  failure: () => string = () => 'the condition is not met after a minute',
): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(failure());
    await pause(20);
  }
}
