// Random commands, queries, refusals, repeats with idempotency keys, faults and timers at three engines with one remote journal,
// between which the leases of the entities move, while appends are held, fail, and lose their outcomes. Each answer is compared with
// what the journal has stored: a command that was answered is stored once, one that has failed with 503 is not, and what a query or a
// refusal has seen was current at a moment between the call and its answer. A failing run names its seed: put it into SEEDS.
import { expect, test } from 'vitest';
import type { Outcome } from '../../../host/engine/entity/entity-call.ts';
import { COUNTER } from '../../support/counter-guest.ts';
import { failureOf, turns } from '../../support/engine-under-test.ts';
import { LeasedNodes, type LeasedNode } from '../../support/leased-nodes.ts';
import { Random } from '../../support/random.ts';
import { firingOf, timerFor } from '../../support/timers-under-test.ts';
import { lifeOf } from '../../support/watched-journal.ts';

const SEEDS = [1, 2, Math.floor(Math.random() * 2 ** 32)];
const STEPS = 2_000;
const IDS = ['a', 'b', 'c'];
const NODES = 3;
/** How many keys back one is repeated. */
const RECENT_KEYS = 10;
const LATEST_MS = 9e15;
/** Failures after which nothing was done. */
const NOTHING_DONE = new Set([
  'trap',
  'SVC_ENTITY_MOVED',
  'SVC_JOURNAL_UNAVAILABLE',
  'SVC_OVERLOADED',
]);

interface Keyed {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly number: number;
}

class Run {
  readonly random: Random;
  readonly cluster: LeasedNodes;
  readonly problems: string[] = [];
  readonly acknowledged = new Set<number>();
  readonly uncertain = new Set<number>();
  /** How often what came out. */
  readonly seen = new Map<string, number>();
  readonly #answers: Promise<void>[] = [];
  readonly #keyed: Keyed[] = [];
  /** By key, the first answer. */
  readonly #first = new Map<string, { readonly number: number; readonly outcome: unknown }>();
  #lastNumber = 0;

  constructor(seed: number, later: boolean) {
    this.random = new Random(seed);
    this.cluster = new LeasedNodes(IDS, NODES, this.random, () => ({
      later,
      perInstance: 2,
      fingerprint: 'one',
      limits: {
        liveEntitiesMax: 2,
        callsPerEntityMax: 20,
        purityCheckInterval: 2,
        purityRefoldInterval: 1,
        snapshotIntervalEvents: 3,
        idleTimeoutMs: 1_000,
      },
    }));
    this.cluster.endsWhenAsked = 40;
  }

  async whole(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.#step();
      if (this.random.chance(25)) await Promise.resolve();
      if (this.random.chance(20)) await turns();
    }
    this.cluster.endsWhenAsked = 0;
    for (const { journal } of this.cluster.nodes) this.#answers.push(journal.letAllThrough());
    await this.cluster.settled();
    await Promise.all(this.#answers);
    // Every timer that is left has its effect.
    for (const timer of this.#timers)
      await this.#fire(timer, this.cluster.ownerOf(timer.target.id));
    if (this.#timers.length > 0) this.problems.push('a timer was not fired');
  }

  async end(): Promise<void> {
    for (const { it } of this.cluster.nodes) {
      await it.engine.close();
      this.problems.push(...it.guest.violations);
      if (it.guest.openCount > 0) this.problems.push('an entity was left open');
      for (const { fault } of it.faults) {
        const code = failureOf(fault);
        if (code !== 'trap') this.problems.push(`logged ${String(fault)}`);
      }
    }
    this.problems.push(...this.cluster.problems, ...this.cluster.watched.wrong);
  }

  get #timers() {
    return this.cluster.memory.dueTimers(LATEST_MS, 1_000_000);
  }

  #step(): void {
    const id = this.random.pick(IDS);
    const node = this.random.pick(this.cluster.nodes);
    for (const { it } of this.cluster.nodes) it.nowMs += 10;
    const action = this.random.below(100);
    if (action < 24) this.#command(id, 'add');
    else if (action < 38) this.#keyedCommand(id);
    else if (action < 56) this.#query(id);
    else if (action < 64) this.#take(id);
    else if (action < 67) this.#command(id, 'remove');
    else if (action < 68) this.#answer(id, 'fault', null, (outcome) => this.#isFailure(outcome));
    else if (action < 71) this.#setTimer(id);
    else if (action < 75) this.#fireOne();
    else if (action < 79) this.cluster.move(id);
    else if (action < 80) void node.it.engine.passivate();
    else if (action < 84) node.journal.held = true;
    else if (action < 87) this.#answers.push(node.journal.letAllThrough());
    else if (action < 95) this.#answers.push(node.journal.letThrough());
    else if (action < 97) this.#answers.push(node.journal.fail());
    else this.#answers.push(node.journal.loseOutcome(this.random.chance(60), this.random.below(3)));
  }

  /** Mostly the one that has the entity. */
  #nodeFor(id: string): LeasedNode {
    return this.random.chance(90) ? this.cluster.ownerOf(id) : this.random.pick(this.cluster.nodes);
  }

  #command(id: string, name: 'add' | 'remove'): void {
    const number = ++this.#lastNumber;
    this.#answer(id, name, number, (outcome) => {
      if (typeof outcome !== 'number') return this.#isFailure(outcome, number);
      this.#count('reply');
      this.acknowledged.add(number);
      return outcome === this.#totalAt(id, number, name);
    });
  }

  /** A command that is refused or carried out, depending on the total. */
  #take(id: string): void {
    const total = Math.floor(sum(lifeOf(this.#stored(id))));
    // The fraction is its own. Sums of such numbers are exact.
    const number = total + this.random.below(9) - 4 + ++this.#lastNumber / 2 ** 20;
    const window = this.#window(id);
    this.#answer(id, 'take', number, (outcome) => {
      if (outcome === 'refused CONFLICT') {
        this.#count('refused');
        return window().some((state) => number > sum(state));
      }
      if (typeof outcome !== 'number') return this.#isFailure(outcome, -number);
      this.#count('taken');
      this.acknowledged.add(-number);
      return outcome === this.#totalAt(id, -number, 'take');
    });
  }

  /** A new command, one that was called before, or one with another's key. */
  #keyedCommand(id: string): void {
    const name = this.random.chance(70) ? 'add' : 'take';
    const before = this.#keyed.at(-1 - this.random.below(RECENT_KEYS));
    const number = ++this.#lastNumber + (name === 'take' ? 1e9 : 0);
    let keyed: Keyed = { id, key: `key-${number}`, name, number };
    if (before !== undefined && this.random.chance(60))
      keyed = this.random.chance(85) ? before : { ...keyed, id: before.id, key: before.key };
    if (keyed.key === `key-${number}`) this.#keyed.push(keyed);
    this.#answer(
      keyed.id,
      keyed.name,
      keyed.number,
      (outcome) => this.#isAnsweredOnce(keyed, outcome),
      keyed.key,
    );
  }

  #isAnsweredOnce({ id, key, name, number }: Keyed, outcome: unknown): boolean {
    const first = this.#first.get(key);
    if (outcome === 'refused UNPROCESSABLE') return first?.number !== number;
    if (typeof outcome !== 'number' && outcome !== 'refused CONFLICT')
      return this.#isFailure(outcome, number);
    if (first !== undefined) {
      this.#count('repeated');
      return first.number === number && first.outcome === outcome;
    }
    this.#first.set(key, { number, outcome });
    if (typeof outcome !== 'number') return name === 'take';
    this.acknowledged.add(number);
    return outcome === this.#totalAt(id, number, name);
  }

  #query(id: string): void {
    const window = this.#window(id);
    this.#answer(id, 'history', null, (outcome) => {
      if (!Array.isArray(outcome)) return this.#isFailure(outcome);
      this.#count('query');
      return window().some((state) => JSON.stringify(state) === JSON.stringify(outcome));
    });
  }

  #setTimer(id: string): void {
    const number = ++this.#lastNumber;
    const timer = timerFor(id, 'add', number, { name: `timer-${number}` });
    const set = async (): Promise<void> => {
      try {
        const owner = { component: COUNTER, id };
        await this.#nodeFor(id).it.engine.changeTimers(owner, [{ kind: 'set', timer }], []);
      } catch (error) {
        if (!this.#isFailure(`failed ${failureOf(error)}`))
          this.problems.push(`${id} timer: ${String(error)}`);
      }
    };
    this.#answers.push(set());
  }

  #fireOne(): void {
    const timers = this.#timers;
    if (timers.length === 0) return;
    const timer = this.random.pick(timers);
    this.#answers.push(this.#fire(timer, this.#nodeFor(timer.target.id)));
  }

  async #fire(timer: Parameters<typeof firingOf>[0], { it }: LeasedNode): Promise<void> {
    const number = JSON.parse(timer.input) as number;
    const outcome = await it.engine.fire(firingOf(timer));
    this.#count(`timer ${outcome.kind}`);
    if (outcome.kind === 'replied') {
      if (this.acknowledged.has(number)) this.problems.push(`timer ${number} has fired twice`);
      this.acknowledged.add(number);
    } else if (outcome.kind === 'unavailable')
      this.#isFailure(`failed ${outcome.failure.code}`, number);
    // A fault of another entity may take the instance along, which costs an attempt.
    else if (outcome.kind !== 'gone' && outcome.kind !== 'retried')
      this.problems.push(`timer ${number}: ${outcome.kind}`);
  }

  #answer(
    id: string,
    name: string,
    input: unknown,
    isRight: (outcome: unknown) => boolean,
    key?: string,
  ): void {
    const report = (outcome: unknown): void => {
      if (!isRight(outcome))
        this.problems.push(`${id} ${name} ${String(input)}: ${JSON.stringify(outcome)}`);
    };
    const { engine } = this.#nodeFor(id).it;
    const ref = { component: COUNTER, id };
    const text = JSON.stringify(input);
    try {
      const given = engine.speculate(ref, name, text, [], key);
      if ('kind' in given) {
        // It is judged at this moment, before anything else happens.
        this.#count('at once');
        report(valueOf(given));
        return;
      }
      const later = given.answer.then(valueOf, (error: unknown) => `failed ${failureOf(error)}`);
      this.#answers.push(later.then(report));
    } catch (error) {
      report(`failed ${failureOf(error)}`);
    }
  }

  #stored(id: string) {
    return this.cluster.watched.stored.get(id)!;
  }

  /** Returns a function with the states that were current at any moment since. */
  #window(id: string): () => number[][] {
    const stored = this.#stored(id);
    const least = stored.length;
    return () =>
      Array.from({ length: stored.length - least + 1 }, (_, index) =>
        lifeOf(stored.slice(0, least + index)),
      );
  }

  /** The reply to a command, from what is stored. */
  #totalAt(id: string, number: number, name: string): number | undefined {
    const stored = this.#stored(id);
    const at = stored.findIndex((record) => lifeOf([record])[0] === number);
    // `remove` replies with the total before its event.
    return at < 0 ? undefined : sum(lifeOf(stored.slice(0, name === 'remove' ? at : at + 1)));
  }

  /** `number`: that of a command that may have been carried out. */
  #isFailure(outcome: unknown, number?: number): boolean {
    const code = String(outcome).replace('failed ', '');
    this.#count(code);
    if (code === 'SVC_CALL_UNCERTAIN' && number !== undefined) this.uncertain.add(number);
    return code === 'SVC_CALL_UNCERTAIN' || NOTHING_DONE.has(code);
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

function valueOf(outcome: Outcome): unknown {
  return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

const RUNS = SEEDS.flatMap((seed) => [false, true].map((later) => ({ seed, later })));

test.each(RUNS)(
  'whoever has the lease, what is answered is what is stored: seed $seed, answers later: $later',
  async ({ seed, later }) => {
    const run = new Run(seed, later);
    const { cluster } = run;
    await run.whole();
    for (const [id, stored] of cluster.watched.stored) {
      expect(await cluster.ownerOf(id).it.outcome(id, 'history')).toEqual(lifeOf(stored));
      expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
    }
    await run.end();
    expect(run.problems).toEqual([]);
    const stored = [...cluster.watched.stored.values()]
      .flat()
      .flatMap((record) => lifeOf([record]));
    const known = new Set(stored);
    expect(stored).toHaveLength(known.size);
    for (const number of stored)
      if (!run.acknowledged.has(number) && run.uncertain.has(number)) known.delete(number);
    expect(known).toEqual(run.acknowledged);
    // Else the run has shown nothing.
    for (const count of Object.values(cluster.moves)) expect(count).toBeGreaterThan(0);
    expect(cluster.watched.keptCount).toBeGreaterThan(20);
    expect(cluster.watched.begunCount).toBeGreaterThan(20);
    expect([...run.seen.keys()]).toEqual(
      expect.arrayContaining([
        'SVC_CALL_UNCERTAIN',
        'SVC_ENTITY_MOVED',
        'query',
        'refused',
        'repeated',
        'reply',
        'taken',
        'timer replied',
        'timer unavailable',
        ...(later ? [] : ['at once']),
      ]),
    );
  },
);
