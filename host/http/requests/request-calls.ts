// RequestCalls: what the handler of one request asks of the host, and what it is told.
//
// A handler is first run where it cannot wait, and told of a call what is foreseen: what will be answered
// unless a write fails. When it asks for more than that, or what was foreseen does not come true, it is run
// again where it can wait. It is deterministic, so it asks the same until there: it is told the same, and
// the calls are not made a second time. No handler can tell that it was run twice, and no entity.
//
// Its clock cannot lead it elsewhere: where it cannot wait it has the time of its request, and so it has, run
// again, until it is told the last of the calls that were made. Of these only the last may be not on disk
// yet, and no other was made after it. What it reads behind that, later times, leads to new calls.
//
// Invariants: a call that finds the turn of the event loop used up waits for a later one, also where all that
// it asks for is there. Once nobody waits for the answer, what the handler waits for fails, and every call
// after it.
import assert from 'node:assert';
import type { EntityEngine } from '../../engine/entity-engine.ts';
import type { CallAhead } from '../../engine/entity/entity-call.ts';
import type { Clock } from '../../engine/needs/clock.ts';
import type { HostCalls } from '../../engine/needs/guest.ts';
import { LoopTurn } from './loop-turn.ts';
import type { Awaitable, Refusal, Reply } from '../../model/call.ts';
import type { EntityRef } from '../../model/entity.ts';
import { callFailure, readFailure } from '../../model/call-failure.ts';
import { GuestFault } from '../../model/guest-fault.ts';
import type { KeptBytes } from '../../model/kept-bytes.ts';
import { CallFailures } from './call-failures.ts';
import { countInput, countUnfinished, keepInput } from './call-input.ts';
import { type RequestKeys, checkOwnKey, ownKey } from './request-keys.ts';

/** What is known of a call whose answer is not due yet. */
export interface RoutedCall extends CallAhead {
  /** It was sent to another shard. */
  readonly isElsewhere?: boolean;
}

export interface CallableEngine extends Pick<EntityEngine, 'call' | 'readEvents'> {
  readonly callAhead?: (...call: Parameters<EntityEngine['callAhead']>) => Outcome | RoutedCall;
}

/**
 * UTF-16 units of calls and answers that are kept to be told again. A handler that wants more is run where
 * none of it is kept.
 */
const KEPT_UNITS_MAX = 1024 * 1024;
const BYTES_PER_UNIT = 2;

type Call = Parameters<HostCalls['call']>;
type Outcome = Reply | Refusal;

/** A call that was made, and how it ended: with an answer, or else with a failure. */
interface Made {
  readonly call: Call;
  answer: Awaitable<Outcome> | undefined;
  failure?: unknown;
}

export class RequestCalls implements HostCalls {
  /** Undefined: the handler runs where it can wait. */
  callAhead: ((...call: Call) => Outcome | undefined) | undefined;
  /** When the request came, which is the time of its handler until it has waited. */
  readonly requestMs: number;
  readonly #engine: CallableEngine;
  readonly #clock: Clock;
  readonly #turn: LoopTurn;
  readonly #keys: RequestKeys | undefined;
  readonly #kept: KeptBytes | undefined;
  /** What was told where it could not wait; told again from `#retold` on. */
  readonly #made: Made[] = [];
  #keptUnits = 0;
  #retold = 0;
  /** Of the last call, which was told before it is on disk. */
  #ahead: { readonly foreseen: Outcome; readonly answer: Promise<Outcome> } | undefined;
  /** Settles, and never rejects, when the last call has come back from another shard. */
  #elsewhere: Promise<void> | undefined;
  #hasWaitedElsewhere = false;
  #firstElsewhere: EntityRef | undefined;
  /** Of the calls that were made, how many the handler is still told again where it cannot wait. */
  #toTellAgain = 0;
  #failures: CallFailures | undefined;
  /** The first call comes right after the handler has begun, which was not in a turn that is used up. */
  #hasCalled = false;
  #cancelReason: GuestFault | undefined;
  /** Fails what the handler waits for. */
  #failWait: ((reason: GuestFault) => void) | undefined;

  /** `keys`: of a request that has an idempotency key. `kept`: where is counted what is kept to be told again. */
  constructor(
    engine: CallableEngine,
    clock: Clock,
    turn = new LoopTurn(),
    keys?: RequestKeys,
    kept?: KeptBytes,
  ) {
    this.#kept = kept;
    this.#engine = engine;
    this.#clock = clock;
    this.requestMs = clock.nowMs();
    this.#turn = turn;
    this.#keys = keys;
    // oxlint-disable-next-line typescript/unbound-method -- not bound by a closure: it is called as this one's own
    if (engine.callAhead !== undefined) this.callAhead = this.#callAhead;
  }

  nowMs(): number {
    // What it is told again may wait for a turn, which it did not the first time.
    return this.#retold < this.#made.length ? this.requestMs : this.#clock.nowMs();
  }

  call(...call: Call): Awaitable<Outcome> {
    const made = this.#made[this.#retold];
    if (made === undefined) {
      const [target, name, input, metadata] = call;
      const key = this.#keyOf(target, name, call[4]);
      const make = (): Awaitable<Outcome> => {
        checkOwnKey(call[4], target, name);
        return this.#engine.call(target, name, input, metadata, key);
      };
      // The input is there while the call waits for a turn as well.
      return this.#asked(() => countInput(this.#kept, callBytes(call), () => this.#inTurn(make)));
    }
    checkSame(made.call, call);
    this.#retold++;
    return this.#asked(() => this.#inTurn(() => made.answer ?? thrown(made.failure)));
  }

  readEvents(...range: Parameters<HostCalls['readEvents']>): ReturnType<HostCalls['readEvents']> {
    return this.#asked(() => this.#inTurn(() => this.#engine.readEvents(...range)), readFailure);
  }

  /** The failure that an answer of the handler passes on; undefined when the answer is the handler's own word. */
  failurePassedOnBy(answer: Refusal): unknown {
    return this.#failures?.passedOnBy(answer);
  }

  fromElsewhere(): Promise<void> | undefined {
    const elsewhere = this.#elsewhere;
    this.#elsewhere = undefined;
    // Each time the handler computes all that it has computed before.
    if (elsewhere === undefined || this.#hasWaitedElsewhere) return undefined;
    this.#hasWaitedElsewhere = true;
    this.#toTellAgain = this.#made.length;
    return this.#waited(elsewhere);
  }

  /** Of the first call, if it was sent to another shard. */
  get firstElsewhere(): EntityRef | undefined {
    return this.#firstElsewhere;
  }

  get cancelReason(): GuestFault | undefined {
    return this.#cancelReason;
  }

  /** Nobody waits for the handler's answer any more. */
  cancel(reason: GuestFault): void {
    this.#cancelReason = reason;
    const last = this.#made.at(-1);
    if (last?.answer instanceof Promise && this.#kept !== undefined)
      countUnfinished(this.#kept, callBytes(last.call), last.answer);
    this.#failWait?.(reason);
  }

  /** Whether the handler was told what is not on disk yet. */
  get isAhead(): boolean {
    return this.#ahead !== undefined;
  }

  /** Whether what it was told has come true; it waits until that is known. */
  async cameTrue(): Promise<boolean> {
    assert(this.#ahead !== undefined);
    const { foreseen, answer } = this.#ahead;
    try {
      return (await answer) === foreseen;
    } catch {
      return false;
    }
  }

  /** What is kept to be told again, in bytes. */
  get keptBytes(): number {
    return this.#keptUnits * BYTES_PER_UNIT;
  }

  runAgain(): boolean {
    this.callAhead = undefined;
    this.#ahead = undefined;
    this.#failures = undefined;
    this.#retold = 0;
    return this.#made.length > 0;
  }

  /** Makes the call. Undefined: what comes of it has to be waited for, or the call itself has to wait. */
  #callAhead(
    target: Call[0],
    name: Call[1],
    input: Call[2],
    metadata: Call[3],
    key: Call[4],
  ): Outcome | undefined {
    if (this.#toTellAgain > 0) return this.#toldAgain([target, name, input, metadata, key]);
    // What it would ask may follow from what is not on disk.
    if (this.#ahead !== undefined || this.#mustTurn()) return undefined;
    if (this.#keptUnits > KEPT_UNITS_MAX) return undefined;
    const call: Call = [target, name, input, metadata, key];
    this.#keptUnits += callUnits(call);
    const keyOfCall = this.#keyOf(target, name, key);
    let answer: ReturnType<NonNullable<CallableEngine['callAhead']>>;
    try {
      keepInput(this.#kept, this.keptBytes);
      checkOwnKey(key, target, name);
      answer = this.#engine.callAhead!(target, name, input, metadata, keyOfCall);
    } catch (error) {
      // The handler has left the entity too little of the stack that they share here, and nothing was done.
      if (error instanceof GuestFault && error.limit === 'stack') {
        this.#keys?.takeBack(target, name);
        return undefined;
      }
      this.#made.push({ call, answer: undefined, failure: error });
      return this.#noticed(error);
    }
    if ('kind' in answer) {
      this.#keptUnits += outcomeUnits(answer);
      this.#made.push({ call, answer });
      return answer;
    }
    const { foreseen, answer: later, isElsewhere = false } = answer;
    const made: Made = { call, answer: later };
    this.#made.push(made);
    if (isElsewhere) {
      this.#elsewhere = this.#settled(made, later);
      if (this.#made.length === 1) this.#firstElsewhere = target;
      // Whoever asks for it sees how it ended; perhaps nobody does.
    } else later.catch(() => {});
    if (foreseen !== undefined) this.#ahead = { foreseen, answer: later };
    return foreseen;
  }

  /** Of a call that is made now: what the handler has set, or else what the request has. */
  #keyOf(target: Call[0], name: string, handlerKey: string | undefined): string | undefined {
    const key = this.#keys?.next(target, name);
    return handlerKey === undefined ? key : ownKey(handlerKey);
  }

  /** Undefined: it has not come back yet. */
  #toldAgain(again: Call): Outcome | undefined {
    const { call, answer, failure } = this.#made[this.#made.length - this.#toTellAgain]!;
    checkSame(call, again);
    this.#toTellAgain--;
    if (answer instanceof Promise) return undefined;
    return answer ?? this.#noticed(failure);
  }

  /** Keeps how a call ended that was sent to another shard. */
  async #settled(made: Made, later: Promise<Outcome>): Promise<void> {
    try {
      made.answer = await later;
      this.#keptUnits += outcomeUnits(made.answer);
      this.#kept?.become(this.keptBytes);
    } catch (error) {
      made.answer = undefined;
      made.failure = error;
    }
  }

  #mustTurn(): boolean {
    const isFirst = !this.#hasCalled;
    this.#hasCalled = true;
    return !isFirst && this.#turn.isUsedUp();
  }

  /** Stays synchronous where the call does. `told`: what the module is told of a failure. */
  #asked<T>(call: () => Awaitable<T>, told = callFailure): Awaitable<T> {
    // Since it waited last; what it used is not known before its end.
    this.#turn.hasComputed();
    if (this.#cancelReason !== undefined) throw this.#cancelReason;
    try {
      const answer = call();
      return answer instanceof Promise ? this.#waited(answer, told) : answer;
    } catch (error) {
      return this.#noticed(error, told);
    }
  }

  /** Calls at once, or in a later turn of the event loop when this one is used up. */
  #inTurn<T>(call: () => Awaitable<T>): Awaitable<T> {
    if (!this.#mustTurn()) return call();
    return this.#turn.next().then(() => {
      if (this.#cancelReason !== undefined) throw this.#cancelReason;
      return call();
    });
  }

  /** As the promise, or failed before it by `cancel`. */
  #waited<T>(answer: Promise<T>, told = callFailure): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#failWait = reject;
      answer.then(resolve, (error: unknown) => {
        this.#addFailure(error, told);
        reject(error);
      });
    });
  }

  #noticed(error: unknown, told = callFailure): never {
    this.#addFailure(error, told);
    throw error;
  }

  #addFailure(error: unknown, told: typeof callFailure): void {
    this.#failures ??= new CallFailures();
    this.#failures.add(error, told(error));
  }
}

function checkSame(made: Call, again: Call): void {
  if (!isSame(made, again))
    throw new GuestFault('trap', 'a handler that was run again made another call');
}

function isSame([target, name, input, metadata, key]: Call, again: Call): boolean {
  const [targetAgain, nameAgain, inputAgain, metadataAgain, keyAgain] = again;
  return (
    target.component === targetAgain.component &&
    target.id === targetAgain.id &&
    name === nameAgain &&
    input === inputAgain &&
    key === keyAgain &&
    metadata.length === metadataAgain.length &&
    metadata.every(([field, value], index) => {
      const [fieldAgain, valueAgain] = metadataAgain[index]!;
      return field === fieldAgain && value === valueAgain;
    })
  );
}

function callUnits([{ component, id }, name, input, metadata, key = '']: Call): number {
  let units = component.length + id.length + name.length + input.length + key.length;
  for (const [field, value] of metadata) units += field.length + value.length;
  return units;
}

function callBytes(call: Call): number {
  return callUnits(call) * BYTES_PER_UNIT;
}

function outcomeUnits(outcome: Outcome): number {
  if (outcome.kind === 'reply') return outcome.json.length;
  const { message, details = '', otherCode = '' } = outcome;
  return message.length + details.length + otherCode.length;
}

function thrown(error: unknown): never {
  throw error;
}
