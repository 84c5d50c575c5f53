// Random histories of an engine with timers: commands that set and cancel them, handlers and operators that do so behind the
// back of the entity, firings that overlap with all of it and with each other, appends that are held, fail, and lose their
// outcomes, deletions, and engines that follow one another. A history is judged by what its journal has stored, in order.
import type { FiringOutcome } from '../../host/engine/firing.ts';
import type { StoredBeside } from '../../host/engine/needs/journal.ts';
import type { StoredTimer } from '../../host/engine/needs/timers.ts';
import type { EntityRef, JournalRecord } from '../../model/entity.ts';
import type { Due, Timer, TimerChange } from '../../model/timer.ts';
import { MemoryJournal } from '../../host/storage/memory/memory-journal.ts';
import type { SvcError } from '../../kit/svc-error.ts';
import { added } from './counter-guest.ts';
import { failureOf, turns } from './engine-under-test.ts';
import { HeldJournal } from './held-journal.ts';
import { Random } from './random.ts';
import { RemoteJournal } from './remote-journal.ts';
import { TimersUnderTest, changing, ref, timerFor } from './timers-under-test.ts';
import { lifeOf } from './watched-journal.ts';

const IDS = ['a', 'b', 'c'];
const NAMES = ['tick', 'tock'];
const STEPS = 60;
const LATEST_MS = 9e15;

/** The number that a timer's command adds to its entity, which tells its effect from all others; 0: it adds none. */
function numberOf({ command, input }: StoredTimer): number {
  if (command === 'add') return JSON.parse(input) as number;
  if (command !== 'effect') return 0;
  const { events } = JSON.parse(input) as { readonly events: readonly [{ json: string }] };
  return (JSON.parse(events[0].json) as { by: number }).by;
}

/** A memory journal that follows what becomes of each timer, and notes effects of timers that were cancelled before. */
class FollowedJournal extends MemoryJournal {
  #live = new Map<number, StoredTimer>();
  /** Settings of timers that have ended, by what has ended them. */
  readonly fired = new Set<StoredTimer>();
  readonly cancelled = new Set<StoredTimer>();
  readonly dead = new Set<StoredTimer>();
  readonly #cancelledNumbers = new Set<number>();
  /** How often each number was stored. */
  readonly effects = new Map<number, number>();
  readonly problems: string[] = [];

  override append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside?: StoredBeside,
  ): void {
    const followed = (failure?: SvcError): void => {
      if (failure === undefined) this.#stored(entity, records, beside);
      settled(failure);
    };
    super.append(entity, records, followed, beside);
  }

  get live(): readonly StoredTimer[] {
    return [...this.#live.values()];
  }

  #stored(entity: EntityRef, records: readonly JournalRecord[], beside: StoredBeside = {}): void {
    for (const number of lifeOf(records.filter(({ kind }) => kind === 'event'))) {
      this.effects.set(number, (this.effects.get(number) ?? 0) + 1);
      if (this.#cancelledNumbers.has(number))
        this.problems.push(`${number} was stored for ${entity.id} after its timer was cancelled`);
    }
    const before = this.#live;
    this.#live = new Map(this.dueTimers(LATEST_MS, 1_000).map((timer) => [timer.number, timer]));
    const ended = beside.timers?.firing;
    for (const timer of before.values()) {
      if (this.#live.has(timer.number)) continue;
      const end = ended?.occurrence.number === timer.number ? ended.end.kind : 'cancelled';
      if (end === 'remove') this.fired.add(timer);
      else if (end === 'dead') this.dead.add(timer);
      else {
        this.cancelled.add(timer);
        this.#cancelledNumbers.add(numberOf(timer));
      }
    }
  }
}

/**
 * - `none`: no append fails, so no call may fail.
 * - `failed`: appends fail.
 * - `unknown`: appends of different entities settle in any order, some fail, and of some nobody learns whether they are stored.
 */
export type JournalFaults = 'none' | 'failed' | 'unknown';

export class TimerHistory {
  readonly problems: string[] = [];
  /** How often firings have ended in each way. */
  readonly ends = new Map<FiringOutcome['kind'], number>();
  readonly #random: Random;
  readonly #faults: JournalFaults;
  readonly #memory = new FollowedJournal();
  readonly #journal: HeldJournal;
  #it: TimersUnderTest;
  readonly #underWay: Promise<void>[] = [];
  /** Timers as they were when they were read; their firings may come late, or twice. */
  readonly #read: StoredTimer[] = [];
  /** How often firings with each number were answered. */
  readonly #replies = new Map<number, number>();
  #lastNumber = 0;

  constructor(seed: number, faults: JournalFaults) {
    this.#random = new Random(seed);
    this.#faults = faults;
    this.#journal =
      faults === 'unknown'
        ? new RemoteJournal(this.#memory, this.#random)
        : new HeldJournal(this.#memory);
    this.#it = this.#started();
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      this.#step();
      if (this.#random.chance(40)) await Promise.resolve();
      if (this.#random.chance(15)) await turns();
      if (this.#random.chance(2)) await this.#restart();
    }
    await this.#end();
    await this.#drain();
    await this.#judge();
    await this.#it.engine.close();
    this.problems.push(...this.#memory.problems, ...this.#it.guest.violations);
  }

  #started(): TimersUnderTest {
    const options = {
      later: this.#random.chance(30),
      limits: { liveEntitiesMax: 2, idleTimeoutMs: 1, snapshotIntervalEvents: 3 },
      fingerprint: 'one',
      timers: { attemptsMax: 2 },
    };
    return new TimersUnderTest(options, this.#memory, this.#journal);
  }

  async #restart(): Promise<void> {
    await this.#end();
    const { nowMs, wallSetMs } = this.#it;
    await this.#it.engine.close();
    this.problems.push(...this.#it.guest.violations);
    this.#it = this.#started();
    Object.assign(this.#it, { nowMs, wallSetMs });
  }

  async #end(): Promise<void> {
    await this.#journal.letAllThrough();
    for (let left = this.#underWay.splice(0); left.length > 0; left = this.#underWay.splice(0)) {
      await this.#journal.letAllThrough();
      // Appends that are made after a firing has failed.
      await turns();
      await this.#journal.letAllThrough();
      await Promise.all(left);
    }
  }

  #step(): void {
    const random = this.#random;
    const id = random.pick(IDS);
    this.#it.nowMs += random.below(1_000);
    const action = random.below(100);
    if (action < 15) this.#call(id, 'add', ++this.#lastNumber);
    else if (action < 20) this.#call(id, 'history', null);
    else if (action < 22) this.#call(id, 'remove', 0);
    else if (action < 36) this.#call(id, 'effect', changing(this.#change(id)));
    else if (action < 46)
      this.#track(this.#it.engine.changeTimers(ref(id), [this.#change(id)], []));
    else if (action < 50) this.#operatorCancels(id);
    else if (action < 78) this.#fire();
    else if (action < 84) this.#journal.held = true;
    else if (action < 90) this.#follow(this.#journal.letThrough());
    else if (action < 94) this.#follow(this.#journal.letAllThrough());
    else if (action < 97) void this.#it.engine.passivate();
    else if (this.#faults === 'unknown' && random.chance(70))
      this.#follow(this.#journal.loseOutcome(random.chance(60), random.below(3)));
    else if (this.#faults !== 'none') this.#follow(this.#journal.fail());
  }

  #change(id: string): TimerChange {
    const name = this.#random.pick(NAMES);
    return this.#random.chance(30)
      ? { kind: 'cancel', name }
      : { kind: 'set', timer: this.#timer(id, name) };
  }

  #timer(id: string, name: string): Timer {
    const number = ++this.#lastNumber;
    // A handler's timer belongs to its target; so do most that commands set.
    const action = this.#random.below(100);
    const due: Due = { kind: 'after', afterMs: this.#random.below(2_000) };
    if (action < 10) return timerFor(id, 'take', 1e15, { name, due });
    if (action < 20) return timerFor(id, 'fault', null, { name, due });
    if (action < 35)
      return timerFor(id, 'add', number, { name, due: { kind: 'every', everyMs: 1_000 } });
    if (action >= 55) return timerFor(id, 'add', number, { name, due });
    const again = timerFor(id, 'add', ++this.#lastNumber, { name, due });
    const change: TimerChange =
      action < 45 ? { kind: 'set', timer: again } : { kind: 'cancel', name };
    return timerFor(id, 'effect', { events: [added(number)], timers: [change] }, { name, due });
  }

  /** Removes a timer without the engine, and without waiting for held appends. */
  #operatorCancels(id: string): void {
    const timers = { changes: [{ kind: 'cancel', name: this.#random.pick(NAMES) } as const] };
    this.#memory.append(ref(id), [], () => {}, { timers, isDetached: true });
  }

  /** Fires a timer as it is, or as it was when it was read before. */
  #fire(): void {
    const [timer] = this.#random.chance(75) ? [this.#pickOf(this.#memory.live)] : [];
    const fired = timer ?? this.#pickOf(this.#read);
    if (fired === undefined) return;
    this.#read.push(fired);
    this.#follow(this.#fired(fired));
  }

  #pickOf(timers: readonly StoredTimer[]): StoredTimer | undefined {
    return timers[this.#random.below(Math.max(1, timers.length))];
  }

  async #fired(timer: StoredTimer): Promise<FiringOutcome> {
    const rearmMs = timer.schedule === undefined ? undefined : this.#it.nowMs + 1_000;
    const outcome = await this.#it.fire(timer, { rearmMs });
    const { kind } = outcome;
    this.ends.set(kind, (this.ends.get(kind) ?? 0) + 1);
    const number = numberOf(timer);
    if (kind === 'replied') this.#replies.set(number, (this.#replies.get(number) ?? 0) + 1);
    if (kind === 'unavailable' && !this.#isAllowed(outcome.failure))
      this.problems.push(`a firing failed: ${outcome.failure.message}`);
    return outcome;
  }

  #call(id: string, name: string, input: unknown): void {
    this.#track(this.#it.call(id, name, input));
  }

  /** Notes a failure that no failed append explains. */
  #track(call: Promise<unknown>): void {
    const checked = call.catch((failure: unknown) => {
      if (!this.#isAllowed(failure)) this.problems.push(`a call failed: ${failureOf(failure)}`);
    });
    this.#follow(checked);
  }

  #isAllowed(failure: unknown): boolean {
    const code = failureOf(failure);
    if (code === 'SVC_CALL_UNCERTAIN') return this.#faults === 'unknown';
    return this.#faults !== 'none' && code === 'SVC_JOURNAL_UNAVAILABLE';
  }

  #follow(action: Promise<unknown>): void {
    this.#underWay.push(action.then(() => {}));
  }

  /** Fires what is left, until every timer has ended. */
  async #drain(): Promise<void> {
    for (const { owner, name, schedule } of this.#memory.live)
      if (schedule !== undefined) await this.#it.cancel(owner!.id, name);
    for (let round = 0; this.#memory.live.length > 0; round++) {
      for (const timer of this.#memory.live) await this.#fired(timer);
      if (round < 10) continue;
      this.problems.push('a timer does not end');
      return;
    }
  }

  async #judge(): Promise<void> {
    const { fired, cancelled, dead, effects } = this.#memory;
    const expectEffects = (timers: ReadonlySet<StoredTimer>, count: number): void => {
      for (const timer of timers) {
        const number = numberOf(timer);
        if (number === 0 || timer.schedule !== undefined) continue;
        const found = effects.get(number) ?? 0;
        if (found !== count)
          this.problems.push(`${number} was stored ${found} times, not ${count}`);
      }
    };
    expectEffects(fired, 1);
    expectEffects(cancelled, 0);
    expectEffects(dead, 0);
    for (const timer of [...fired, ...cancelled]) {
      const number = numberOf(timer);
      if (number === 0) continue;
      const [found, replies] = [effects.get(number) ?? 0, this.#replies.get(number) ?? 0];
      // A firing of which it is unknown whether it is stored has no reply, and may have had its effect.
      const isRight = this.#faults === 'unknown' ? replies <= found : replies === found;
      if (!isRight) this.problems.push(`${number}: ${found} effects, ${replies} replies`);
    }
    for (const id of IDS) {
      const history = JSON.stringify(await this.#it.outcome(id, 'history'));
      const stored = JSON.stringify(lifeOf(await this.#it.records(id)));
      if (history !== stored) this.problems.push(`${id} has ${history}, stored is ${stored}`);
    }
  }
}
