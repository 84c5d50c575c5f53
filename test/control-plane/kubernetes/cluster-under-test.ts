// ClusterUnderTest: a real API server with a scripted node, and the orchestrator that runs services there.
//
// Invariant: the orchestrator has the rights of the role with which svc is installed (deploy/kubernetes/), and what it asks for beyond them fails the
// file of the test at its end. What a test does by itself it does as an administrator.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServiceKey } from '../../../client/index.ts';
import { projectNamespace } from '../../../client/index.ts';
import { SYSTEM_CLOCK } from '../../../kit/clock.ts';
import { IdentitySecrets } from '../../../control-plane/kubernetes/identity-secrets.ts';
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
import { GivenFolder, madeAuthority } from '../../support/certificates/given-folder.ts';
import { checkDriverRights, driverAccount } from '../../support/kubernetes/driver-account.ts';
import { installation } from '../../support/kubernetes/installation-under-test.ts';
import { type ClusterUser, KubernetesServer } from '../../support/kubernetes/kubernetes-server.ts';
import { ScriptedNode } from '../../support/kubernetes/scripted-node.ts';
import { ScriptedPrograms } from './scripted-programs.ts';

const never = new AbortController().signal;
const PATIENCE_MS = 60_000;

/** The installation as far as a cluster of 1.20 has its objects. */
export const INSTALLATION = installation({
  cluster: { disruptionBudgets: 'policy/v1beta1', hasSleepAction: false },
});

const DAY_MS = 86_400_000;

interface Parts {
  readonly node: ScriptedNode;
  readonly account: ClusterUser;
  readonly identities: IdentitySecrets;
}

export class ClusterUnderTest {
  readonly server: KubernetesServer;
  readonly node: ScriptedNode;
  readonly programs: ScriptedPrograms;
  /** Asks as an administrator. */
  readonly client: KubeClient;
  /** The account of the control plane, which has the rights of its role alone. */
  readonly account: ClusterUser;
  /** Asks as the control plane. */
  readonly driver: KubeClient;
  readonly orchestrator: KubernetesOrchestrator;

  readonly #identities: IdentitySecrets;

  private constructor(server: KubernetesServer, { node, account, identities }: Parts) {
    this.server = server;
    this.node = node;
    this.#identities = identities;
    this.programs = new ScriptedPrograms(node);
    this.client = server.client();
    this.account = account;
    this.driver = server.client(account);
    this.orchestrator = this.newOrchestrator();
  }

  static async start(): Promise<ClusterUnderTest> {
    const server = await KubernetesServer.start();
    try {
      const account = await driverAccount(server);
      const identities = await givenIdentities();
      const node = await ScriptedNode.start(server);
      return new ClusterUnderTest(server, { node, account, identities });
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** The caller disposes of it. */
  newOrchestrator(more: Partial<KubernetesOrchestratorOptions> = {}): KubernetesOrchestrator {
    return new KubernetesOrchestrator({
      client: this.driver,
      installation: INSTALLATION,
      identities: this.#identities,
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
    const { forbidden } = this.server.audit;
    try {
      await this.node.stop();
    } finally {
      await this.server.stop();
    }
    checkDriverRights({ forbidden });
  }
}

/** Returns who makes certificates by an authority of this test. */
async function givenIdentities(): Promise<IdentitySecrets> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-authority-'));
  const given = new GivenFolder(folder);
  given.write(await madeAuthority());
  const authority = await given.open();
  // It is used as it was read.
  rmSync(folder, { recursive: true });
  const { trustDomain } = INSTALLATION;
  return new IdentitySecrets({ authority, trustDomain, lifetimeMs: DAY_MS, clock: SYSTEM_CLOCK });
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
