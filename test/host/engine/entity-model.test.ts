// Random commands, queries, deletions, faults, held and failing writes and reads over a few entities
// of which not all fit into memory, compared with what the journal has stored, and what is foreseen of
// them with what is answered. A failing run names its seed: put it into SEEDS to see it again.
import { expect, test } from 'vitest';
import type { Outcome } from '../../../host/engine/entity/entity-call.ts';
import type {
  AnswerToKeep,
  Journal,
  KeptAnswer,
  Life,
  Snapshot,
} from '../../../host/engine/needs/journal.ts';
import type { EntityRef, JournalRecord } from '../../../host/model/entity.ts';
import type { SvcError } from '../../../host/model/svc-error.ts';
import { MemoryJournal } from '../../../host/storage/memory-journal.ts';
import { COUNTER } from '../../support/counter-guest.ts';
import { EngineUnderTest, failureOf, turns } from '../../support/engine-under-test.ts';
import { HeldJournal, diskFailure } from '../../support/held-journal.ts';
import { Random } from '../../support/random.ts';

const SEEDS = [1, 2, 3, 4, Math.floor(Math.random() * 2 ** 32)];
const STEPS = 4_000;
const IDS = ['a', 'b', 'c', 'd', 'e'];
const LIVE_MAX = 3;

/** Knows what is stored without asking. */
class WatchedJournal implements Journal {
  readonly stored = new Map<string, JournalRecord[]>(IDS.map((id) => [id, []]));
  readonly #inner = new MemoryJournal();
  keptCount = 0;
  begunCount = 0;
  readonly wrong: string[] = [];

  append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    answer?: AnswerToKeep,
  ): void {
    const stored = (failure?: SvcError): void => {
      if (failure === undefined) this.stored.get(entity.id)!.push(...records);
      settled(failure);
    };
    this.#inner.append(entity, records, stored, answer);
  }

  answer(entity: EntityRef, key: string): KeptAnswer | undefined {
    return this.#inner.answer(entity, key);
  }

  read(entity: EntityRef, afterSeq: number, limit: number): Promise<readonly JournalRecord[]> {
    return this.#inner.read(entity, afterSeq, limit);
  }

  life(entity: EntityRef, limit: number, fingerprint: string | undefined): Life {
    const life = this.#inner.life(entity, limit, fingerprint);
    if (life.snapshot !== undefined) this.begunCount++;
    return life;
  }

  /** Whatever is kept is the state after its record. */
  keepSnapshot(entity: EntityRef, snapshot: Snapshot): void {
    this.keptCount++;
    const records = this.stored.get(entity.id)!.slice(0, snapshot.seq);
    if (records.length < snapshot.seq || snapshot.state !== JSON.stringify(lifeOf(records)))
      this.wrong.push(`${entity.id}@${snapshot.seq}: ${snapshot.state}`);
    this.#inner.keepSnapshot(entity, snapshot);
  }

  forgetSnapshots(): void {
    this.#inner.forgetSnapshots();
  }

  lastDeletion(entity: EntityRef): Promise<number> {
    return this.#inner.lastDeletion(entity);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Counts what it has failed. */
class FailingJournal extends HeldJournal {
  readonly #failures = new Map<string, number>();

  failuresOf(id: string): number {
    return this.#failures.get(id) ?? 0;
  }

  override append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    answer?: AnswerToKeep,
  ): void {
    const counted = (failure?: SvcError): void => {
      if (failure !== undefined) this.#failures.set(entity.id, this.failuresOf(entity.id) + 1);
      settled(failure);
    };
    super.append(entity, records, counted, answer);
  }
}

/** The numbers of the life that is present after these records. */
function lifeOf(records: readonly JournalRecord[]): number[] {
  const life: number[] = [];
  for (const record of records)
    if (record.kind === 'deleted') life.length = 0;
    else life.push((JSON.parse(record.event.json) as { by: number }).by);
  return life;
}

function valueOf(outcome: Outcome): unknown {
  return outcome.kind === 'reply' ? JSON.parse(outcome.json) : `refused ${outcome.code}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

class Run {
  readonly watched = new WatchedJournal();
  readonly #journal = new FailingJournal(this.watched);
  readonly random: Random;
  readonly it: EngineUnderTest;
  readonly #answers: Promise<void>[] = [];
  readonly acknowledged = new Set<number>();
  readonly problems: string[] = [];
  /** Queries that were answered at once: of which entity, before which command, seeing how many records. */
  readonly #atOnce: { id: string; before: number; records: number }[] = [];
  /** How often what came out. */
  readonly seen = new Map<string, number>();
  #lastNumber = 0;

  constructor(seed: number, later: boolean) {
    this.random = new Random(seed);
    this.it = new EngineUnderTest({
      later,
      perInstance: 2,
      fingerprint: 'one',
      journal: this.#journal,
      // The checks of purity look at all that there is: they find nothing, and change nothing.
      limits: {
        liveEntitiesMax: LIVE_MAX,
        callsPerEntityMax: 20,
        purityCheckInterval: 2,
        purityRefoldInterval: 1,
        snapshotIntervalEvents: 3,
        idleTimeoutMs: 1_000,
      },
    });
  }

  async whole(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.#step();
      if (this.random.chance(25)) await Promise.resolve();
      if (this.random.chance(15)) await turns();
    }
    this.#journal.readFailure = undefined;
    await this.#journal.letAllThrough();
    await Promise.all(this.#answers);
  }

  #step(): void {
    const id = this.random.pick(IDS);
    if (this.random.chance(3)) this.watched.forgetSnapshots();
    if (this.random.chance(3)) void this.it.engine.passivate();
    this.it.nowMs += this.random.below(100) - (this.random.chance(1) ? 10_000 : 0);
    const action = this.random.below(100);
    if (action < 40) this.#command(id, 'add');
    else if (action < 60) this.#query(id);
    else if (action < 66) this.#command(id, 'remove');
    else if (action < 72) this.#failing(id, 'take', 'refused CONFLICT');
    else if (action < 74) this.#failing(id, 'fault', 'failed trap');
    else if (action < 76) this.#failing(id, 'poison', 'failed trap');
    else if (action < 78) this.#failing(id, 'unreadable', 'failed value');
    else if (action < 83) this.#journal.held = true;
    else if (action < 86) this.#answers.push(this.#journal.letAllThrough());
    else if (action < 93) this.#answers.push(this.#journal.letThrough());
    else if (action < 97) this.#answers.push(this.#journal.fail());
    else this.#journal.readFailure = this.random.chance(30) ? diskFailure() : undefined;
  }

  /**
   * Its events are stored when it is acknowledged, and only then; its reply is the state's. No query that
   * was asked after it has overtaken it.
   */
  #command(id: string, name: 'add' | 'remove'): void {
    const number = ++this.#lastNumber;
    this.#answer(id, name, number, (outcome) => {
      if (typeof outcome !== 'number') return this.#isFailure(outcome);
      this.#count('reply');
      this.acknowledged.add(number);
      const stored = this.watched.stored.get(id)!;
      const at = stored.findIndex((record) => lifeOf([record])[0] === number);
      if (at < 0) return false;
      if (this.#atOnce.some((seen) => seen.id === id && seen.before > number && seen.records <= at))
        return false;
      // `remove` answers the total before its event.
      return outcome === sum(lifeOf(stored.slice(0, name === 'add' ? at + 1 : at)));
    });
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

  #answer(id: string, name: string, input: unknown, isRight: (outcome: unknown) => boolean): void {
    const asked = this.random.chance(70)
      ? this.#ahead(id, name, input)
      : this.it.outcome(id, name, input);
    const answer = asked.then((outcome) => {
      if (!isRight(outcome))
        this.problems.push(`${id} ${name} ${String(input)}: ${JSON.stringify(outcome)}`);
    });
    this.#answers.push(answer);
  }

  /** As `outcome`. What was foreseen comes true, unless a write fails. */
  async #ahead(id: string, name: string, input: unknown): Promise<unknown> {
    const failures = this.#journal.failuresOf(id);
    let foreseen: Outcome | undefined;
    try {
      const ref = { component: COUNTER, id };
      const given = this.it.engine.callAhead(ref, name, JSON.stringify(input), []);
      if ('kind' in given) return this.#atOnceOutcome(id, name, given);
      foreseen = given.foreseen;
      const outcome = await given.answer;
      if (foreseen !== undefined) {
        this.#count(outcome === foreseen ? 'came true' : 'came otherwise');
        if (outcome !== foreseen && this.#journal.failuresOf(id) === failures)
          this.problems.push(`${id} ${name} ${String(input)}: foreseen was something else`);
      }
      return valueOf(outcome);
    } catch (error) {
      if (foreseen !== undefined) {
        this.#count('did not come');
        if (this.#journal.failuresOf(id) === failures)
          this.problems.push(`${id} ${name} ${String(input)}: foreseen was no failure`);
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

  /** One that has nothing to do with what was asked. */
  #isFailure(outcome: unknown): boolean {
    const code = String(outcome).replace('failed ', '');
    this.#count(code);
    return ['trap', 'SVC_JOURNAL_UNAVAILABLE', 'SVC_OVERLOADED'].includes(code);
  }

  #count(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1);
  }
}

test.each(SEEDS.flatMap((seed) => [false, true].map((later) => ({ seed, later }))))(
  'whatever happens, what is acknowledged is what is stored: seed $seed, answers later: $later',
  async ({ seed, later }) => {
    const run = new Run(seed, later);
    await run.whole();
    expect(run.problems).toEqual([]);
    expect(run.it.guest.violations).toEqual([]);
    expect(run.watched.wrong).toEqual([]);
    for (const [id, stored] of run.watched.stored) {
      expect(await run.it.outcome(id, 'history')).toEqual(lifeOf(stored));
      expect(stored.map((record) => record.seq)).toEqual(stored.map((_, index) => index + 1));
    }
    const stored = [...run.watched.stored.values()].flat().flatMap((record) => lifeOf([record]));
    expect(new Set(stored)).toEqual(run.acknowledged);
    expect(stored).toHaveLength(run.acknowledged.size);
    await run.it.engine.close();
    expect(run.it.guest.openCount).toBe(0);
    // Else the run has shown nothing.
    expect(run.watched.keptCount).toBeGreaterThan(20);
    expect(run.watched.begunCount).toBeGreaterThan(20);
    expect([...run.seen.keys()]).toEqual(
      expect.arrayContaining([
        'CONFLICT',
        'SVC_JOURNAL_UNAVAILABLE',
        'query',
        'reply',
        'trap',
        'value',
        ...(later ? [] : ['at once', 'came true', 'came otherwise', 'did not come']),
      ]),
    );
  },
);
