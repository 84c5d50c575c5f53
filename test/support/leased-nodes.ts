// LeasedNodes are engines with one journal, each with connections and leases of its own. The journal stores an append only under
// the lease under which it was queued, as `needs/journal.ts` demands of one with several nodes. Leases move between the nodes: after a
// drain, or because the node has lost them, which its engine learns now, later, or never.
import type { Positions } from '../../host/engine/needs/feed.ts';
import type {
  IncarnationStart,
  Journal,
  Snapshot,
  StoredBeside,
  StoredReply,
} from '../../host/engine/needs/journal.ts';
import type { Leases } from '../../host/engine/needs/leases.ts';
import type { StoredTimer } from '../../host/engine/needs/timers.ts';
import { SvcError } from '../../kit/svc-error.ts';
import type { Awaitable } from '../../model/call.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import { EngineUnderTest } from './engine-under-test.ts';
import type { Random } from './random.ts';
import { RemoteJournal, after } from './remote-journal.ts';
import { WatchedJournal } from './watched-journal.ts';

type Settled = (failure?: SvcError) => void;
type Options = Omit<
  NonNullable<ConstructorParameters<typeof EngineUnderTest>[0]>,
  'journal' | 'leases'
>;

/** One engine, and the leases that its node believes to hold. It holds them, but not for longer than the journal knows. */
export class LeasedNode implements Leases {
  readonly epochs = new Map<string, number>();
  readonly journal: RemoteJournal;
  readonly it: EngineUnderTest;
  readonly #nodes: LeasedNodes;

  constructor(nodes: LeasedNodes, random: Random, options: Options) {
    this.#nodes = nodes;
    this.journal = new NodeJournal(new FencedJournal(this, nodes), random, this);
    this.it = new EngineUnderTest({ ...options, journal: this.journal, leases: this });
  }

  epochOf({ id }: EntityRef): number | undefined {
    this.#nodes.asked(this, id);
    return this.epochs.get(id);
  }
}

/** Remembers the epoch under which an append is queued. */
class NodeJournal extends RemoteJournal {
  readonly #node: LeasedNode;

  constructor(inner: FencedJournal, random: Random, node: LeasedNode) {
    super(inner, random);
    this.#node = node;
  }

  override append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: Settled,
    beside?: StoredBeside,
  ): void {
    EPOCHS.set(records, this.#node.epochs.get(entity.id));
    super.append(entity, records, settled, beside);
  }
}

/** Indexed by the list of records, which belongs to one append. */
const EPOCHS = new WeakMap<readonly JournalRecord[], number | undefined>();

/** The journal of all nodes, as one of them reaches it. */
class FencedJournal implements Journal {
  readonly #node: LeasedNode;
  readonly #nodes: LeasedNodes;

  constructor(node: LeasedNode, nodes: LeasedNodes) {
    this.#node = node;
    this.#nodes = nodes;
  }

  get positions(): Positions {
    return this.#nodes.watched.positions;
  }

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: Settled,
    beside?: StoredBeside,
  ): void {
    // A detached append is stored under any lease of the node: it changes timers, and nothing of the entity.
    const failure =
      beside?.isDetached === true
        ? undefined
        : this.#nodes.fenced(this.#node, entity.id, EPOCHS.get(records));
    if (failure === undefined) this.#nodes.store(entity, records, settled, beside);
    else queueMicrotask(() => settled(failure));
  }

  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    return this.#nodes.watched.read(entity, afterSeq, limit);
  }

  lastDeletion(entity: EntityRef): Promise<number> {
    return this.#nodes.watched.lastDeletion(entity);
  }

  incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Awaitable<IncarnationStart> {
    return this.#nodes.watched.incarnation(entity, limit, fingerprint);
  }

  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    this.#nodes.watched.keepSnapshot(entity, snapshot);
  }

  answer(entity: EntityRef, key: string): Awaitable<StoredReply | undefined> {
    return this.#nodes.watched.answer(entity, key);
  }

  timer(number: number): Awaitable<StoredTimer | undefined> {
    return this.#nodes.watched.timer(number);
  }

  async close(): Promise<void> {}
}

export class LeasedNodes {
  readonly memory = new MemoryJournal();
  readonly watched: WatchedJournal;
  readonly nodes: readonly LeasedNode[];
  readonly problems: string[] = [];
  /** How often a lease has moved, and how. */
  readonly moves = { drained: 0, cancelled: 0, lost: 0, fenced: 0 };
  /** A lease ends in so many of 10,000 cases when an engine asks for it. */
  endsWhenAsked = 0;
  readonly #random: Random;
  /** By entity: who has the lease by the journal, and since which epoch. */
  readonly #leases = new Map<string, { node: LeasedNode; epoch: number }>();
  /** Entities whose lease moves at present. */
  readonly #moving = new Map<string, Promise<void>>();
  /** The number of appends that the journal stores at this moment, by entity. */
  readonly #storing = new Map<string, number>();
  /** Epochs that have ended by a drain that was not cancelled. */
  readonly #drainedEpochs = new Set<number>();
  #lastEpoch = 0;

  constructor(ids: readonly string[], count: number, random: Random, options: () => Options) {
    this.#random = random;
    this.watched = new WatchedJournal(ids, this.memory);
    this.nodes = Array.from({ length: count }, () => new LeasedNode(this, random, options()));
    for (const id of ids) this.#give(id);
  }

  /** The node that has the lease of an entity by the journal. */
  ownerOf(id: string): LeasedNode {
    return this.#leases.get(id)!.node;
  }

  /** Lets the lease end as its time runs out: in the middle of something. */
  asked(node: LeasedNode, id: string): void {
    const isHeld = node.epochs.has(id) && !this.#moving.has(id);
    if (isHeld && this.#random.below(10_000) < this.endsWhenAsked) this.#lose(id);
  }

  /** Moves a lease in one of the ways, unless it moves at present. */
  move(id: string): void {
    if (this.#moving.has(id)) return;
    if (this.#random.chance(50)) this.#lose(id);
    else this.#begin(id, this.#drain(id));
  }

  /** Waits until no lease moves. */
  async settled(): Promise<void> {
    while (this.#moving.size > 0) await Promise.all(this.#moving.values());
  }

  /** Returns the failure of an append that is not under the lease of its node any more. */
  fenced(node: LeasedNode, id: string, queuedIn: number | undefined): SvcError | undefined {
    const { node: owner, epoch } = this.#leases.get(id)!;
    if (owner === node && epoch === queuedIn) return undefined;
    this.moves.fenced++;
    if (queuedIn === undefined) this.problems.push(`${id}: an append without a lease`);
    else if (this.#drainedEpochs.has(queuedIn))
      this.problems.push(`${id}: an append was under way after a drain`);
    return new SvcError('SVC_ENTITY_MOVED', 'The journal has another epoch. Try again.');
  }

  store(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: Settled,
    beside?: StoredBeside,
  ): void {
    this.#storing.set(entity.id, (this.#storing.get(entity.id) ?? 0) + 1);
    const stored = (failure?: SvcError): void => {
      this.#storing.set(entity.id, this.#storing.get(entity.id)! - 1);
      if (failure?.message.includes('does not follow') === true)
        this.problems.push(`${entity.id}: ${failure.message}`);
      settled(failure);
    };
    this.watched.append(entity, records, stored, beside);
  }

  /** The node has no lease any more. Its engine learns it now, later, or never. */
  #lose(id: string): void {
    const { node } = this.#leases.get(id)!;
    node.epochs.delete(id);
    this.moves.lost++;
    this.#begin(id, this.#takeOver(id, node));
  }

  async #takeOver(id: string, node: LeasedNode): Promise<void> {
    const drop = (): void => {
      const drain = node.it.engine.drain((entity) => entity.id === id);
      drain.cancel();
      drain.end();
    };
    const turnCounts = [this.#random.below(6), this.#random.below(6)] as const;
    const isDropped = this.#random.chance(70);
    await after(turnCounts[0]);
    if (isDropped) drop();
    await after(turnCounts[1]);
    await this.#settledStoring(id);
    this.#give(id);
  }

  async #drain(id: string): Promise<void> {
    const { node, epoch } = this.#leases.get(id)!;
    const drain = node.it.engine.drain((entity) => entity.id === id);
    let isDone = false;
    const done = drain.done.then(() => {
      isDone = true;
    });
    if (this.#random.chance(50)) {
      await after(this.#random.below(8));
      if (!isDone) this.moves.cancelled++;
      drain.cancel();
    } else {
      await done;
      this.moves.drained++;
      this.#drainedEpochs.add(epoch);
    }
    const endsLate = this.#random.chance(50);
    // A hand-over may be called off: then the node keeps the lease, in the same epoch.
    if (this.#random.chance(80)) {
      node.epochs.delete(id);
      await this.#settledStoring(id);
      if (!endsLate) drain.end();
      this.#give(id);
    } else this.#drainedEpochs.delete(epoch);
    await after(this.#random.below(4));
    drain.end();
  }

  /** Gives the lease in a new epoch to a node, in the journal first. */
  #give(id: string): void {
    const node = this.#random.pick(this.nodes);
    const epoch = ++this.#lastEpoch;
    this.#leases.set(id, { node, epoch });
    node.epochs.set(id, epoch);
  }

  /** Waits for what is being stored, as a transaction waits for the lock of a row. */
  async #settledStoring(id: string): Promise<void> {
    while ((this.#storing.get(id) ?? 0) > 0) await Promise.resolve();
  }

  #begin(id: string, moved: Promise<void>): void {
    this.#moving.set(
      id,
      moved.finally(() => this.#moving.delete(id)),
    );
  }
}
