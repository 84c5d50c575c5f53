// Supervisor runs the shards of a service: it starts them, connects each with the journal and with all others, and
// stops them together. A shard that ends is started again (supervised-shard.ts), and while none listens callers get
// 503 with a Retry-After header. Beside this and introspection the main thread runs nothing of a service, so it keeps
// answering whatever a guest does. Invariants:
// I1  The journal is opened only after the module is admitted: a refused module touches nothing on disk.
// I2  Two live shards have one link between them, or two for a moment when both were restarted at the same time.
// I3  After `stop` no thread is started, none is left, and the journal is not requested.
// I4  The port is held only while no shard is about to listen on it.
// I5  Several shards only listen on a port on which no other program listens.
// I6  At a stop no engine is closed before every shard has finished its requests, or has used up its time for that.
import assert from 'node:assert/strict';
import type { MessagePort } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import type { Ownership } from '../engine/needs/ownership.ts';
import { HashOwnership } from './hash-ownership.ts';
import { HeldPort } from './held-port.ts';
import type { GuestSource } from '../hosting/guest-source.ts';
import { shardAway } from './open-questions.ts';
import type { ConfigurationTexts } from '@svc/model/configuration';
import { type LimitCounts, summedCounts } from '@svc/model/limit-counters';
import { sharedRequestBudgets, type SharedRequestBudgets } from '@svc/model/request-budgets';
import { LimitMemory } from './limit-memory.ts';
import { peerLinks } from './peer-link.ts';
import type { Address, Peer } from './shard-messages.ts';
import type { ShardEnding } from './shard-ends.ts';
import type { ShardNumbers } from './shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from './shard-questions.ts';
import type { ShardThread } from './shard-thread.ts';
import { type ShardResources, type Supervised, SupervisedShard } from './supervised-shard.ts';
import type { ClusterNode } from '../storage/cluster-nodes.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';
import { WORK_KINDS, type WorkKind } from './work-link.ts';

export interface SupervisedService extends Supervised {
  /** Called at each start of a shard, once the module is admitted. */
  readonly connectJournal: (shard: number) => Promise<JournalConnection>;
  /** Whether the journal is opened only once another process has ended, which may have the port until then. */
  readonly isStandby?: boolean;
  /** Returns the nodes of the cluster. Absent: the service has one node. */
  readonly nodes?: () => readonly ClusterNode[];
  /** For each kind of work: makes a link for a shard that serves, and returns the shard's end. Absent: there is no such work. */
  readonly workLinks?: Readonly<Partial<Record<WorkKind, (index: number) => MessagePort>>>;
}

export interface Started {
  /** Undefined if the service has no HTTP server. */
  readonly address: Address | undefined;
  readonly descriptor: ModuleDescriptor;
}

/** A shard's thread that serves or is about to. */
interface Present {
  readonly thread: ShardThread;
  /** Links to send to the other shards once this one listens. */
  links: { readonly thread: ShardThread; readonly peer: Peer }[];
}

export class Supervisor {
  /** Counts of the limits that the shards have hit, summed over all shards. */
  readonly counters = {
    read: (): LimitCounts => summedCounts(this.#shards.map(({ counters }) => counters)),
  };
  /** Decides which shard owns an entity. */
  readonly ownership: Ownership;
  readonly #supervised: SupervisedService;
  readonly #shards: readonly SupervisedShard[];
  readonly #heldPort = new HeldPort();
  readonly #budgets: SharedRequestBudgets;
  readonly #limits: LimitMemory;
  /** Indexed by shard; a shard without a thread is missing. */
  readonly #present = new Map<number, Present>();
  #address: Address;
  /** The check that nobody listens on the port, made when the first of several shards is about to listen. */
  #portIsFree: Promise<void> | undefined;
  /** True once all shards have listened. */
  #hasStarted = false;

  constructor(supervised: SupervisedService) {
    this.#supervised = supervised;
    this.ownership = new HashOwnership(supervised.settings.count);
    this.#address = supervised.settings.address;
    this.#budgets = sharedRequestBudgets(supervised.settings.count);
    this.#limits = new LimitMemory(supervised.settings.sections.http.limitBucketsMax);
    this.#shards = Array.from({ length: supervised.settings.count }, (_, index) =>
      this.#shard(index),
    );
  }

  /** Starts the shards. Resolves once the service listens; rejects with the reason why it cannot. */
  async start(): Promise<Started> {
    const [first, ...others] = this.#shards;
    // This check comes before anything touches the journal.
    if (others.length > 0 && this.#supervised.isStandby !== true) await this.#checkPortFree();
    const started = first!.start();
    // The other shards listen on the port that the first one was given.
    if (this.#address.port === 0) await started;
    const [descriptor] = await Promise.all([started, ...others.map((shard) => shard.start())]);
    this.#hasStarted = true;
    return { address: this.#supervised.settings.http ? this.#address : undefined, descriptor };
  }

  /** Gives all shards that serve new links for work of this kind. */
  linkWork(kind: WorkKind): void {
    for (const [index, { thread }] of this.#present)
      if (this.#shards[index]!.isServing) this.#linkWork(kind, index, thread);
  }

  #linkWork(kind: WorkKind, index: number, thread: ShardThread): void {
    const port = this.#supervised.workLinks?.[kind]?.(index);
    if (port !== undefined) thread.linkWork(kind, port);
  }

  /** Gives the certificates that are in use now to all shards; one that is started later asks for them. */
  renewCertificates(): void {
    const texts = this.#supervised.certificates?.();
    if (texts === undefined) return;
    for (const { thread } of this.#present.values()) thread.renewCertificates(texts);
  }

  /** Gives new values to all shards; one that is started later asks for them. */
  renewConfiguration(texts: ConfigurationTexts): void {
    for (const { thread } of this.#present.values()) thread.renewConfiguration(texts);
  }

  /** Gives the nodes of the cluster to all shards; one that is started later asks for them. */
  renewNodes(): void {
    const nodes = this.#supervised.nodes?.();
    if (nodes === undefined) return;
    for (const { thread } of this.#present.values()) thread.renewNodes(nodes);
  }

  /** Lets other nodes know that this one has changed who owns what. */
  announceOwners(): void {
    for (const { thread } of this.#present.values()) thread.announceOwners();
  }

  /** Numbers of the nodes of the cluster that a shard cannot reach. */
  get unreachableNodes(): ReadonlySet<number> {
    return new Set(Array.from(this.#present.values(), ({ thread }) => thread.unreachable).flat());
  }

  /** Starts a thread for another module, which loads the host's code meanwhile. Only for a service of one shard. */
  standBy(source: Promise<GuestSource>): ShardThread {
    assert(this.#shards.length === 1, 'several shards cannot be given another module');
    return this.#shards[0]!.standBy(source);
  }

  /** Serves another module on the same port and journal (supervised-shard.ts). */
  async takeOver(
    standby: ShardThread,
    source: GuestSource,
    graceMs: number,
  ): Promise<ModuleDescriptor> {
    return this.#shards[0]!.takeOver(standby, source, graceMs);
  }

  get count(): number {
    return this.#shards.length;
  }

  /** Indexed by shard: whether it serves. */
  get serving(): readonly boolean[] {
    return this.#shards.map(({ isServing }) => isServing);
  }

  /** Counts of each shard that has admitted a module; shards that have not are left out. */
  get numbers(): readonly ShardNumbers[] {
    return this.#shards.flatMap(({ numbers }) => numbers ?? []);
  }

  /** The latest unexpected ends of the shards. */
  get ends(): readonly ShardEnding[] {
    return this.#shards.flatMap(({ ends }) => ends.latest);
  }

  /** Asks a shard a question (shard-thread.ts). */
  async ask<Question extends ShardQuestion>(
    shard: number,
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>> {
    return this.#shards[shard]!.ask(question, timeoutMs);
  }

  /**
   * Stops the shards after the requests in flight. Resolves with whether all of them could finish. `lastLook`: is
   * called when nothing is in flight any more and shards still answer questions.
   */
  async stop(lastLook: () => Promise<unknown> = async () => {}): Promise<boolean> {
    const { stopGraceMs, stopMarginMs } = this.#supervised.limits;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, stopGraceMs + stopMarginMs / 2);
    const finished = Promise.all(this.#shards.map((shard) => shard.finished()));
    const allFinished = Promise.race([finished.then(lastLook), late.promise]);
    const inTime = await Promise.all(this.#shards.map((shard) => shard.stop(allFinished)));
    clearTimeout(timer);
    await this.#heldPort.release();
    return inTime.every(Boolean);
  }

  #shard(index: number): SupervisedShard {
    return new SupervisedShard(this.#supervised, {
      index,
      budgets: this.#budgets,
      limits: this.#limits,
      address: () => this.#address,
      acquire: async (thread) => this.#acquire(index, thread),
      listens: (thread, address) => {
        // With port 0 the operating system chooses the port, and shards that are started again keep it.
        if (address !== undefined) this.#address = address;
        const present = this.#present.get(index);
        if (present?.thread === thread) sendLinks(present);
        for (const kind of WORK_KINDS) this.#linkWork(kind, index, thread);
        const nodes = this.#supervised.nodes?.();
        if (nodes !== undefined) thread.renewNodes(nodes);
      },
      hasEnded: (pauseMs) => {
        this.#present.delete(index);
        for (const { thread } of this.#present.values()) thread.peerAway(index, pauseMs);
        const { http, identity } = this.#supervised.settings;
        // The main thread's answer is one without TLS, which no caller of a service with an identity could read.
        if (this.#present.size === 0 && http && identity === undefined)
          this.#heldPort.hold(this.#address, pauseMs);
      },
    });
  }

  async #acquire(index: number, thread: ShardThread): Promise<ShardResources> {
    const journal = await this.#supervised.connectJournal(index);
    // Time has passed since the first check, and another service may have been started.
    if (this.#shards.length > 1) await (this.#portIsFree ??= this.#checkPortFree());
    if (thread.hasEnded) {
      for (const port of journal.ports) port.close();
      throw shardAway();
    }
    const peers: Peer[] = [];
    const present: Present = { thread, links: [] };
    for (const [other, { thread: otherThread }] of this.#present) {
      const [here, there] = peerLinks(this.#shards.length);
      peers.push({ index: other, ...here });
      present.links.push({ thread: otherThread, peer: { index, ...there } });
    }
    this.#present.set(index, present);
    // At the first start either all shards listen or none; later no shard waits for one that may not come back.
    if (!this.#hasStarted) sendLinks(present);
    await this.#heldPort.release();
    return { journal, peers };
  }

  /** Rejects if a program listens on the port: a port that shards share is open to all programs of the same user. */
  async #checkPortFree(): Promise<void> {
    const { http, remoting } = this.#supervised.settings;
    const { checkPortFree } = await import('./free-port.ts');
    if (http) await checkPortFree(this.#address, '--port');
    if (remoting !== undefined) await checkPortFree(remoting, 'svc.remoting.port');
  }
}

function sendLinks(present: Present): void {
  for (const { thread, peer } of present.links) thread.connect(peer);
  present.links = [];
}
