// SimulatedTimers run a dispatcher against a virtual clock and a store of timers in memory, and check at every instant
// what the dispatcher promises: nothing is early, limits hold, the order is kept, and each occurrence is settled once.
import { Occurrences } from '../../../host/schedule/occurrences.ts';
import { Dispatcher } from '../../../host/timers/dispatcher.ts';
import type { Firing } from '../../../host/engine/firing.ts';
import type { DuePosition, DueTimer } from '../../../host/engine/needs/timers.ts';
import type { TimerSettings } from '../../../host/engine/timer-settings.ts';
import type { FiringAnswer } from '../../../host/timers/firing-answer.ts';
import type { Awaitable } from '../../../model/call.ts';
import { VirtualTime } from './virtual-time.ts';

/** A timer that was due for longer than this, whose target is free, starts before later ones. Two looks lie within it. */
const NOTICED_MS = 2100;
/** Inputs of more characters are left out of pages. */
const LONG = 100;

/** How a firing ends: what the entity makes of it, that another node has the entity, or that the runtime cannot execute it. */
export type Ending = 'done' | 'retry' | 'dead' | 'moved' | 'unavailable' | 'rejected';

export interface Behaviour {
  readonly settings: TimerSettings;
  /** Decides about a firing that starts. */
  readonly next: () => {
    readonly ending: Ending;
    readonly tookMs: number;
    readonly retryMs: number;
  };
  /** By how many milliseconds a sleep is too long. */
  readonly lateMs: () => number;
  /** How long it takes to read the input of a timer that a page leaves out, in milliseconds; absent: it is there at once. */
  readonly inputMs?: number | undefined;
  /** How long it takes to read anything else, in milliseconds; absent, or 0: it is there at once. */
  readonly readMs?: () => number;
}

interface Stored extends DueTimer {
  /** When it became due and visible, by the monotonic clock; undefined: it is not due. */
  readonly sinceMs?: number | undefined;
}

export class SimulatedTimers {
  readonly time: VirtualTime;
  readonly dispatcher: Dispatcher;
  readonly started: Firing[] = [];
  /** When each firing started, by the monotonic clock. */
  readonly startsMs: number[] = [];
  readonly failures: unknown[] = [];
  /** What was broken; a test expects nothing. */
  readonly violations: string[] = [];
  /** `number` and `dueMs` of each occurrence that was settled. */
  readonly settled = new Set<string>();
  /** Number of a timer that is dead because of its schedule → the reason. */
  readonly dead = new Map<number, string>();
  /** Number → occurrences that its firings stood for. */
  readonly passed = new Map<number, number>();
  /** The number of times that the dispatcher has read a page. */
  reads = 0;
  isReadable = true;
  /** Numbers of timers whose long input cannot be read. */
  readonly unreadable = new Set<number>();
  /** The input of all timers that are set, which pages leave out if it is long. */
  input = '{}';
  readonly #stored = new Map<number, Stored>();
  readonly #firstDueMs = new Map<number, number>();
  #sorted: readonly Stored[] | undefined;
  #lastNumber = 0;
  readonly #behaviour: Behaviour;
  readonly #inFlight = new Map<string, number>();
  /** Target → since when it is available again; Infinity: it is paused, and so the order does not hold for it. */
  readonly #availableMs = new Map<string, number>();

  constructor(behaviour: Behaviour, wallMs: number) {
    this.#behaviour = behaviour;
    this.time = new VirtualTime(wallMs, behaviour.lateMs);
    const occurrences = new Occurrences();
    this.dispatcher = new Dispatcher({
      source: {
        due: (...page) => this.#read(() => this.#due(...page)),
        input: (number) =>
          behaviour.inputMs === undefined
            ? this.#input(number)
            : this.#readLater(behaviour.inputMs, () => this.#input(number)),
        earliestMs: (afterMs) =>
          this.#read(() => this.#inOrder().find(({ nextMs }) => nextMs > afterMs)?.nextMs),
      },
      clock: this.time,
      sleeper: this.time.sleeper,
      settings: behaviour.settings,
      fire: (firing) => this.#fire(firing),
      following: (schedule, dueMs, nowMs) => occurrences.following(schedule, dueMs, nowMs),
      onFailure: (error) => this.failures.push(error),
    });
  }

  /** Stores a timer, and signals that to the dispatcher. */
  set(timer: Pick<DueTimer, 'dueMs' | 'schedule'> & { readonly target: string }): number {
    this.#lastNumber += 1;
    this.#firstDueMs.set(this.#lastNumber, timer.dueMs);
    this.#put({
      number: this.#lastNumber,
      target: { component: 'account', id: timer.target },
      command: 'remind',
      input: this.input.length > LONG ? undefined : this.input,
      schedule: timer.schedule,
      dueMs: timer.dueMs,
      nextMs: timer.dueMs,
      attempts: 0,
      traceParent: undefined,
    });
    this.time.sleeper.signal();
    return this.#lastNumber;
  }

  cancel(number: number): void {
    this.#stored.delete(number);
    this.#sorted = undefined;
  }

  /** The number of timers that are stored. */
  get count(): number {
    return this.#stored.size;
  }

  stored(number: number): DueTimer | undefined {
    return this.#stored.get(number);
  }

  /** The first occurrence of a timer. */
  firstDueMs(number: number): number {
    return this.#firstDueMs.get(number)!;
  }

  /** Timers that are due now. */
  overdue(): readonly DueTimer[] {
    return this.#inOrder().filter(({ nextMs }) => nextMs <= this.time.nowMs());
  }

  /** The greatest number of starts within a second. */
  mostStartsInSecond(): number {
    let first = 0;
    let most = 0;
    for (const [index, ms] of this.startsMs.entries()) {
      while (this.startsMs[first]! <= ms - 1000) first += 1;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }

  #read<T>(read: () => T): Awaitable<T> {
    const tookMs = this.#behaviour.readMs?.() ?? 0;
    return tookMs === 0 ? read() : this.#readLater(tookMs, read);
  }

  /** Timers change before they are read, and before the answer is there. */
  async #readLater<T>(tookMs: number, read: () => T): Promise<T> {
    await this.time.wait(tookMs / 2);
    const answer = read();
    await this.time.wait(tookMs / 2);
    return answer;
  }

  #due(nowMs: number, limit: number, after: DuePosition | undefined): readonly DueTimer[] {
    this.reads += 1;
    if (!this.isReadable) throw new Error('The journal cannot be read.');
    const order = this.#inOrder();
    const first = after === undefined ? 0 : order.findIndex((timer) => isBefore(after, timer));
    if (first === -1) return [];
    const page = order.slice(first, first + limit);
    const end = page.findIndex(({ nextMs }) => nextMs > nowMs);
    return end === -1 ? page : page.slice(0, end);
  }

  #input(number: number): string | undefined {
    if (!this.isReadable) throw new Error('The journal cannot be read.');
    return this.#stored.has(number) && !this.unreadable.has(number) ? this.input : undefined;
  }

  async #fire(firing: Firing): Promise<FiringAnswer> {
    const target = firing.target.id;
    this.#checkStart(firing, target);
    this.started.push(firing);
    this.startsMs.push(this.time.monotonicMs());
    this.#inFlight.set(target, firing.number);
    const { ending, tookMs, retryMs } = this.#behaviour.next();
    await this.time.wait(tookMs);
    this.#inFlight.delete(target);
    if (ending === 'moved' || ending === 'unavailable' || ending === 'rejected') {
      this.#availableMs.set(target, Infinity);
      if (ending === 'rejected') throw new Error('The link was lost.');
      return { outcome: ending };
    }
    if (this.#availableMs.get(target) === Infinity)
      this.#availableMs.set(target, this.time.monotonicMs());
    return this.#end(firing, ending, retryMs);
  }

  /** Does what the append of the firing would do. */
  #end(firing: Firing, ending: 'done' | 'retry' | 'dead', retryMs: number): FiringAnswer {
    const timer = this.#stored.get(firing.number);
    if (timer?.dueMs !== firing.dueMs || timer.attempts !== firing.attempts)
      return { outcome: 'gone' };
    this.cancel(firing.number);
    const attempts = firing.attempts + 1;
    if (firing.scheduleProblem !== undefined) {
      this.dead.set(firing.number, firing.scheduleProblem);
      return { outcome: 'settled' };
    }
    if (ending === 'retry' && attempts < this.#behaviour.settings.attemptsMax) {
      this.#put({ ...timer, attempts, nextMs: this.time.nowMs() + retryMs, sinceMs: undefined });
      return { outcome: 'settled' };
    }
    const occurrence = `${firing.number} ${firing.dueMs}`;
    if (this.settled.has(occurrence)) this.violations.push(`${occurrence} was settled twice`);
    this.settled.add(occurrence);
    const passed = this.passed.get(firing.number) ?? 0;
    this.passed.set(firing.number, passed + 1 + firing.missed);
    const dueMs = firing.rearmMs;
    if (dueMs !== undefined && ending === 'done')
      this.#put({ ...timer, dueMs, nextMs: dueMs, attempts: 0, sinceMs: undefined });
    return { outcome: 'settled' };
  }

  #checkStart({ number, dueMs, rearmMs }: Firing, target: string): void {
    const { inFlight } = this.#behaviour.settings;
    const nowMs = this.time.nowMs();
    const timer = this.#stored.get(number);
    if (this.#inFlight.has(target)) this.violations.push(`${target} got two firings at once`);
    if (this.#inFlight.size >= inFlight) this.violations.push(`more than ${inFlight} in flight`);
    if (nowMs < (timer?.nextMs ?? dueMs)) this.violations.push(`${number} was early`);
    if (rearmMs !== undefined && rearmMs <= nowMs) this.violations.push(`${number} rearmed early`);
    if (timer !== undefined) this.#checkOrder(timer);
  }

  #checkOrder(timer: DueTimer): void {
    const monotonicMs = this.time.monotonicMs();
    for (const other of this.#inOrder()) {
      if (!isBefore(other, timer)) return;
      const target = other.target.id;
      if (this.#inFlight.has(target) || other.sinceMs === undefined) continue;
      const sinceMs = Math.max(other.sinceMs, this.#availableMs.get(target) ?? 0);
      if (monotonicMs - sinceMs > NOTICED_MS)
        this.violations.push(`${timer.number} started before ${other.number}, which was due first`);
    }
  }

  /** Notes since when each timer is due. Call it after each step of the time. */
  noteDue(): void {
    const nowMs = this.time.nowMs();
    for (const timer of this.#stored.values()) {
      const isDue = this.isReadable && timer.nextMs <= nowMs;
      if (isDue === (timer.sinceMs !== undefined)) continue;
      this.#put({ ...timer, sinceMs: isDue ? this.time.monotonicMs() : undefined });
    }
  }

  #put(timer: Stored): void {
    this.#stored.set(timer.number, timer);
    this.#sorted = undefined;
  }

  #inOrder(): readonly Stored[] {
    this.#sorted ??= [...this.#stored.values()].toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
    return this.#sorted;
  }
}

function isBefore(a: DuePosition, b: DuePosition): boolean {
  return a.nextMs === b.nextMs ? a.number < b.number : a.nextMs < b.nextMs;
}
