// PurityVerification: whether the events of an entity alone make its state. Each life is folded once in a fresh
// instance and then in other ways that must come to the same: a second time, in batches of other sizes, beside
// other entities, in an instance in which handlers have run, and on from snapshots. What differs is found and
// named, with the first event at which it does.
//
// Invariants
// V1  Nothing of one fold is left for the next: each has an instance of its own.
// V2  A fold that ran out of fuel or memory is no finding: those depend on what is folded at once.
import type { CallContext } from '../model/call.ts';
import type { EntityRef, StoredEvent } from '../model/entity.ts';
import { GuestFault } from '../model/guest-fault.ts';
import { SvcError } from '@svc/kit/svc-error';
import type { Guest, GuestEntity } from '../engine/needs/guest.ts';
import type { AdmittedModule } from '../hosting/wasm/admission/admission.ts';
import type { GuestLog } from '../hosting/wasm/binding/guest-log.ts';
import { startWasmGuest } from '../hosting/wasm/wasm-guest.ts';
import type { WasmLimits } from '../hosting/wasm/wasm-limits.ts';
import { eventFailure, stateFailure } from './fold-failure.ts';
import {
  type BatchSizes,
  type Folded,
  type FoldedLife,
  SINGLE,
  UNEVEN,
  USUAL,
  atOnce,
  foldInto,
  stateOf,
} from './folded-life.ts';
import { sampleJson } from './sample-json.ts';
import { stateChanges } from './state-changes.ts';

/** Way → what is done differently, as a sentence's end. */
export const PURITY_WAYS = {
  'fresh-instance': 'a second time in a fresh instance',
  batches: 'in batches of another size',
  'other-entities': 'while other entities were folded in the same instance',
  'used-instance': 'in an instance in which commands and queries had run',
  snapshot: 'and its state was written, read and written again',
  'after-snapshot': 'on from a snapshot of its state',
} as const;
export type PurityWay = keyof typeof PURITY_WAYS;

export interface PurityFinding {
  readonly way: PurityWay;
  readonly entity: EntityRef;
  /** Of the first event at which the states differ. That before the first event: the empty states differ. */
  readonly seq: number;
  /** Of the first difference; empty: the whole state, undefined: there is none to compare. */
  readonly path: string | undefined;
  /** The state that a fresh instance makes, as JSON text. */
  readonly expected: string;
  /** The other state, or why there is none. */
  readonly found: Folded;
}

export type StartGuest = (log: GuestLog) => Guest;

interface Way {
  readonly name: PurityWay;
  /** The first `count` events. Undefined: this cannot be judged. */
  fold(count: number): Folded | undefined;
}

/** What handlers of an instance that is to be used may take: a call that loops shall not hold up all others. */
const HANDLER_FUEL = 20_000_000;
/** Of each of the other lives, beside which one is folded. */
const OTHER_EVENTS_MAX = 100;
const SPLITS = 8;
/** What takes an instance away where no handler does. */
const COMPANY = 'company';
const CONTEXT: CallContext = { nowMs: 1, seed: 0x5eed_5eed_5eed_5eedn, metadata: [] };
/** Such a fault may be of the company that an entity has. */
const EXHAUSTED = new Set(['fuel', 'memory', 'time', 'limit', 'stack']);

export class PurityVerification {
  readonly #start: StartGuest;
  /** Handlers that take their instance away. */
  readonly #harmful = new Set<string>();
  #log: GuestLog = () => {};

  constructor(start: StartGuest) {
    this.#start = start;
  }

  /** `log`: takes what the module logs while it folds. */
  static of(module: AdmittedModule, limits: WasmLimits, log: GuestLog = () => {}) {
    const { commandFuel, queryFuel } = limits;
    const bounded = {
      ...limits,
      commandFuel: Math.min(commandFuel, HANDLER_FUEL),
      queryFuel: Math.min(queryFuel, HANDLER_FUEL),
    };
    const verification = new PurityVerification((inner) => startWasmGuest(module, bounded, inner));
    verification.#log = log;
    return verification;
  }

  /** What a fresh instance makes of a life. Throws SVC_EVENT_UNREADABLE, SVC_FOLD_FAULTED. */
  stateOf(life: FoldedLife): string {
    return this.#expected(life, life.count);
  }

  /** Whether an instance takes the life in which handlers have run. */
  isFoldedWhenUsed(life: FoldedLife): boolean {
    return this.#inUsed(life, [], life.count)?.kind === 'state';
  }

  /** One finding of each way at most. `others`: lives to fold beside this one. Throws as `stateOf` does. */
  *findings(life: FoldedLife, others: readonly FoldedLife[] = []): Generator<PurityFinding> {
    const expected = this.#expected(life, life.count);
    const alone = (name: PurityWay, sizes: BatchSizes): Way => {
      return { name, fold: (count) => this.#alone(life, undefined, 0, count, sizes) };
    };
    const ways: readonly Way[] = [
      alone('fresh-instance', USUAL),
      alone('batches', SINGLE),
      alone('batches', UNEVEN),
      { name: 'other-entities', fold: (count) => this.#beside(life, others, count) },
      { name: 'used-instance', fold: (count) => this.#inUsed(life, others, count) },
    ];
    const named = new Set<PurityWay>();
    for (const way of ways) {
      if (named.has(way.name)) continue;
      const found = way.fold(life.count);
      if (found === undefined || isState(found, expected)) continue;
      named.add(way.name);
      yield this.#located(way, life, 0);
    }
    yield* this.#snapshotFindings(life, expected);
  }

  *#snapshotFindings(life: FoldedLife, expected: string): Generator<PurityFinding> {
    const again: Way = { name: 'snapshot', fold: (count) => this.#written(life, count) };
    let isWhole = true;
    for (const split of splitsOf(life.count)) {
      const snapshot = this.#known(life, split);
      if (snapshot === undefined) continue;
      const opened = this.#alone(life, snapshot, split, split, USUAL);
      if (opened !== undefined && !isState(opened, snapshot)) {
        if (isWhole) yield this.#located(again, life, 0, split);
        isWhole = false;
        continue;
      }
      const found = this.#alone(life, snapshot, split, life.count, USUAL);
      if (found === undefined || isState(found, expected)) continue;
      const fold = (count: number) => this.#alone(life, snapshot, split, count, USUAL);
      yield this.#located({ name: 'after-snapshot', fold }, life, split);
      return;
    }
  }

  /** By halving the events: they differ with the first `to` of them. */
  #located(way: Way, life: FoldedLife, from: number, to = life.count): PurityFinding {
    const found = (count: number) => {
      const expected = this.#known(life, count);
      const folded = expected === undefined ? undefined : way.fold(count);
      return expected === undefined || folded === undefined || isState(folded, expected)
        ? undefined
        : { expected, folded };
    };
    let [same, different] = [from, to];
    if (found(from) !== undefined) different = from;
    while (different - same > 1) {
      const middle = (same + different) >> 1;
      if (found(middle) === undefined) same = middle;
      else different = middle;
    }
    // What does not come about a second time is as it was the first time.
    const last = found(different);
    const expected = last?.expected ?? this.#expected(life, different);
    const other = last?.folded ?? { kind: 'problem', index: undefined, problem: 'it changes' };
    const path =
      other.kind === 'state' ? stateChanges(expected, other.state).changes[0]?.path : undefined;
    const { entity, firstSeq } = life;
    const seq = firstSeq - 1 + different;
    return { way: way.name, entity, seq, path, expected, found: other };
  }

  /** Throws where there is no state to compare with. */
  #expected(life: FoldedLife, count: number): string {
    const { entity, firstSeq } = life;
    let folded: Folded | undefined;
    // What is too much at once may be folded one by one, which also tells which event it is.
    for (const sizes of [USUAL, SINGLE]) {
      folded = this.#alone(life, undefined, 0, count, sizes, true)!;
      if (folded.kind === 'state') return folded.state;
    }
    const { index, problem } = folded as Exclude<Folded, { kind: 'state' }>;
    if (index !== undefined) throw eventFailure(entity, firstSeq + index, problem);
    throw stateFailure(entity, firstSeq - 1 + count, problem as GuestFault);
  }

  #known(life: FoldedLife, count: number): string | undefined {
    try {
      return this.#expected(life, count);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      return undefined;
    }
  }

  #written(life: FoldedLife, count: number): Folded | undefined {
    const snapshot = this.#known(life, count);
    return snapshot === undefined ? undefined : this.#alone(life, snapshot, count, count, USUAL);
  }

  /** In a fresh instance, from a snapshot of what is before `from` or from the empty state. */
  #alone(
    life: FoldedLife,
    snapshot: string | undefined,
    from: number,
    to: number,
    sizes: BatchSizes,
    isStrict = false,
  ): Folded | undefined {
    return this.#withGuest((guest) => {
      const folded = folding(() => {
        const entity = atOnce(guest.entities.open(life.entity, snapshot, true));
        return foldInto(entity, life, { from, to }, sizes) ?? stateOf(entity);
      });
      return isStrict ? folded : judged(folded);
    });
  }

  /** Event by event, each after the same one of a twin and of an entity of another id. */
  #beside(life: FoldedLife, others: readonly FoldedLife[], count: number): Folded | undefined {
    return this.#withGuest((guest) => {
      const other = others.find(({ entity }) => entity.component === life.entity.component) ?? life;
      const strangers = [...other.events(0, Math.min(count, OTHER_EVENTS_MAX))];
      return folding(() => {
        const open = (id: string) => atOnce(guest.entities.open({ ...life.entity, id }, undefined));
        const stranger = open(`${other.entity.id} (another)`);
        const twin = open(life.entity.id);
        const entity = open(life.entity.id);
        let index = 0;
        for (const event of life.events(0, count)) {
          const before = strangers[index];
          if (before !== undefined && !isFolded(stranger, before)) return undefined;
          const problem = foldOne(twin, life, index, event) ?? foldOne(entity, life, index, event);
          if (problem !== undefined) return judged(problem);
          index++;
        }
        return judged(stateOf(entity));
      });
    });
  }

  /** After handlers have run, other entities were folded and some were closed. */
  #inUsed(life: FoldedLife, others: readonly FoldedLife[], count: number): Folded | undefined {
    let company = [life, ...others];
    for (;;) {
      const folded = this.#withGuest((guest) => {
        const harmful = this.#use(guest, company);
        if (harmful !== undefined) return harmful;
        return folding(() => {
          const entity = atOnce(guest.entities.open(life.entity, undefined));
          return judged(foldInto(entity, life, { from: 0, to: count }) ?? stateOf(entity));
        });
      });
      if (typeof folded !== 'string') return folded;
      if (folded === COMPANY && company.length > 0) company = [];
      else if (this.#harmful.has(folded)) return undefined;
      else this.#harmful.add(folded);
    }
  }

  /** Answers what took the instance away: a handler, which is not run again, or the company. */
  #use(guest: Guest, lives: readonly FoldedLife[]): string | undefined {
    const { descriptor } = guest;
    const log = this.#log;
    // What handlers say of made-up calls is nobody's business.
    this.#log = () => {};
    try {
      for (const { component, commands, queries } of descriptor.entities) {
        const own = lives.filter(({ entity }) => entity.component === component);
        const open = (id: string) => atOnce(guest.entities.open({ component, id }, undefined));
        const entities = ['used', 'closed'].map(open);
        for (const [index, entity] of entities.entries()) {
          const life = own[index % own.length];
          if (life !== undefined)
            foldInto(entity, life, { from: 0, to: Math.min(life.count, OTHER_EVENTS_MAX) });
          if (entity.lost) return COMPANY;
        }
        const calls = [
          ...queries.map((one) => ({ ...one, kind: 'query' as const })),
          ...commands.map((one) => ({ ...one, kind: 'command' as const })),
        ];
        for (const { kind, name, input } of calls) {
          const handler = `${component} ${kind} ${name}`;
          if (this.#harmful.has(handler)) continue;
          const text = sampleJson(descriptor, input);
          if (!isCalled(() => entities[0]![kind](CONTEXT, name, text))) return handler;
        }
        entities[1]!.close();
      }
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      return COMPANY;
    } finally {
      this.#log = log;
    }
    return undefined;
  }

  #withGuest<T>(use: (guest: Guest) => T): T {
    const guest = this.#start((line) => this.#log(line));
    try {
      return use(guest);
    } finally {
      void guest.close();
    }
  }
}

function splitsOf(count: number): readonly number[] {
  if (count <= SPLITS) return Array.from({ length: count + 1 }, (_, index) => index);
  const even = Array.from({ length: SPLITS }, (_, index) => Math.floor((index * count) / SPLITS));
  return [...new Set([...even, 1, count - 1, count])].toSorted((a, b) => a - b);
}

function isState(folded: Folded, state: string): boolean {
  return folded.kind === 'state' && folded.state === state;
}

/** Undefined: what it ran out of may be the company's doing. */
function judged(folded: Folded | undefined): Folded | undefined {
  if (folded?.kind !== 'problem' || typeof folded.problem === 'string') return folded;
  return EXHAUSTED.has(folded.problem.faultCause) ? undefined : folded;
}

/** A fault at opening is a problem like any other. */
function folding(fold: () => Folded | undefined): Folded | undefined {
  try {
    return fold();
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return { kind: 'problem', index: undefined, problem: fault };
  }
}

function foldOne(guest: GuestEntity, life: FoldedLife, index: number, event: StoredEvent) {
  const one = { ...life, events: () => [event] };
  return foldInto(guest, one, { from: index, to: index + 1 });
}

function isFolded(guest: GuestEntity, event: StoredEvent): boolean {
  return isCalled(() => guest.apply([event], undefined));
}

function isCalled(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return false;
  }
}
