// PurityVerification checks whether the state of an entity depends on its events alone. It folds each incarnation in
// a fresh instance, then again in other ways that must yield the same state: a second time, in batches of other
// sizes, beside other entities, in an instance in which handlers have run, and from snapshots. It reports each
// difference with the first event at which the states differ.
//
// Invariants
// V1  Each fold has an instance of its own, so that no fold affects the next one. (Those of a program share a thread, and those of a
//     process its variables.)
// V2  A fold that reached a limit (EXHAUSTED) is no finding, because this may depend on the size of the batches.
import type { Awaitable, CallContext } from '@svc/model/call';
import type { StoredEvent } from '@svc/model/entity';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import type { Incarnation } from '../engine/entity/incarnation.ts';
import type { Guest, GuestEntity } from '@svc/model/guest';
import {
  type GuestSource,
  type HostingSettings,
  withHandlerFuel,
} from '../hosting/guest-source.ts';
import type { GuestLog } from '@svc/model/guest-log';
import { type GuestStarter, guestStarter } from '../hosting/start-guest.ts';
import { eventFailure, isOfSource, stateFailure } from './fold-failure.ts';
import {
  type Folded,
  type Unfolded,
  SINGLE,
  UNEVEN,
  DEFAULT_BATCHES,
  eventsOf,
  foldInto,
  foldOne,
  stateOf,
} from './folded-state.ts';
import type { FoldVariant, PurityFinding } from './purity-finding.ts';
import { sampleJson } from './sample-json.ts';
import { stateChanges } from './state-changes.ts';
import { answered, type Steps } from './steps.ts';

interface Variant {
  readonly name: FoldVariant;
  /** Folds the events up to `lastSeq`. Comes to undefined if this variant cannot be checked. */
  fold(lastSeq: number): Steps<Folded | undefined>;
}

/** Fuel of a handler that runs before a fold; low, so that an endless loop in a handler does not delay the check. */
const HANDLER_FUEL = 20_000_000;
/** Maximum number of events that are folded of each other incarnation in the same instance. */
const OTHER_EVENTS_MAX = 100;
/** Number of evenly spaced snapshots of a long incarnation; three more are at its edges. */
const SPLITS = 8;
/** Result of `#use` if the folds of other entities, and no handler, have made the instance unusable. */
const COMPANY = 'company';
const CONTEXT: CallContext = { nowMs: 1, seed: 0x5eed_5eed_5eed_5eedn, metadata: [] };
/** Causes of faults that depend on the size of the batches or on other entities in the same instance. */
const EXHAUSTED = new Set(['fuel', 'memory', 'time', 'limit', 'stack']);

/** Prepares starting the guests of a verification. Calls of their handlers have little fuel. */
export async function verifiedStarter(
  source: GuestSource,
  settings: HostingSettings,
): Promise<GuestStarter> {
  return guestStarter(source, withHandlerFuel(settings, HANDLER_FUEL));
}

export class PurityVerification {
  readonly #start: GuestStarter;
  /** Handlers that make their instance unusable. */
  readonly #harmful = new Set<string>();
  #log: GuestLog;

  /** `log`: receives what the guest logs while it folds. */
  constructor(start: GuestStarter, log: GuestLog = () => {}) {
    this.#start = start;
    this.#log = log;
  }

  /** Folds in a fresh instance, and returns JSON text. Throws SVC_EVENT_UNREADABLE, SVC_FOLD_FAULTED. */
  stateOf(incarnation: Incarnation): Steps<string> {
    return this.#expected(incarnation, incarnation.lastSeq);
  }

  /** Returns whether an instance in which handlers have run can fold the incarnation. */
  *isFoldedWhenUsed(incarnation: Incarnation): Steps<boolean> {
    return (yield* this.#inUsed(incarnation, [], incarnation.lastSeq))?.kind === 'state';
  }

  /** Reports at most one finding for each variant. `others`: folded beside this one. Throws as `stateOf` and `report` do. */
  *findings(
    incarnation: Incarnation,
    others: readonly Incarnation[],
    report: (finding: PurityFinding) => void,
  ): Steps<void> {
    const { afterSeq, lastSeq: endSeq } = incarnation;
    const expected = yield* this.#expected(incarnation, endSeq);
    const alone = (name: FoldVariant, sizes: readonly number[]): Variant => {
      return {
        name,
        fold: (lastSeq) => this.#alone(incarnation, undefined, { afterSeq, lastSeq }, sizes),
      };
    };
    const variants: readonly Variant[] = [
      alone('fresh-instance', DEFAULT_BATCHES),
      alone('batches', SINGLE),
      alone('batches', UNEVEN),
      { name: 'other-entities', fold: (lastSeq) => this.#beside(incarnation, others, lastSeq) },
      { name: 'used-instance', fold: (lastSeq) => this.#inUsed(incarnation, others, lastSeq) },
    ];
    const named = new Set<FoldVariant>();
    for (const variant of variants) {
      if (named.has(variant.name)) continue;
      const found = yield* variant.fold(endSeq);
      if (found === undefined || isState(found, expected)) continue;
      named.add(variant.name);
      report(yield* this.#located(variant, incarnation, afterSeq));
    }
    yield* this.#snapshotFindings(incarnation, expected, report);
  }

  *#snapshotFindings(
    incarnation: Incarnation,
    expected: string,
    report: (finding: PurityFinding) => void,
  ): Steps<void> {
    const { afterSeq, lastSeq: endSeq } = incarnation;
    const again: Variant = {
      name: 'snapshot',
      fold: (lastSeq) => this.#written(incarnation, lastSeq),
    };
    let isWhole = true;
    for (const split of splitsOf(afterSeq, endSeq)) {
      const snapshot = yield* this.#known(incarnation, split);
      if (snapshot === undefined) continue;
      const fold = (lastSeq: number) =>
        this.#alone(incarnation, snapshot, { afterSeq: split, lastSeq }, DEFAULT_BATCHES);
      const opened = yield* fold(split);
      if (opened !== undefined && !isState(opened, snapshot)) {
        if (isWhole) report(yield* this.#located(again, incarnation, afterSeq, split));
        isWhole = false;
        continue;
      }
      const found = yield* fold(endSeq);
      if (found === undefined || isState(found, expected)) continue;
      report(yield* this.#located({ name: 'after-snapshot', fold }, incarnation, split));
      return;
    }
  }

  /** Finds by bisection the first event after which the states differ: after `to` they do, after `from` perhaps. */
  *#located(
    variant: Variant,
    incarnation: Incarnation,
    from: number,
    to = incarnation.lastSeq,
  ): Steps<PurityFinding> {
    const found = (lastSeq: number) => this.#difference(variant, incarnation, lastSeq);
    let [same, different] = [from, to];
    if ((yield* found(from)) !== undefined) different = from;
    while (different - same > 1) {
      const middle = (same + different) >> 1;
      if ((yield* found(middle)) === undefined) same = middle;
      else different = middle;
    }
    // A difference that does not occur again is reported as it was first found.
    const last = yield* found(different);
    const expected = last?.expected ?? (yield* this.#expected(incarnation, different));
    const other = last?.folded ?? { kind: 'problem', seq: undefined, problem: 'it changes' };
    const path =
      other.kind === 'state' ? stateChanges(expected, other.state).changes[0]?.path : undefined;
    return {
      way: variant.name,
      entity: incarnation.entity,
      seq: different,
      path,
      expected,
      found: other,
    };
  }

  *#difference(
    variant: Variant,
    incarnation: Incarnation,
    lastSeq: number,
  ): Steps<{ readonly expected: string; readonly folded: Folded } | undefined> {
    const expected = yield* this.#known(incarnation, lastSeq);
    const folded = expected === undefined ? undefined : yield* variant.fold(lastSeq);
    return expected === undefined || folded === undefined || isState(folded, expected)
      ? undefined
      : { expected, folded };
  }

  /** Comes to the state that a fresh instance yields, as JSON text. Throws if it yields none. */
  *#expected(incarnation: Incarnation, lastSeq: number): Steps<string> {
    const { entity, afterSeq } = incarnation;
    let folded: Folded | undefined;
    // A batch that is too large may be folded one by one, which also locates the event that fails.
    for (const sizes of [DEFAULT_BATCHES, SINGLE]) {
      folded = (yield* this.#alone(incarnation, undefined, { afterSeq, lastSeq }, sizes, true))!;
      if (folded.kind === 'state') return folded.state;
    }
    const { seq, problem } = folded as Unfolded;
    if (seq !== undefined) throw eventFailure(entity, seq, problem);
    throw stateFailure(entity, lastSeq, problem as GuestFault);
  }

  *#known(incarnation: Incarnation, lastSeq: number): Steps<string | undefined> {
    try {
      return yield* this.#expected(incarnation, lastSeq);
    } catch (error) {
      if (!(error instanceof SvcError) || isOfSource(error)) throw error;
      return undefined;
    }
  }

  *#written(incarnation: Incarnation, lastSeq: number): Steps<Folded | undefined> {
    const snapshot = yield* this.#known(incarnation, lastSeq);
    if (snapshot === undefined) return undefined;
    return yield* this.#alone(
      incarnation,
      snapshot,
      { afterSeq: lastSeq, lastSeq },
      DEFAULT_BATCHES,
    );
  }

  /** Folds in a fresh instance, from the empty state or from a snapshot after the record `afterSeq`. */
  #alone(
    incarnation: Incarnation,
    snapshot: string | undefined,
    range: { readonly afterSeq: number; readonly lastSeq: number },
    sizes: readonly number[],
    isStrict = false,
  ): Steps<Folded | undefined> {
    return this.#withGuest(function* foldAlone(guest) {
      const folded = yield* folding(function* fold() {
        const entity = yield* answered(guest.entities.open(incarnation.entity, snapshot, true));
        return (yield* foldInto(entity, incarnation, range, sizes)) ?? (yield* stateOf(entity));
      });
      return isStrict ? folded : judged(folded);
    });
  }

  /** Folds event by event. Before each event, another entity folds one, and a twin with the same id the same one. */
  #beside(
    incarnation: Incarnation,
    others: readonly Incarnation[],
    lastSeq: number,
  ): Steps<Folded | undefined> {
    const { entity: ref, afterSeq } = incarnation;
    return this.#withGuest(function* foldBeside(guest) {
      const other = others.find(({ entity }) => entity.component === ref.component) ?? incarnation;
      const strangerEvents = Math.min(lastSeq - afterSeq, OTHER_EVENTS_MAX);
      const strangers = yield* eventsOf(other, seqAfter(other, strangerEvents));
      return yield* folding(function* fold() {
        const open = (id: string) => answered(guest.entities.open({ ...ref, id }, undefined));
        const stranger = yield* open(`${other.entity.id} (another)`);
        const twin = yield* open(ref.id);
        const entity = yield* open(ref.id);
        for (let seq = afterSeq; seq < lastSeq;) {
          const page = yield* answered(incarnation.eventsAfter(seq));
          if (page.length === 0) break;
          for (const event of page.slice(0, lastSeq - seq)) {
            const before = strangers[seq - afterSeq];
            if (before !== undefined && !(yield* isFolded(stranger, before))) return undefined;
            seq++;
            const problem =
              (yield* foldOne(twin, seq, event)) ?? (yield* foldOne(entity, seq, event));
            if (problem !== undefined) return judged(problem);
          }
        }
        return judged(yield* stateOf(entity));
      });
    });
  }

  /** Folds after handlers have run, and other entities were folded and some of them closed. */
  *#inUsed(
    incarnation: Incarnation,
    others: readonly Incarnation[],
    lastSeq: number,
  ): Steps<Folded | undefined> {
    const { entity: ref, afterSeq } = incarnation;
    const foldUsed = function* foldUsed(guest: Guest): Steps<Folded | undefined> {
      const entity = yield* answered(guest.entities.open(ref, undefined));
      const range = { afterSeq, lastSeq };
      return judged((yield* foldInto(entity, incarnation, range)) ?? (yield* stateOf(entity)));
    };
    let company = [incarnation, ...others];
    for (;;) {
      const use = (guest: Guest) => this.#use(guest, company);
      const folded = yield* this.#withGuest(function* foldInUsed(guest) {
        return (yield* use(guest)) ?? (yield* folding(() => foldUsed(guest)));
      });
      if (typeof folded !== 'string') return folded;
      if (folded === COMPANY && company.length > 0) company = [];
      else if (this.#harmful.has(folded)) return undefined;
      else this.#harmful.add(folded);
    }
  }

  /** Runs handlers in an instance. Comes to the handler that made it unusable, or COMPANY; undefined if it is usable. */
  *#use(guest: Guest, incarnations: readonly Incarnation[]): Steps<string | undefined> {
    const { descriptor } = guest;
    const log = this.#log;
    // Logs of handlers that are called with generated input are discarded.
    this.#log = () => {};
    try {
      for (const { component, commands, queries } of descriptor.entities) {
        const own = incarnations.filter(({ entity }) => entity.component === component);
        const open = (id: string) => answered(guest.entities.open({ component, id }, undefined));
        const entities = [yield* open('used'), yield* open('closed')] as const;
        for (const [index, entity] of entities.entries()) {
          const folded = own[index % own.length];
          if (folded !== undefined) {
            const lastSeq = seqAfter(folded, OTHER_EVENTS_MAX);
            yield* foldInto(entity, folded, { afterSeq: folded.afterSeq, lastSeq });
          }
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
          if (!(yield* isCalled(() => entities[0][kind](CONTEXT, name, text)))) return handler;
        }
        entities[1].close();
      }
    } catch (fault) {
      if (!(fault instanceof GuestFault)) throw fault;
      return COMPANY;
    } finally {
      this.#log = log;
    }
    return undefined;
  }

  *#withGuest<T>(use: (guest: Guest) => Steps<T>): Steps<T> {
    const guest = this.#start((line) => this.#log(line));
    try {
      return yield* use(guest);
    } finally {
      void guest.close();
    }
  }
}

/** Returns sequence numbers of events after which the state is encoded and decoded. */
function splitsOf(afterSeq: number, lastSeq: number): readonly number[] {
  const count = lastSeq - afterSeq;
  if (count <= SPLITS) return Array.from({ length: count + 1 }, (_, index) => afterSeq + index);
  const even = Array.from({ length: SPLITS }, (_, index) => Math.floor((index * count) / SPLITS));
  const splits = [...new Set([...even, 1, count - 1, count])].toSorted((a, b) => a - b);
  return splits.map((split) => afterSeq + split);
}

/** Returns the sequence number of the last of the first `count` events. */
function seqAfter({ afterSeq, lastSeq }: Incarnation, count: number): number {
  return Math.min(afterSeq + count, lastSeq);
}

function isState(folded: Folded, state: string): boolean {
  return folded.kind === 'state' && folded.state === state;
}

/** Returns the result; undefined for a fault that the size of the batches or other entities may have caused. */
function judged(folded: Folded | undefined): Folded | undefined {
  if (folded?.kind !== 'problem' || typeof folded.problem === 'string') return folded;
  return EXHAUSTED.has(folded.problem.faultCause) ? undefined : folded;
}

/** Folds, and treats a fault at opening like any other fault. */
function* folding(fold: () => Steps<Folded | undefined>): Steps<Folded | undefined> {
  try {
    return yield* fold();
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return { kind: 'problem', seq: undefined, problem: fault };
  }
}

function isFolded(guest: GuestEntity, event: StoredEvent): Steps<boolean> {
  return isCalled(() => guest.apply([event], undefined));
}

function* isCalled(call: () => Awaitable<unknown>): Steps<boolean> {
  try {
    yield* answered(call());
    return true;
  } catch (fault) {
    if (!(fault instanceof GuestFault)) throw fault;
    return false;
  }
}
