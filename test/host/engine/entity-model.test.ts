// Random commands, queries, deletions, repeats with idempotency keys, faults, held and failing writes and reads, and
// engines that follow one another, over a few entities of which not all fit into memory, compared with what the
// journal has stored, and their speculative results with what is answered. On a remote journal, writes of different entities
// settle in any order, and the outcomes of some are lost. A failing run names its seed: put it into SEEDS to see it again.
import { expect, test } from 'vitest';
import type { Outcome } from '../../../host/engine/entity/entity-call.ts';
import { COUNTER } from '../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../support/engine-under-test.ts';
import { diskFailure } from '../../support/held-journal.ts';
import { Random } from '../../support/random.ts';
import { RemoteJournal } from '../../support/remote-journal.ts';
import { FailingJournal, WatchedJournal, lifeOf } from '../../support/watched-journal.ts';

const SEEDS = [1, 2, 3, 4, Math.floor(Math.random() * 2 ** 32)];
const STEPS = 4_000;
const IDS = ['a', 'b', 'c', 'd', 'e'];
/** How many keys back one is repeated. */
const RECENT_KEYS = 12;

function valueOf(outcome: Outcome): unknown {
  return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A command with an idempotency key, as it was asked first. */
interface Keyed {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly number: number;
}

class Run {
  readonly watched = new WatchedJournal(IDS);
  readonly #journal: FailingJournal;
  /** Undefined on a journal in this process. */
  readonly remote: RemoteJournal | undefined;
  readonly random: Random;
  readonly #later: boolean;
  it: EngineUnderTest;
  readonly #keyed: Keyed[] = [];
  /** By key, what it was answered, and of which number. */
  readonly #told = new Map<string, { readonly number: number; readonly outcome: unknown }>();
  readonly #answers: Promise<void>[] = [];
  readonly acknowledged = new Set<number>();
  /** Numbers of commands that have failed without anybody knowing whether they were carried out. */
  readonly uncertain = new Set<number>();
  readonly problems: string[] = [];
  /** Queries that were answered at once: of which entity, before which command, seeing how many records. */
  readonly #atOnce: { id: string; before: number; records: number }[] = [];
  /** How often what came out. */
  readonly seen = new Map<string, number>();
  #lastNumber = 0;

  constructor(seed: number, later: boolean, isRemote: boolean) {
    this.random = new Random(seed);
    this.remote = isRemote ? new RemoteJournal(this.watched, this.random) : undefined;
    this.#journal = this.remote ?? new FailingJournal(this.watched);
    this.#later = later;
    this.it = this.#started(3, 'one');
  }

  #started(snapshotIntervalEvents: number, fingerprint: string | undefined): EngineUnderTest {
    return new EngineUnderTest({
      later: this.#later,
      perInstance: 2,
      fingerprint,
      journal: this.#journal,
      // The checks of purity look at all that there is: they find nothing, and change nothing.
      limits: {
        liveEntitiesMax: 1 + this.random.below(4),
        callsPerEntityMax: 20,
        purityCheckInterval: 2,
        purityRefoldInterval: 1,
        snapshotIntervalEvents,
        idleTimeoutMs: 1_000,
      },
    });
  }

  /** Answers all that is under way, and goes on with another engine, of this module or another one. */
  async #restart(): Promise<void> {
    await this.end();
    const { nowMs, wallSetMs } = this.it;
    this.it = this.#started(this.random.pick([3, 3, 0]), this.random.pick(['one', 'one', 'two']));
    Object.assign(this.it, { nowMs, wallSetMs });
    this.#count('restart');
  }

  async end(): Promise<void> {
    this.#journal.readFailure = undefined;
    await this.#journal.letAllThrough();
    await this.it.engine.close();
    this.problems.push(...this.it.guest.violations);
    if (this.it.guest.openCount > 0) this.problems.push('an entity was left open');
  }

  async whole(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.#step();
      if (this.random.chance(25)) await Promise.resolve();
      if (this.random.chance(15)) await turns();
      if (this.random.below(400) === 0) await this.#restart();
    }
    this.#journal.readFailure = undefined;
    await this.#journal.letAllThrough();
    await Promise.all(this.#answers);
  }

  #step(): void {
    const id = this.random.pick(IDS);
    if (this.random.chance(3)) this.watched.forgetSnapshots();
    if (this.random.chance(3)) void this.it.engine.passivate();
    this.it.nowMs += this.random.below(100);
    if (this.random.chance(1)) this.it.wallSetMs += this.random.below(20_000) - 10_000;
    const action = this.random.below(100);
    if (action < 30) this.#command(id, 'add');
    else if (action < 40) this.#keyedCommand(id);
    else if (action < 60) this.#query(id);
    else if (action < 66) this.#command(id, 'remove');
    else if (action < 72) this.#failing(id, 'take', 'refused CONFLICT');
    else if (action < 74) this.#failing(id, 'fault', 'failed trap');
    else if (action < 76) this.#failing(id, 'poison', 'failed trap');
    else if (action < 78) this.#failing(id, 'unreadable', 'failed value');
    else if (action < 83) this.#journal.held = true;
    else if (action < 86) this.#answers.push(this.#journal.letAllThrough());
    else if (action < 93) this.#answers.push(this.#journal.letThrough());
    else if (action < 97) this.#answers.push(this.#fail());
    else this.#journal.readFailure = this.random.chance(30) ? diskFailure() : undefined;
  }

  #fail(): Promise<void> {
    if (this.remote === undefined || this.random.chance(30)) return this.#journal.fail();
    return this.#journal.loseOutcome(this.random.chance(60), this.random.below(3));
  }

  /**
   * Its events are stored when it is acknowledged, and only then; its reply is the state's. No query that
   * was asked after it has overtaken it.
   */
  #command(id: string, name: 'add' | 'remove'): void {
    const number = ++this.#lastNumber;
    this.#answer(id, name, number, (outcome) => {
      if (typeof outcome !== 'number') return this.#isFailure(outcome, number);
      this.#count('reply');
      this.acknowledged.add(number);
      const stored = this.watched.stored.get(id)!;
      const at = stored.findIndex((record) => lifeOf([record])[0] === number);
      if (at < 0) return false;
      if (this.#atOnce.some((seen) => seen.id === id && seen.before > number && seen.records <= at))
        return false;
      return outcome === this.#totalAt(id, number, name);
    });
  }

  /** A new one, one that was asked before, or one with another's key. */
  #keyedCommand(id: string): void {
    const name = this.random.chance(80) ? 'add' : this.random.pick(['remove', 'take']);
    const before = this.#keyed.at(-1 - this.random.below(RECENT_KEYS));
    const number = ++this.#lastNumber + (name === 'take' ? 1e15 : 0);
    let keyed: Keyed = { id, key: `key-${number}`, name, number };
    if (before !== undefined && this.random.chance(60))
      keyed = this.random.chance(80) ? before : { ...keyed, id: before.id, key: before.key };
    if (keyed.key === `key-${number}`) this.#keyed.push(keyed);
    this.#answer(
      keyed.id,
      keyed.name,
      keyed.number,
      (outcome) => this.#isToldOnce(keyed, outcome),
      keyed.key,
    );
  }

  /** What it is answered is what its key was answered the first time, and its events are stored once. */
  #isToldOnce({ id, key, name, number }: Keyed, outcome: unknown): boolean {
    const told = this.#told.get(key);
    if (outcome === 'refused UNPROCESSABLE') {
      this.#count('reused');
      // Of an answer that is still under way nothing is known here.
      return told?.number !== number;
    }
    if (typeof outcome !== 'number' && outcome !== 'refused CONFLICT')
      return this.#isFailure(outcome, number);
    if (told !== undefined) {
      this.#count('repeated');
      return told.number === number && told.outcome === outcome;
    }
    this.#told.set(key, { number, outcome });
    if (typeof outcome !== 'number') return name === 'take';
    this.acknowledged.add(number);
    return outcome === this.#totalAt(id, number, name);
  }

  /** What a command answered, from what is stored. */
  #totalAt(id: string, number: number, name: string): number | undefined {
    const stored = this.watched.stored.get(id)!;
    const at = stored.findIndex((record) => lifeOf([record])[0] === number);
    // `remove` answers the total before its event.
    return at < 0 ? undefined : sum(lifeOf(stored.slice(0, name === 'remove' ? at : at + 1)));
  }

  /** It saw a state that is on disk, and none from before it was asked. */
  #query(id: string): void {
    const stored = this.watched.stored.get(id)!;
    const least = stored.length;
    this.#answer(id, 'history', null, (outcome) => {
      if (!Array.isArray(outcome)) return this.#isFailure(outcome);
      this.#count('query');
      for (let length = least; length <= stored.length; length++)
        if (JSON.stringify(lifeOf(stored.slice(0, length))) === JSON.stringify(outcome))
          return true;
      return false;
    });
  }

  #failing(id: string, name: string, expected: string): void {
    this.#answer(id, name, 1e15, (outcome) => {
      if (outcome !== expected) return this.#isFailure(outcome);
      this.#count(expected.split(' ')[1]!);
      return true;
    });
  }

  #answer(
    id: string,
    name: string,
    input: unknown,
    isRight: (outcome: unknown) => boolean,
    key?: string,
  ): void {
    const asked = this.random.chance(70)
      ? this.#speculation(id, name, input, key)
      : this.#plain(id, name, input, key);
    const answer = asked.then((outcome) => {
      if (!isRight(outcome))
        this.problems.push(`${id} ${name} ${String(input)}: ${JSON.stringify(outcome)}`);
    });
    this.#answers.push(answer);
  }

  async #plain(id: string, name: string, input: unknown, key?: string): Promise<unknown> {
    try {
      const ref = { component: COUNTER, id };
      return valueOf(await this.it.engine.call(ref, name, JSON.stringify(input), [], key));
    } catch (error) {
      return `failed ${failureOf(error)}`;
    }
  }

  /** As `#plain`. The speculative result is confirmed, unless a write fails. */
  async #speculation(id: string, name: string, input: unknown, key?: string): Promise<unknown> {
    const failures = this.#journal.failuresOf(id);
    let speculative: Outcome | undefined;
    try {
      const ref = { component: COUNTER, id };
      const given = this.it.engine.speculate(ref, name, JSON.stringify(input), [], key);
      if ('kind' in given) return this.#atOnceOutcome(id, name, given);
      speculative = given.speculative;
      const outcome = await given.answer;
      if (speculative !== undefined) {
        this.#count(outcome === speculative ? 'came true' : 'came otherwise');
        if (outcome !== speculative && this.#journal.failuresOf(id) === failures)
          this.problems.push(`${id} ${name} ${String(input)}: its speculative result was another`);
      }
      return valueOf(outcome);
    } catch (error) {
      if (speculative !== undefined) {
        this.#count('did not come');
        if (this.#journal.failuresOf(id) === failures)
          this.problems.push(
            `${id} ${name} ${String(input)}: its speculative result was no failure`,
          );
      }
      return `failed ${failureOf(error)}`;
    }
  }

  /** A query saw what is on disk at that moment. */
  #atOnceOutcome(id: string, name: string, outcome: Outcome): unknown {
    const value = valueOf(outcome);
    if (name !== 'history') return value;
    this.#count('at once');
    const stored = this.watched.stored.get(id)!;
    this.#atOnce.push({ id, before: this.#lastNumber + 1, records: stored.length });
    if (JSON.stringify(value) !== JSON.stringify(lifeOf(stored)))
      this.problems.push(`${id} history at once: ${JSON.stringify(value)}`);
    return value;
  }

  /** One that has nothing to do with what was asked. `number`: of a command that may have been carried out. */
  #isFailure(outcome: unknown, number?: number): boolean {
    const code = String(outcome).replace('failed ', '');
    this.#count(code);
    if (code === 'SVC_CALL_UNCERTAIN' && this.remote !== undefined) {
      if (number !== undefined) this.uncertain.add(number);
      return true;
    }
    return ['trap', 'SVC_JOURNAL_UNAVAILABLE', 'SVC_OVERLOADED'].includes(code);
  }

  /** Whether keys were looked up ahead and when their commands ran, on a journal where both happens. */
  get hasLookedKeysUp(): boolean {
    if (this.remote === undefined) return true;
    return this.remote.lookedAhead.length > 100 && this.remote.lookedUp.length > 5;
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

const RUNS = SEEDS.flatMap((seed, index) =>
  [false, true].flatMap((later) => {
    const local = { seed, later, isRemote: false };
    return index % 2 === 0 ? [local, { seed, later, isRemote: true }] : [local];
  }),
);

test.each(RUNS)(
  'whatever happens, what is acknowledged is what is stored: seed $seed, answers later: $later, remote journal: $isRemote',
  async ({ seed, later, isRemote }) => {
    const run = new Run(seed, later, isRemote);
    await run.whole();
    expect(run.problems).toEqual([]);
    expect(run.watched.wrong).toEqual([]);
    for (const [id, stored] of run.watched.stored) {
      expect(await run.it.outcome(id, 'history')).toEqual(lifeOf(stored));
      expect(stored.map((record) => record.seq)).toEqual(stored.map((_, index) => index + 1));
    }
    const stored = [...run.watched.stored.values()].flat().flatMap((record) => lifeOf([record]));
    const known = new Set(stored);
    expect(stored).toHaveLength(known.size);
    for (const number of stored)
      if (!run.acknowledged.has(number) && run.uncertain.has(number)) known.delete(number);
    expect(known).toEqual(run.acknowledged);
    await run.end();
    expect(run.problems).toEqual([]);
    // Else the run has shown nothing.
    expect(run.hasLookedKeysUp).toBe(true);
    expect(run.watched.keptCount).toBeGreaterThan(20);
    expect(run.watched.begunCount).toBeGreaterThan(20);
    expect([...run.seen.keys()]).toEqual(
      expect.arrayContaining([
        'CONFLICT',
        'SVC_JOURNAL_UNAVAILABLE',
        'query',
        'repeated',
        'reply',
        'restart',
        'reused',
        'trap',
        'value',
        ...(isRemote ? ['SVC_CALL_UNCERTAIN'] : []),
        ...(later ? [] : ['at once', 'came true', 'came otherwise', 'did not come']),
      ]),
    );
  },
);
