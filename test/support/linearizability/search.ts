// Search looks for an order of the effects of one entity that its model explains and that respects their times: the algorithm of Wing and
// Gong, with the memo of Lowe. It extends a linearization by one effect at a time, and takes back the last one when nothing can
// follow. A configuration, which is a set of linearized effects and a state, is explored once.
//
// Exact reductions keep it small:
//  1  a query whose answer is right is next, without alternatives
//  2  a write is next, without alternatives, if nobody needs the state that it overwrites or the one that it leaves
//  3  nothing is next after which an answer has become impossible
//  4  effects that may not have happened are left out where they cannot matter, and are tried last; of several equal ones the earliest
//     is the first
//
// Invariant: `#after` and `#before` link the known effects that are not linearized, in the order of their starts.
import type { Effect } from './effects.ts';
import type { Value } from './history.ts';
import type { Model } from './model.ts';

export interface SearchLimits {
  readonly timeMs: number;
  /** Bytes of the memo, which is nearly all that a search needs. */
  readonly memoBytes: number;
}

export type Found<Input, Output> =
  | { readonly kind: 'linearizable' }
  /** `state` and `stuck`: the state after the longest linearization, and the effects one of which had to be next. */
  | {
      readonly kind: 'violation';
      readonly state: Value;
      readonly stuck: readonly Effect<Input, Output>[];
    }
  | { readonly kind: 'undecided'; readonly reason: string };

interface Step<State> {
  /** The effect that was linearized; undefined for the first step. */
  readonly effect: number | undefined;
  /** The state after it. */
  readonly state: State;
  /** The effects that may be next. */
  readonly choices: readonly number[];
  tried: number;
}

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 256;
/** Bytes that an entry of the memo needs beside its text. */
const ENTRY_BYTES = 64;
/** Is in no text of bits. */
const SEPARATOR = '\u00ff';

export class Search<State extends Value, Input, Output extends Value> {
  readonly #model: Model<State, Input, Output>;
  readonly #limits: SearchLimits;
  /** The known effects in the order of their starts, then the unknown ones in theirs. */
  readonly #effects: readonly Effect<Input, Output>[];
  readonly #knownCount: number;
  /** Indexed by effect: the state that its answer needs, and the one that it leaves whatever was before. */
  readonly #needs: readonly (State | undefined)[];
  readonly #leaves: readonly (State | undefined)[];
  /** Indexed by unknown effect: the equal one before it, which has to be taken first. */
  readonly #twins = new Map<number, number>();
  /** The index after the last known effect is that of both ends. */
  readonly #after: Int32Array;
  readonly #before: Int32Array;
  readonly #isTaken: Uint8Array;
  /** Number of effects that are not linearized, by the state that they need, and by the state that they leave. */
  readonly #needing = new Counts<State>();
  readonly #leaving = new Counts<State>();
  readonly #memo = new Set<string>();
  #memoBytes = 0;
  #takenCount = 0;
  /** The highest known effect that was ever taken. */
  #highest = -1;
  #longest: { readonly count: number; readonly state: State; readonly stuck: readonly number[] };

  constructor(
    model: Model<State, Input, Output>,
    effects: readonly Effect<Input, Output>[],
    limits: SearchLimits,
  ) {
    this.#model = model;
    this.#limits = limits;
    const sorted = effects.toSorted((a, b) => a.startMs - b.startMs);
    const known = sorted.filter(({ endMs }) => endMs !== Infinity);
    const needs = known.map(({ input, output }) =>
      output === undefined ? undefined : model.needs(input, output),
    );
    const needed = new Set(needs);
    const unknown = sorted.filter(({ endMs, input }) => {
      if (endMs !== Infinity || model.isQuery(input)) return false;
      const left = model.leaves(input);
      return left === undefined || needed.has(left);
    });
    this.#effects = [...known, ...unknown];
    this.#knownCount = known.length;
    this.#needs = needs;
    this.#leaves = this.#effects.map(({ input }) => model.leaves(input));
    for (const state of this.#needs) this.#needing.add(state, 1);
    for (const state of this.#leaves) this.#leaving.add(state, 1);
    this.#findTwins(unknown);
    const end = known.length;
    this.#after = Int32Array.from({ length: end + 1 }, (_, index) => (index + 1) % (end + 1));
    this.#before = Int32Array.from({ length: end + 1 }, (_, index) => (index + end) % (end + 1));
    this.#isTaken = new Uint8Array(this.#effects.length);
    this.#longest = { count: -1, state: model.initial, stuck: [] };
  }

  #findTwins(unknown: readonly Effect<Input, Output>[]): void {
    const latest = new Map<string, number>();
    for (const [index, { input }] of unknown.entries()) {
      const text = JSON.stringify(input);
      const twin = latest.get(text);
      if (twin !== undefined) this.#twins.set(this.#knownCount + index, twin);
      latest.set(text, this.#knownCount + index);
    }
  }

  run(): Found<Input, Output> {
    const { timeMs, memoBytes } = this.#limits;
    const untilMs = performance.now() + timeMs;
    const steps = [this.#step(undefined, this.#model.initial)];
    for (let count = 0; this.#takenCount < this.#knownCount; count++) {
      const step = steps.at(-1);
      if (step === undefined) return this.#violation();
      if (count % STEPS_PER_LOOK === 0 && performance.now() >= untilMs)
        return { kind: 'undecided', reason: `no result within ${Math.round(timeMs)} ms` };
      if (this.#memoBytes > memoBytes)
        return { kind: 'undecided', reason: `the memo needs more than ${memoBytes} bytes` };
      const choice = step.choices[step.tried++];
      if (choice === undefined) {
        if (step.effect !== undefined) this.#release(step.effect);
        steps.pop();
        continue;
      }
      this.#take(choice);
      const state = this.#model.after(step.state, this.#effects[choice]!.input);
      // A step without alternatives needs no entry: the configuration before it has one.
      if (step.choices.length === 1 || this.#isNew(state)) steps.push(this.#step(choice, state));
      else this.#release(choice);
    }
    return { kind: 'linearizable' };
  }

  #step(effect: number | undefined, state: State): Step<State> {
    const frontier = this.#frontier();
    if (this.#takenCount > this.#longest.count)
      this.#longest = { count: this.#takenCount, state, stuck: frontier };
    return { effect, state, choices: this.#choices(state, frontier), tried: 0 };
  }

  /** Returns the known effects one of which is next: before they started, no other one has ended that is not linearized. */
  #frontier(): readonly number[] {
    const frontier: number[] = [];
    let endMs = Infinity;
    const end = this.#knownCount;
    for (let index = this.#after[end]!; index !== end; index = this.#after[index]!) {
      const effect = this.#effects[index]!;
      if (effect.startMs > endMs) break;
      frontier.push(index);
      endMs = Math.min(endMs, effect.endMs);
    }
    return frontier;
  }

  #choices(state: State, frontier: readonly number[]): readonly number[] {
    const choices: number[] = [];
    let endMs = Infinity;
    for (const index of frontier) {
      const effect = this.#effects[index]!;
      const { input, output } = effect;
      endMs = Math.min(endMs, effect.endMs);
      if (output !== undefined && this.#model.answer(state, input) !== output) continue;
      if (this.#model.isQuery(input)) return [index];
      if (!this.#leadsOn(state, index, frontier)) continue;
      const left = this.#leaves[index];
      if (left !== undefined && this.#needing.of(left) + this.#needing.of(state) === 0)
        return [index];
      choices.push(index);
    }
    // The effect that ends first was probably executed first.
    choices.sort((a, b) => this.#effects[a]!.endMs - this.#effects[b]!.endMs);
    for (let index = this.#knownCount; index < this.#effects.length; index++) {
      const { input, startMs } = this.#effects[index]!;
      if (startMs > endMs) break;
      if (this.#isTaken[index] === 1) continue;
      const twin = this.#twins.get(index);
      if (twin !== undefined && this.#isTaken[twin] === 0) continue;
      if (this.#model.after(state, input) === state) continue;
      if (this.#leadsOn(state, index, frontier)) choices.push(index);
    }
    return choices;
  }

  /** Returns false if an effect makes the answer of another one impossible, which has not been linearized. */
  #leadsOn(state: State, effect: number, frontier: readonly number[]): boolean {
    const after = this.#model.after(state, this.#effects[effect]!.input);
    const ownNeeds = this.#needs[effect] === state ? 1 : 0;
    if (this.#needing.of(state) > ownNeeds && !this.#mayFollow(after, state)) return false;
    return frontier.every((other) => {
      const need = this.#needs[other];
      return other === effect || need === undefined || this.#mayFollow(after, need);
    });
  }

  #mayFollow(state: State, next: State): boolean {
    return next === state || this.#model.mayFollow(state, next, this.#leaving.of(next) > 0);
  }

  #take(index: number): void {
    this.#isTaken[index] = 1;
    this.#needing.add(this.#needs[index], -1);
    this.#leaving.add(this.#leaves[index], -1);
    if (index >= this.#knownCount) return;
    this.#takenCount++;
    this.#highest = Math.max(this.#highest, index);
    this.#after[this.#before[index]!] = this.#after[index]!;
    this.#before[this.#after[index]!] = this.#before[index]!;
  }

  /** Takes back the effect that was taken last. */
  #release(index: number): void {
    this.#isTaken[index] = 0;
    this.#needing.add(this.#needs[index], 1);
    this.#leaving.add(this.#leaves[index], 1);
    if (index >= this.#knownCount) return;
    this.#takenCount--;
    this.#after[this.#before[index]!] = index;
    this.#before[this.#after[index]!] = index;
  }

  /** Adds the configuration to the memo. Returns false if it was there. */
  #isNew(state: State): boolean {
    // All known effects before the first one are linearized, and none after the highest one.
    const first = this.#after[this.#knownCount]!;
    const known = this.#bits(first, this.#highest + 1);
    const unknown = this.#bits(this.#knownCount, this.#effects.length);
    const text = `${first} ${known}${SEPARATOR}${unknown}${SEPARATOR}${state}`;
    const { size } = this.#memo;
    this.#memo.add(text);
    if (this.#memo.size === size) return false;
    this.#memoBytes += text.length + ENTRY_BYTES;
    return true;
  }

  /** Writes which effects are linearized, seven in a character, up to the last one that is. */
  #bits(from: number, to: number): string {
    let text = '';
    let zeros = '';
    for (let start = from; start < to; start += 7) {
      let bits = 0;
      for (let index = start; index < to && index < start + 7; index++)
        bits |= this.#isTaken[index]! << (index - start);
      zeros += String.fromCharCode(bits);
      if (bits === 0) continue;
      text += zeros;
      zeros = '';
    }
    return text;
  }

  #violation(): Found<Input, Output> {
    const { state, stuck } = this.#longest;
    return { kind: 'violation', state, stuck: stuck.map((index) => this.#effects[index]!) };
  }
}

/** Counts states. */
class Counts<State> {
  readonly #counts = new Map<State, number>();

  of(state: State): number {
    return this.#counts.get(state) ?? 0;
  }

  /** Does nothing without a state. */
  add(state: State | undefined, change: number): void {
    if (state !== undefined) this.#counts.set(state, this.of(state) + change);
  }
}
