// ShardCluster connects a shard with the other nodes of the service's cluster: it takes their calls, keeps connections to them, and
// lets go of entities that this node hands over. A service whose journal is in a folder has none.
import type { ModuleDescriptor } from '@svc/contract';
import type { ByteBudget } from '@svc/model/byte-budget';
import type { FaultReport } from '@svc/model/fault-report';
import type { Log } from '@svc/kit/log';
import type { EntityEngine } from '../engine/entity-engine.ts';
import type { NodeIdentity } from '../remoting/handshake.ts';
import { RemoteNodes } from '../remoting/remote-nodes.ts';
import { RemotingServer } from '../remoting/remoting-server.ts';
import { RUNTIME_VERSION } from '../runtime-version.ts';
import { ClusterOwnership } from '../shards/cluster-ownership.ts';
import { MovingCalls } from '../shards/moving-calls.ts';
import type { RouterCluster, ShardRouter } from '../shards/shard-router.ts';
import type { Address } from '../shards/shard-messages.ts';
import type { ClusterNode, ClusterSlices, ReleasedSlices } from '../storage/cluster-nodes.ts';

/** Time for entities to leave memory before they are handed over, in milliseconds. What is still waiting then fails as moved. */
const RELEASE_MS = 300;
const WORDS = {
  host: '--set svc.remoting.host=ADDRESS',
  port: '--set svc.remoting.port=PORT',
};

export interface ShardClusterOptions {
  readonly slices: ClusterSlices;
  /** Id of the cluster. */
  readonly id: string;
  readonly descriptor: ModuleDescriptor;
  /** Fingerprint of the module. */
  readonly fingerprint: string;
  /** How many shards this node has. */
  readonly shards: number;
  readonly faults: Pick<FaultReport, 'isKnown'>;
  readonly unsent: ByteBudget;
  readonly log: Log;
  /** Called with the numbers of the nodes that cannot be reached, whenever they may have changed. */
  readonly onUnreachable: (nodes: readonly number[]) => void;
}

export class ShardCluster {
  readonly ownership: ClusterOwnership;
  readonly routing: RouterCluster;
  readonly #options: ShardClusterOptions;
  readonly #remote: RemoteNodes;
  #nodes: readonly ClusterNode[] = [];
  #server: RemotingServer | undefined;
  #watch: NodeJS.Timeout | undefined;

  constructor(options: ShardClusterOptions) {
    const { slices, shards, faults, unsent, log } = options;
    this.#options = options;
    this.ownership = new ClusterOwnership(slices, shards);
    this.#remote = new RemoteNodes({
      self: () => this.#self,
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
    };
  }

  /** Takes calls of other nodes. Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE. */
  async listen(
    address: Address & { readonly isShared: boolean },
    router: ShardRouter,
  ): Promise<void> {
    const { slices, descriptor, unsent, log, onUnreachable } = this.#options;
    this.#server = new RemotingServer({
      self: () => this.#self,
      routes: parameterCounts(descriptor),
      serviceFor: (node) => ({
        ...router.nodeOptions,
        look: () => slices.look(),
        serve: async (call) => {
          try {
            return await router.nodeOptions.serve(call);
          } finally {
            // Whoever reads its own writes at the other node waits for this record.
            const [{ component, id }] = call;
            node.sendHead(...slices.headOf(component, id));
          }
        },
      }),
      unsent,
      log,
    });
    await this.#server.listen(address, WORDS);
    this.#watch = setInterval(() => onUnreachable(this.#remote.unreachable), 1_000).unref();
  }

  /** Lets go of entities that this node hands over. */
  releases(engine: Pick<EntityEngine, 'drain'>): void {
    this.#options.slices.onRelease((released) => release(engine, released));
  }

  /** Takes the nodes of the cluster, which calls go to from now on. */
  setNodes(nodes: readonly ClusterNode[]): void {
    this.#nodes = nodes;
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

  async close(): Promise<void> {
    clearInterval(this.#watch);
    this.#remote.close();
    await this.#server?.close();
  }

  get #self(): NodeIdentity {
    const { id: cluster, fingerprint, slices } = this.#options;
    const number = slices.self;
    const uid = this.#nodes.find((node) => node.number === number)?.uid ?? '';
    return { cluster, number, uid, version: RUNTIME_VERSION, fingerprint };
  }
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
function parameterCounts({ endpoints }: ModuleDescriptor): readonly number[] {
  return endpoints.map(({ path }) => path.split('/').filter((part) => part.startsWith('{')).length);
}
