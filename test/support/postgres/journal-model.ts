// JournalModel uses a journal in PostgreSQL at random, from nodes that take its slices from each other, while connections are lost. It
// knows what each append was answered, and finds what contradicts the answers. A failing run is repeated by its seed.
//
// Invariant: every append has a text of its own, so that it is recognized wherever it is stored.
import { setTimeout as delay } from 'node:timers/promises';
import type { Journal } from '../../../host/engine/needs/journal.ts';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';
import { recordOf } from '../../suites/journal-suite.ts';
import { Random } from '../random.ts';
import type { TcpFaultProxy } from '../tcp-fault-proxy.ts';
import type { JournalDatabase } from './journal-database.ts';

const ENTITIES = 5;
const STEPS = 14;
const UNCERTAIN_MS = 150;

type Outcome = 'unsettled' | 'stored' | 'not stored' | 'unknown';

interface Attempt {
  readonly records: readonly JournalRecord[];
  outcome: Outcome;
}

/** An entity as the node that owns it sees it. */
interface Tracked {
  readonly entity: EntityRef;
  readonly attempts: Attempt[];
  /** Number of the next record; undefined: it has to be read. */
  nextSeq: number | undefined;
}

export interface ModelCounts {
  stored: number;
  notStored: number;
  unknown: number;
  takeovers: number;
}

export class JournalModel {
  readonly counts: ModelCounts = { stored: 0, notStored: 0, unknown: 0, takeovers: 0 };
  readonly #journals: JournalDatabase;
  readonly #proxy: TcpFaultProxy;
  readonly #random: Random;
  readonly #tracked: readonly Tracked[];
  readonly #opened: Journal[] = [];
  readonly #settling = new Set<Promise<void>>();
  /** What contradicts the answers. */
  readonly problems: string[] = [];
  #node = 'node';
  #journal: Journal;
  #texts = 0;
  #isHolding = false;

  /** `journals` is empty, and its node owns the slices. */
  constructor(journals: JournalDatabase, proxy: TcpFaultProxy, seed: number) {
    this.#journals = journals;
    this.#proxy = proxy;
    this.#random = new Random(seed);
    this.#tracked = Array.from({ length: ENTITIES }, (_, n) => ({
      entity: { component: 'Cart', id: `e${n}` },
      attempts: [],
      nextSeq: 1,
    }));
    this.#journal = this.#attach();
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.#burst(this.#journal);
      await this.#fault();
      if (this.#random.chance(40)) await this.#settledAndRead();
    }
    await this.#settledAndRead();
    for (const tracked of this.#tracked) this.#check(tracked, await this.#stored(tracked), true);
    await Promise.all(this.#opened.map((journal) => journal.close()));
  }

  #attach(): Journal {
    const { module, alarm, lease, room, heads } = this.#journals;
    const journal = this.#journals.attach({
      source: this.#journals.through(this.#proxy),
      node: this.#node,
      uncertainMs: UNCERTAIN_MS,
      module: module.shared,
      alarm: alarm.shared,
      lease: lease.shared,
      room: room.shared,
      heads: heads.shared,
    });
    this.#opened.push(journal);
    return journal;
  }

  /** Queues some appends of some entities. */
  #burst(journal: Journal): void {
    for (const tracked of this.#tracked)
      while (tracked.nextSeq !== undefined && this.#random.chance(45)) {
        const first = tracked.nextSeq;
        const length = 1 + this.#random.below(2);
        tracked.nextSeq += length;
        this.#append(journal, tracked, first, length);
      }
  }

  #append(journal: Journal, tracked: Tracked, first: number, length: number): void {
    const records = Array.from({ length }, (_, n) =>
      recordOf(first + n, `{"text":${++this.#texts}}`),
    );
    const attempt: Attempt = { records, outcome: 'unsettled' };
    tracked.attempts.push(attempt);
    const settling = new Promise<void>((resolve) => {
      journal.append(tracked.entity, records, (failure) => {
        if (attempt.outcome !== 'unsettled') this.problems.push('an append has settled twice');
        attempt.outcome = outcomeOf(failure?.code);
        if (failure === undefined) this.counts.stored++;
        else if (attempt.outcome === 'unknown') this.counts.unknown++;
        else this.counts.notStored++;
        if (failure !== undefined && journal === this.#journal) tracked.nextSeq = undefined;
        resolve();
      });
    });
    this.#settling.add(settling);
    void settling.then(() => this.#settling.delete(settling));
  }

  async #fault(): Promise<void> {
    const kind = this.#random.below(10);
    if (kind < 2) this.#proxy.reset();
    else if (kind < 3) {
      this.#proxy.holdAnswers();
      this.#isHolding = true;
    } else if (kind < 5) {
      const [row] = await this.#journals.database.sql(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = 'svc_test' ORDER BY random() LIMIT 1`,
      );
      if (row !== undefined)
        await this.#journals.database.sql('SELECT pg_terminate_backend($1)', [row['pid']]);
    } else if (kind < 7) await this.#takeOver();
    else if (kind < 8) await delay(this.#random.below(20));
  }

  /** Lets another node take all slices, while the former one goes on writing for a moment. */
  async #takeOver(): Promise<void> {
    const former = this.#journal;
    await this.#journals.expire(this.#node);
    this.#burst(former);
    this.#node = `${this.#node.split(' ')[0]!} ${++this.counts.takeovers}`;
    const joining = this.#journals.join(this.#node);
    this.#burst(former);
    await joining;
    this.#burst(former);
    this.#journal = this.#attach();
    for (const tracked of this.#tracked) tracked.nextSeq = undefined;
    await this.#read();
  }

  async #settledAndRead(): Promise<void> {
    this.#letThrough();
    await Promise.all(this.#settling);
    await this.#read();
  }

  #letThrough(): void {
    if (this.#isHolding) this.#proxy.reset();
    this.#isHolding = false;
    this.#proxy.letAnswersThrough();
  }

  /** Reads the entities whose next record is not known, as a node does that rebuilds them. */
  async #read(): Promise<void> {
    this.#letThrough();
    for (const tracked of this.#tracked) {
      if (tracked.nextSeq !== undefined) continue;
      const known = new Map(tracked.attempts.map((attempt) => [attempt, attempt.outcome]));
      const records = await this.#stored(tracked);
      this.#check(tracked, records, false, known);
      tracked.nextSeq = records.length + 1;
    }
  }

  async #stored({ entity }: Tracked): Promise<readonly JournalRecord[]> {
    for (;;)
      try {
        return await this.#journal.read(entity, 0, 10_000);
      } catch {
        // The connection is lost.
        await delay(10);
      }
  }

  /** Compares records with the answers that were known before they were read. */
  #check(
    { entity, attempts }: Tracked,
    records: readonly JournalRecord[],
    isLast: boolean,
    known: ReadonlyMap<Attempt, Outcome> = new Map(attempts.map((a) => [a, a.outcome])),
  ): void {
    const problem = (what: string) => this.problems.push(`${entity.id}: ${what}`);
    if (records.some(({ seq }, index) => seq !== index + 1)) problem('numbers with a hole');
    const places = new Map(records.map((record, index) => [textOf(record), index]));
    if (places.size < records.length) problem('something is stored twice');
    let last = -1;
    for (const [attempt, outcome] of known) {
      const found = attempt.records.flatMap((record) => places.get(textOf(record)) ?? []);
      if (found.length > 0 && found.length < attempt.records.length) problem('a part is stored');
      const isStored = found.length > 0;
      if (isStored && found[0]! <= last) problem('the order is another one');
      last = found.at(-1) ?? last;
      if (outcome === 'stored' && !isStored) problem('what was answered is missing');
      if (outcome === 'not stored' && isStored) problem('what has failed is stored');
      if (isLast && outcome === 'unsettled') problem('an append has not settled');
      // From now on it is known.
      if (outcome === 'unknown') attempt.outcome = isStored ? 'stored' : 'not stored';
    }
  }
}

function outcomeOf(code: string | undefined): Outcome {
  if (code === undefined) return 'stored';
  return code === 'SVC_CALL_UNCERTAIN' ? 'unknown' : 'not stored';
}

function textOf(record: JournalRecord): string {
  return record.kind === 'event' ? record.event.json : '';
}
