// MovingModel lets several nodes write one journal at random, while slices move between them and connections are lost. It knows what
// each append was answered, and finds what contradicts the answers. A failing run is repeated by its seed.
//
// Invariants
// - Every append has a text of its own, so that it is recognized wherever it is stored.
// - As an engine does, a node decides for an entity only after it has read it under the present acquisition of its slice.
import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';
import { sliceOf } from '../../../model/slice.ts';
import { recordOf } from '../../suites/journal-suite.ts';
import { Random } from '../random.ts';
import type { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import type { JournalDatabase } from './journal-database.ts';
import { JournalNode, move } from './journal-node.ts';

const IDS = ['e0', 'e1', 'e2', 'e3'];
const STEPS = 16;
const UNCERTAIN_MS = 200;
/** Time for a connection in the place of one that was lost. */
const PATIENCE = { timeout: 10_000, interval: 20 };

type Outcome = 'unsettled' | 'stored' | 'not stored' | 'unknown';

interface Attempt {
  readonly node: ModelNode;
  readonly records: readonly JournalRecord[];
  readonly queuedAt: number;
  settledAt: number;
  outcome: Outcome;
  /** Whether the next owner has read the entity without it. */
  isShutOut: boolean;
}

/** An entity as a node sees it. */
interface Seen {
  readonly acquisition: number;
  nextSeq: number;
}

interface ModelNode {
  readonly it: JournalNode;
  readonly proxy: TcpFaultProxy;
  readonly seen: Map<string, Seen>;
  readonly reading: Set<string>;
  /** The slices that the node has lost without its table. */
  readonly stale: Set<number>;
  isHolding: boolean;
}

export interface MovingCounts {
  stored: number;
  notStored: number;
  unknown: number;
  moved: number;
  moves: number;
  reads: number;
}

export class MovingModel {
  readonly counts: MovingCounts = {
    stored: 0,
    notStored: 0,
    unknown: 0,
    moved: 0,
    moves: 0,
    reads: 0,
  };
  /** What contradicts the answers. */
  readonly problems: string[] = [];
  readonly #journals: JournalDatabase;
  readonly #random: Random;
  readonly #nodes: readonly ModelNode[];
  readonly #attempts = new Map<string, Attempt[]>(IDS.map((id) => [id, []]));
  readonly #owners = new Map<number, ModelNode>();
  readonly #underWay = new Set<Promise<void>>();
  #clock = 0;
  #numbers = 100;
  #isOver = false;

  /** `journals` is empty. */
  constructor(journals: JournalDatabase, proxies: readonly TcpFaultProxy[], seed: number) {
    this.#journals = journals;
    this.#random = new Random(seed);
    this.#nodes = proxies.map((proxy) => ({
      it: new JournalNode(journals, ++this.#numbers, {
        source: journals.through(proxy),
        uncertainMs: UNCERTAIN_MS,
      }),
      proxy,
      seen: new Map(),
      reading: new Set(),
      stale: new Set(),
      isHolding: false,
    }));
  }

  async run(): Promise<void> {
    for (const id of IDS) await this.#move([sliceOf('Cart', id)], this.#anyNode());
    for (let step = 0; step < STEPS; step++) {
      for (const node of this.#nodes) this.#burst(node);
      await this.#fault();
      if (this.#random.chance(30)) await this.#settled();
    }
    this.#isOver = true;
    await this.#settled();
    const { journal } = this.#nodes[0]!.it;
    for (const id of IDS) {
      // The first statement after a fault may find that its connection is lost.
      const records = await vi.waitFor(() => journal.read(entity(id), 0, 10_000), PATIENCE);
      this.#checkAll(id, records);
    }
    await Promise.all(this.#nodes.map(({ it }) => it.journal.close()));
  }

  #anyNode(): ModelNode {
    return this.#nodes[this.#random.below(this.#nodes.length)]!;
  }

  #track(work: Promise<void>): void {
    this.#underWay.add(work);
    void work.then(() => this.#underWay.delete(work));
  }

  /** Queues some appends of the entities that the node has read, and reads others. */
  #burst(node: ModelNode): void {
    for (const id of IDS) {
      const acquisition = node.it.table.acquisitionOf(sliceOf('Cart', id));
      const seen = node.seen.get(id);
      if (acquisition === undefined) {
        // A call that was sent to the wrong node.
        if (this.#random.chance(10)) this.#append(node, id, seen?.nextSeq ?? 1, 1);
      } else if (seen?.acquisition === acquisition)
        while (this.#random.chance(45)) {
          const length = 1 + this.#random.below(2);
          this.#append(node, id, seen.nextSeq, length);
          seen.nextSeq += length;
        }
      else if (!node.reading.has(id)) this.#track(this.#read(node, id, acquisition));
    }
  }

  #append(node: ModelNode, id: string, first: number, length: number): void {
    const attempts = this.#attempts.get(id)!;
    const queuedAt = ++this.#clock;
    const records = Array.from({ length }, (_, n) =>
      recordOf(first + n, `{"text":"${queuedAt} ${n}"}`),
    );
    const attempt: Attempt = {
      node,
      records,
      queuedAt,
      settledAt: Infinity,
      outcome: 'unsettled',
      isShutOut: false,
    };
    attempts.push(attempt);
    const settling = Promise.withResolvers<void>();
    this.#track(settling.promise);
    node.it.journal.append(entity(id), records, (failure) => {
      if (attempt.outcome !== 'unsettled') this.problems.push('an append has settled twice');
      attempt.outcome = this.#outcomeOf(failure?.code);
      attempt.settledAt = ++this.#clock;
      if (failure !== undefined) node.seen.delete(id);
      settling.resolve();
    });
  }

  #outcomeOf(code: string | undefined): Outcome {
    switch (code) {
      case undefined:
        this.counts.stored++;
        return 'stored';
      case 'SVC_CALL_UNCERTAIN':
        this.counts.unknown++;
        return 'unknown';
      case 'SVC_ENTITY_MOVED':
        this.counts.moved++;
        return 'not stored';
      case 'SVC_JOURNAL_UNAVAILABLE':
        this.counts.notStored++;
        return 'not stored';
      default:
        this.problems.push(`an append has failed with ${code}`);
        return 'not stored';
    }
  }

  /** Reads an entity as a node does that rebuilds it: none of its own appends is under way. */
  async #read(node: ModelNode, id: string, acquisition: number): Promise<void> {
    const attempts = this.#attempts.get(id)!;
    const isUnderWay = (attempt: Attempt): boolean =>
      attempt.node === node && attempt.outcome === 'unsettled';
    if (attempts.some(isUnderWay)) return;
    const slice = sliceOf('Cart', id);
    node.reading.add(id);
    const known = new Map(attempts.map((attempt) => [attempt, attempt.outcome]));
    const records = await node.it.journal.read(entity(id), 0, 10_000).catch(() => undefined);
    node.reading.delete(id);
    const isCurrent =
      node.it.table.acquisitionOf(slice) === acquisition && !node.stale.has(slice) && !this.#isOver;
    if (records === undefined || !isCurrent || attempts.some(isUnderWay)) return;
    this.counts.reads++;
    const texts = new Set(records.map(textOf));
    for (const [attempt, outcome] of known) {
      const isStored = texts.has(textOf(attempt.records[0]!));
      this.#checkOutcome(id, outcome, isStored);
      if (outcome !== 'stored' && !isStored) attempt.isShutOut = true;
    }
    node.seen.set(id, { acquisition, nextSeq: records.length + 1 });
  }

  async #fault(): Promise<void> {
    const node = this.#anyNode();
    const kind = this.#random.below(12);
    if (kind < 2) node.proxy.reset();
    else if (kind < 3) {
      node.proxy.holdAnswers();
      node.isHolding = true;
    } else if (kind < 4)
      await this.#journals.database.sql(
        `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND usename = 'svc_test' ORDER BY random() LIMIT 1) p`,
      );
    else if (kind < 8) await this.#moveSome(node);
    else if (kind < 9) await this.#rejoin(node);
    else if (kind < 10) this.#learn(node);
    else await delay(this.#random.below(20));
  }

  /** Moves some slices to a node, which their owners release before, or learn only later. */
  async #moveSome(to: ModelNode): Promise<void> {
    const slices = IDS.map((id) => sliceOf('Cart', id)).filter(() => this.#random.chance(40));
    const from = new Set(slices.map((slice) => this.#owners.get(slice)!));
    const number = ++this.#numbers;
    const isReleased = this.#random.chance(50);
    if (isReleased) for (const { it } of from) it.request({ kind: 'release', number, slices });
    await this.#move(slices, to);
    for (const node of from) {
      if (isReleased || this.#random.chance(30)) this.#learn(node);
      if (isReleased) node.it.request({ kind: 'release-ended', number });
    }
  }

  async #move(slices: readonly number[], to: ModelNode): Promise<void> {
    for (const slice of slices) this.#owners.get(slice)?.stale.add(slice);
    for (const node of this.#nodes) this.#burst(node);
    await move(this.#journals, slices, to.it, []);
    this.counts.moves++;
    for (const slice of slices) this.#owners.set(slice, to);
    this.#learn(to);
  }

  /** Lets a node join again under another number: its lease has ended, and others take its slices. */
  async #rejoin(node: ModelNode): Promise<void> {
    const slices = [...this.#owners].filter(([, owner]) => owner === node).map(([slice]) => slice);
    const isLate = this.#random.chance(50);
    if (!isLate) node.it.table.join(++this.#numbers);
    const others = this.#nodes.filter((other) => other !== node);
    await this.#move(slices, others[this.#random.below(others.length)]!);
    if (isLate) node.it.table.join(++this.#numbers);
    this.#learn(node);
  }

  /** Lets the table of a node have the owners that the database has. */
  #learn({ it, stale }: ModelNode): void {
    it.table.assign([...this.#owners].map(([slice, owner]) => [slice, owner.it.number]));
    stale.clear();
  }

  async #settled(): Promise<void> {
    for (const node of this.#nodes) {
      if (node.isHolding) node.proxy.reset();
      node.isHolding = false;
      node.proxy.letAnswersThrough();
    }
    await Promise.all(this.#underWay);
  }

  #checkOutcome(id: string, outcome: Outcome, isStored: boolean): void {
    if (outcome === 'stored' && !isStored)
      this.problems.push(`${id}: what was answered is missing`);
    if (outcome === 'not stored' && isStored)
      this.problems.push(`${id}: what has failed is stored`);
  }

  /** Compares the records of an entity with all answers. */
  #checkAll(id: string, records: readonly JournalRecord[]): void {
    const problem = (what: string) => this.problems.push(`${id}: ${what}`);
    if (records.some(({ seq }, index) => seq !== index + 1)) problem('numbers with a hole');
    const indices = new Map(records.map((record, index) => [textOf(record), index]));
    if (indices.size < records.length) problem('something is stored twice');
    const stored: (readonly [attempt: Attempt, index: number])[] = [];
    for (const attempt of this.#attempts.get(id)!) {
      const found = attempt.records.flatMap((record) => indices.get(textOf(record)) ?? []);
      const isStored = found.length > 0;
      if (isStored && found.length < attempt.records.length) problem('a part is stored');
      if (attempt.outcome === 'unsettled') problem('an append has not settled');
      if (attempt.isShutOut && isStored) problem('an append came after the next owner had read');
      this.#checkOutcome(id, attempt.outcome, isStored);
      if (isStored) stored.push([attempt, found[0]!]);
    }
    for (const [earlier, before] of stored)
      for (const [later, after] of stored) {
        const isBefore =
          earlier.settledAt < later.queuedAt ||
          (earlier.node === later.node && earlier.queuedAt < later.queuedAt);
        if (isBefore && before > after) problem('the order is another one');
      }
  }
}

function entity(id: string): EntityRef {
  return { component: 'Cart', id };
}

function textOf(record: JournalRecord): string {
  return record.kind === 'event' ? record.event.json : '';
}
