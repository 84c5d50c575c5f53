// ShardCluster connects a shard with the other nodes of the service's cluster: it takes their calls, keeps connections to them, and
// lets go of entities that this node hands over. A service whose journal is in a folder has none.
import type { ModuleDescriptor } from '@svc/contract';
import type { ByteBudget } from '@svc/model/byte-budget';
import type { FaultReport } from '@svc/model/fault-report';
import type { ListenAddress } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import type { SharedSeries } from '@svc/model/shared-series';
import type { Awaitable } from '@svc/model/call';
import type { EntityEngine } from '../engine/entity-engine.ts';
import { RouteTable } from '../http/route-table.ts';
import type { NodeIdentity } from '../remoting/handshake.ts';
import { RemoteNodes } from '../remoting/remote-nodes.ts';
import { RemotingServer } from '../remoting/remoting-server.ts';
import type { RemotingTls } from '../remoting/remoting-tls.ts';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import { ClusterOwnership } from '../shards/cluster-ownership.ts';
import type { ForwardedCall } from '../shards/frame.ts';
import { MovingCalls } from '../shards/moving-calls.ts';
import type { NodeCall } from '../shards/recorder/node-calls.ts';
import type { RouterCluster, ShardRouter } from '../shards/shard-router.ts';
import type { ClusterNode, ClusterSlices, ReleasedSlices } from '../storage/cluster-nodes.ts';

/** Time for entities to leave memory before they are handed over, in milliseconds. What is still waiting then fails as moved. */
const RELEASE_MS = 300;
/** Interval at which it is reported which nodes cannot be reached, in milliseconds. */
const UNREACHABLE_MS = 1_000;
const WORDS = {
  server: 'the server for the other instances of the service',
  settings: { host: 'svc.remoting.host', port: 'svc.remoting.port' },
};

export interface ShardClusterOptions {
  readonly slices: ClusterSlices;
  readonly descriptor: ModuleDescriptor;
  /** Fingerprint of the module. */
  readonly fingerprint: string;
  /** How many shards this node has. */
  readonly shards: number;
  readonly faults: Pick<FaultReport, 'isKnown'>;
  readonly unsent: ByteBudget;
  /** TLS of the connections between nodes; undefined: they are plain. */
  readonly tls: RemotingTls | undefined;
  /** Counts of the calls between this node and others. */
  readonly calls: SharedSeries<NodeCall>;
  readonly log: Log;
  /** Called with the numbers of the nodes that cannot be reached, whenever they may have changed. */
  readonly onUnreachable: (nodes: readonly number[]) => void;
}

export class ShardCluster {
  readonly ownership: ClusterOwnership;
  readonly routing: RouterCluster;
  readonly #options: ShardClusterOptions;
  readonly #remote: RemoteNodes;
  #server: RemotingServer | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: ShardClusterOptions) {
    const { slices, descriptor, shards, faults, unsent, tls, calls, log } = options;
    this.#options = options;
    this.ownership = new ClusterOwnership(slices, shards);
    this.#remote = new RemoteNodes({
      self: () => this.#self,
      tls,
      callbacks: {
        learned: (failure, isLogged) => faults.isKnown(failure, isLogged),
        head: (slice, off) => slices.advance(slice, off),
        look: () => slices.look(),
      },
      unsent,
      log,
    });
    this.routing = {
      peer: (node) => this.#remote.peer(node),
      moving: new MovingCalls(slices),
      version: () => slices.version,
      count: (call) => calls.add(call),
      sendsRequests: (descriptor.views ?? []).length === 0,
    };
  }

  /** Serves calls of other nodes by this router, and lets go of entities of this engine that the node hands over. */
  serve(engine: Pick<EntityEngine, 'drain'>, router: ShardRouter): void {
    const { slices, descriptor, unsent, tls, log } = this.#options;
    slices.onRelease((released) => release(engine, released));
    const { serve, ...callbacks } = router.nodeOptions;
    this.#server = new RemotingServer({
      self: () => this.#self,
      tls,
      routes: parameterCounts(descriptor),
      serviceFor: (node) => ({
        ...callbacks,
        look: () => slices.look(),
        serve: (call) => followedBy(serve(call), () => node.sendHead(...headOf(slices, call))),
      }),
      unsent,
      log,
    });
  }

  /** Takes calls of other nodes at this address. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
  async listen(address: ListenAddress): Promise<void> {
    const { onUnreachable } = this.#options;
    await this.#server!.listen(address, WORDS);
    this.#watch = setInterval(() => onUnreachable(this.#remote.unreachable), UNREACHABLE_MS);
    this.#watch.unref();
  }

  /** Takes the nodes of the cluster, which calls go to from now on. */
  setNodes(nodes: readonly ClusterNode[]): void {
    const present = nodes.filter(({ status }) => status !== 'Down');
    this.#remote.setNodes(
      present.flatMap(({ number, uid, address }) =>
        address === undefined ? [] : [{ number, uid, ...address }],
      ),
    );
  }

  /** Lets the other nodes know that this one has changed who owns what. */
  announceOwners(): void {
    this.#remote.sendLook();
  }

  /** Lets other nodes have their answers, and ends all connections. */
  async close(): Promise<void> {
    clearInterval(this.#watch);
    await this.#server?.quiet();
    this.#remote.close();
    await this.#server?.close();
  }

  get #self(): NodeIdentity {
    const { fingerprint, slices } = this.#options;
    const { id: cluster, self: number, uid } = slices;
    return { cluster, number, uid, version: RUNTIME_VERSION, fingerprint };
  }
}

/** Returns the slice of a call's entity, and its last record: whoever reads its own writes at the other node waits for that. */
function headOf(
  slices: ClusterSlices,
  [{ component, id }]: ForwardedCall,
): readonly [number, number] {
  return slices.headOf(component, id);
}

function followedBy<T>(answer: Awaitable<T>, then: () => void): Awaitable<T> {
  if (answer instanceof Promise) return answer.finally(then);
  then();
  return answer;
}

async function release(
  engine: Pick<EntityEngine, 'drain'>,
  released: ReleasedSlices,
): Promise<void> {
  const drain = engine.drain((entity) => released.has(entity));
  const late = setTimeout(() => drain.cancel(), RELEASE_MS);
  await drain.done;
  clearTimeout(late);
  void released.ended.then(() => drain.end());
}

/** Returns the number of parameters in the path of each route. */
function parameterCounts(descriptor: ModuleDescriptor): readonly number[] {
  return new RouteTable(descriptor).routes.map(
    ({ parameterPositions }) => parameterPositions.length,
  );
}
