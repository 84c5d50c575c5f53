// ScriptedNode is a node of a cluster that runs nothing. It stands for the scheduler and the kubelet: it binds pods to itself, reports
// their containers as a test scripts them, removes pods that are being deleted, and serves their output.
//
// Invariant: what is done for a pod is done one step after the other, for the newest version of the pod that the node has seen.
import { setTimeout as delay } from 'node:timers/promises';
import { KubeError } from '../../../control-plane/kubernetes/api/kube-error.ts';
import type { KubeObject } from '../../../control-plane/kubernetes/api/kube-object.ts';
import {
  type JsonObject,
  KubeTransport,
} from '../../../control-plane/kubernetes/api/kube-transport.ts';
import { KubeClient } from '../../../control-plane/kubernetes/api/kube-client.ts';
import { ObjectWatch } from '../../../control-plane/kubernetes/api/object-watch.ts';
import { type ContainerReport, podStatus } from './container-report.ts';
import type { KubernetesServer } from './kubernetes-server.ts';
import { NodeLogs } from './node-logs.ts';

/** Reports of the containers of a pod: one for all of them, or by their names. Init containers may be left out. */
export type PodScript = (
  pod: KubeObject,
) => ContainerReport | Readonly<Record<string, ContainerReport>>;

interface SeenPod {
  pod: KubeObject;
  /** The report that the server has; undefined: none. */
  reported: string | undefined;
  readonly address: string;
  work: Promise<void>;
  isDirty: boolean;
  isWorking: boolean;
}

export const READY: ContainerReport = { kind: 'ready' };

const NODES = '/api/v1/nodes';
const PODS = '/api/v1/pods';
const STRATEGIC = 'application/strategic-merge-patch+json';
const NODE_ADDRESS = '127.0.0.1';

export class ScriptedNode {
  readonly name: string;
  readonly logs: NodeLogs;
  readonly #transport: KubeTransport;
  readonly #pods = new Map<string, SeenPod>();
  readonly #watch: ObjectWatch;
  readonly #stopping = new AbortController();
  /** The first failure of a step that is not expected. */
  #failure: unknown;
  #addresses = 0;
  #script: PodScript = () => READY;
  #endsAfterMs: (pod: KubeObject) => number = () => 0;
  #ended: (pod: KubeObject) => Promise<void> = () => Promise.resolve();

  private constructor(name: string, logs: NodeLogs, server: KubernetesServer) {
    this.name = name;
    this.logs = logs;
    this.#transport = server.transport(server.administrator);
    this.#watch = new ObjectWatch({
      client: new KubeClient(this.#transport, name),
      path: PODS,
      onList: (pods) => {
        const uids = new Set(pods.map(({ metadata }) => metadata.uid));
        for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
        for (const pod of pods) this.#see(pod);
      },
      onChange: (change, pod) => {
        if (change !== 'DELETED') return this.#see(pod);
        this.#pods.delete(pod.metadata.uid!);
        // A pod of a StatefulSet has the name of the one before.
        this.logs.forget(pod.metadata.name);
      },
    });
  }

  /** Registers the node. It ends with `stop`. */
  static async start(server: KubernetesServer, name = 'node-1'): Promise<ScriptedNode> {
    const { certificates } = server;
    const { certificate, key } = await certificates.issue(`node-${name}`, {
      subject: `CN=system:node:${name}, O=system:nodes`,
      addresses: [NODE_ADDRESS],
    });
    const logs = await NodeLogs.start({ certificate, key, authority: certificates.authority });
    await server.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const now = new Date().toISOString();
    const capacity = { cpu: '64', memory: '256Gi', pods: '2000' };
    const node = new ScriptedNode(name, logs, server);
    await node.#patch(`${NODES}/${name}/status`, {
      status: {
        addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }],
        daemonEndpoints: { kubeletEndpoint: { Port: logs.port } },
        conditions: [
          { type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now },
        ],
        capacity,
        allocatable: capacity,
      },
    });
    return node;
  }

  /** Reports all pods by this script from now on. Without one, every container is ready. */
  script(script: PodScript): void {
    this.#script = script;
    for (const seen of this.#pods.values()) this.#work(seen);
  }

  /**
   * Says how long a pod goes on after the begin of its deletion, in milliseconds. It ends after its grace at the latest. Default: it
   * ends at once.
   */
  endAfter(endsAfterMs: (pod: KubeObject) => number): void {
    this.#endsAfterMs = endsAfterMs;
  }

  /** Removes a pod only after its programs have been ended by this, however long that takes. */
  endWith(ended: (pod: KubeObject) => Promise<void>): void {
    this.#ended = ended;
  }

  /** Ends the node: its pods stay as they are. Throws if one of its steps has failed for an unexpected reason. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watch[Symbol.asyncDispose]();
    await Promise.all([...this.#pods.values()].map(({ work }) => work));
    await this.logs.stop();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #see(pod: KubeObject): void {
    const uid = pod.metadata.uid!;
    const seen = this.#pods.get(uid) ?? {
      pod,
      reported: undefined,
      address: this.#nextAddress(),
      work: Promise.resolve(),
      isDirty: false,
      isWorking: false,
    };
    seen.pod = pod;
    this.#pods.set(uid, seen);
    this.#work(seen);
  }

  #nextAddress(): string {
    const at = ++this.#addresses;
    return `10.1.${Math.floor(at / 250) % 250}.${1 + (at % 250)}`;
  }

  #work(seen: SeenPod): void {
    seen.isDirty = true;
    if (seen.isWorking) return;
    seen.isWorking = true;
    seen.work = this.#steps(seen);
  }

  async #steps(seen: SeenPod): Promise<void> {
    while (seen.isDirty && !this.#stopping.signal.aborted) {
      seen.isDirty = false;
      try {
        await this.#step(seen);
      } catch (error) {
        if (!(error instanceof KubeError)) {
          this.#failure ??= error;
          break;
        }
        // The pod is gone, or another one has its name, unless the server is away: then the step is repeated.
        if (error.status === 404 || error.status === 409) continue;
        seen.isDirty = true;
        await delay(100);
      }
    }
    seen.isWorking = false;
  }

  async #step(seen: SeenPod): Promise<void> {
    const { pod } = seen;
    const { namespace, name, uid, deletionTimestamp } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const { nodeName } = pod['spec'] as { readonly nodeName?: string };
    if (nodeName === undefined || nodeName === '') {
      await this.#transport.send({
        method: 'POST',
        path: `${path}/binding`,
        body: {
          apiVersion: 'v1',
          kind: 'Binding',
          metadata: { name, uid },
          target: { kind: 'Node', name: this.name },
        },
      });
      return;
    }
    if (nodeName !== this.name) return;
    if (deletionTimestamp !== undefined) return this.#end(path, pod);
    const script = this.#script(pod);
    const reported = JSON.stringify(script);
    if (reported === seen.reported) return;
    const status = podStatus(pod, (container) => reportOf(script, container), {
      podAddress: seen.address,
      nodeAddress: NODE_ADDRESS,
      nowMs: Date.now(),
    });
    await this.#patch(`${path}/status`, { metadata: { uid }, status });
    seen.reported = reported;
  }

  /** Ends a pod that is being deleted, and removes it: its deletion has waited for this. */
  async #end(path: string, pod: KubeObject): Promise<void> {
    const graceMs = Number(pod.metadata['deletionGracePeriodSeconds'] ?? 0) * 1000;
    const endsMs = Math.min(graceMs, this.#endsAfterMs(pod));
    if (endsMs > 0)
      await delay(endsMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    if (this.#stopping.signal.aborted) return;
    await this.#ended(pod);
    await this.#transport.send({
      method: 'DELETE',
      path,
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        preconditions: { uid: pod.metadata.uid },
      },
    });
  }

  #patch(path: string, body: JsonObject): Promise<JsonObject> {
    return this.#transport.send({ method: 'PATCH', path, body, contentType: STRATEGIC });
  }
}

function reportOf(script: ReturnType<PodScript>, container: string): ContainerReport | undefined {
  if (typeof script['kind'] === 'string') return script;
  return script[container];
}
