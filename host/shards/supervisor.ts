// Supervisor: sees to it that the shards of a service are served: it starts them, hands each the journal and a
// port to every other, and stops them together; what ends is started again (supervised-shard.ts), and while none
// listens callers are told to try again. The main thread runs nothing else of a service, so it keeps answering
// whatever a guest does. Invariants:
// I1  The journal is asked for after the module is admitted: a refused module touches nothing on disk.
// I2  Two shards that both live have one channel between them, or two for a moment when both were started anew.
// I3  After `stop` no thread is started, none is left, and nobody is asking for the journal.
// I4  The port is held only while no shard is about to listen on it.
// I5  Several shards begin to listen on a port that nobody listens on.
// I6  At a stop no engine is closed before every shard has finished its requests, or has had its time for it.
import assert from 'node:assert/strict';
import type { ModuleDescriptor } from '@svc/contract';
import type { Ownership } from '../engine/needs/ownership.ts';
import { HashOwnership } from './hash-ownership.ts';
import { HeldPort } from './held-port.ts';
import type { GuestSource } from '../hosting/guest-source.ts';
import { type LimitCounts, summedCounts } from '../model/limit-counters.ts';
import { sharedRequestBudgets, type SharedRequestBudgets } from '../model/request-budgets.ts';
import { peerLinks } from './peer-link.ts';
import type { Address, Peer } from './shard-messages.ts';
import type { ShardEnding } from './shard-ends.ts';
import type { ShardNumbers } from './shard-numbers.ts';
import type { AnswerTo, ShardQuestion } from './shard-questions.ts';
import type { ShardThread } from './shard-thread.ts';
import { type Equipment, type Supervised, SupervisedShard } from './supervised-shard.ts';
import type { JournalConnection } from '../storage/journal-connection.ts';

export interface SupervisedService extends Supervised {
  /** Called at each start of a shard, once the module is admitted. */
  readonly connectJournal: () => Promise<JournalConnection>;
}

export interface Started {
  /** Undefined: the service has no HTTP server. */
  readonly address: Address | undefined;
  readonly descriptor: ModuleDescriptor;
}

/** A shard's thread that is served, or about to be. */
interface Present {
  readonly thread: ShardThread;
  /** To be told to others once it listens. */
  links: { readonly thread: ShardThread; readonly peer: Peer }[];
}

export class Supervisor {
  /** What all shards of this service have met. */
  readonly counters = {
    read: (): LimitCounts => summedCounts(this.#shards.map(({ counters }) => counters)),
  };
  /** Which shard owns an entity. */
  readonly ownership: Ownership;
  readonly #supervised: SupervisedService;
  readonly #shards: readonly SupervisedShard[];
  readonly #heldPort = new HeldPort();
  readonly #budgets: SharedRequestBudgets;
  readonly #present = new Map<number, Present>();
  #address: Address;
  /** That nobody listens on the port when the first of several shards is about to. */
  #portIsFree: Promise<void> | undefined;
  /** All have listened, so the service is known to be served. */
  #hasStarted = false;

  constructor(supervised: SupervisedService) {
    this.#supervised = supervised;
    this.ownership = new HashOwnership(supervised.settings.count);
    this.#address = supervised.settings.address;
    this.#budgets = sharedRequestBudgets(supervised.settings.count);
    this.#shards = Array.from({ length: supervised.settings.count }, (_, index) =>
      this.#shard(index),
    );
  }

  /** Resolves once the service listens; rejects with the reason why it cannot. */
  async start(): Promise<Started> {
    const [first, ...others] = this.#shards;
    // Before anything of the journal is touched.
    if (others.length > 0) await this.#checkPortFree();
    const started = first!.start();
    // The others listen on the port that the first was given.
    if (this.#address.port === 0) await started;
    const [descriptor] = await Promise.all([started, ...others.map((shard) => shard.start())]);
    this.#hasStarted = true;
    return { address: this.#supervised.settings.http ? this.#address : undefined, descriptor };
  }

  /** A thread for another module, which loads the host's code meanwhile; of a service of one shard. */
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

  /** Of each shard, whether it serves. */
  get serving(): readonly boolean[] {
    return this.#shards.map(({ isServing }) => isServing);
  }

  /** What each shard has counted; those whose module was not admitted yet are left out. */
  get numbers(): readonly ShardNumbers[] {
    return this.#shards.flatMap(({ numbers }) => numbers ?? []);
  }

  /** The latest times that each shard has ended though nobody told it to. */
  get ends(): readonly ShardEnding[] {
    return this.#shards.flatMap(({ ends }) => ends.latest);
  }

  /** Asks a shard something (shard-thread.ts). */
  async ask<Question extends ShardQuestion>(
    shard: number,
    question: Question,
    timeoutMs: number,
  ): Promise<AnswerTo<Question>> {
    return this.#shards[shard]!.ask(question, timeoutMs);
  }

  /**
   * Finishes what is in flight. Says whether all of it could finish. `lastLook`: nothing is in flight any more, and
   * shards still answer what they are asked.
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
      address: () => this.#address,
      equip: async (thread) => this.#equip(index, thread),
      listens: (thread, address) => {
        // A service that comes back keeps the port that it was given.
        if (address !== undefined) this.#address = address;
        const present = this.#present.get(index);
        if (present?.thread === thread) tell(present);
      },
      hasEnded: (pauseMs) => {
        this.#present.delete(index);
        for (const { thread } of this.#present.values()) thread.peerAway(index, pauseMs);
        if (this.#present.size === 0 && this.#supervised.settings.http)
          this.#heldPort.hold(this.#address, pauseMs);
      },
    });
  }

  async #equip(index: number, thread: ShardThread): Promise<Equipment> {
    const journal = await this.#supervised.connectJournal();
    // It took a while, and another service may have begun at the same time.
    if (this.#shards.length > 1) await (this.#portIsFree ??= this.#checkPortFree());
    const peers: Peer[] = [];
    const present: Present = { thread, links: [] };
    for (const [other, { thread: otherThread }] of this.#present) {
      const [here, there] = peerLinks(this.#shards.length);
      peers.push({ index: other, ...here });
      present.links.push({ thread: otherThread, peer: { index, ...there } });
    }
    this.#present.set(index, present);
    // At first they all come, or none does; later nobody waits for a shard that may not come.
    if (!this.#hasStarted) tell(present);
    await this.#heldPort.release();
    return { journal, peers };
  }

  /** Whoever shares a port shares it with every program of the same user. */
  async #checkPortFree(): Promise<void> {
    if (!this.#supervised.settings.http) return;
    const { checkPortFree } = await import('./free-port.ts');
    await checkPortFree(this.#address);
  }
}

function tell(present: Present): void {
  for (const { thread, peer } of present.links) thread.connect(peer);
  present.links = [];
}
