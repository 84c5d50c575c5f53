// RequestCalls serves the calls of one request's handler: speculative execution first, deterministic replay if need be.
//
// The handler runs first on an instance that cannot suspend. There a call of an entity gives it a speculative result: what
// the entity will answer unless its write fails. The answer of the handler is sent only after the write has confirmed the
// result (request-handler.ts). A query of a view gives it a page, which is final. If the handler has to wait, or the result
// is not confirmed, the handler is replayed from its beginning on an instance that can suspend. A replayed call or query gets
// the recorded result and is not made a second time.
// Calls of entities in another shard have no speculative result; once the answer has come, the handler is replayed without
// suspending, at most once.
//
// Invariants:
// R1  At most one result is speculative, and it is that of the last call. The handler calls nothing after it, so nothing
//     that happens elsewhere can depend on a write that may fail.
// R2  A replay makes the recorded calls in the same order with the same arguments, which is checked; a handler is
//     deterministic. Only calls after the last recorded one reach an entity or a view.
// R3  Until the last recorded call the handler's clock is the time of its request, in the first run and in a replay. It
//     advances only where new calls follow.
// R4  A call made when the event-loop budget is used up yields first, even when its result is there. The first call of
//     the handler does not: the budget was checked just before the handler began.
// R5  After the request was cancelled, the call that waits fails, and so does every later call.
import assert from 'node:assert';
import type { WallClock } from '../../engine/needs/clock.ts';
import type { HostCalls } from '@svc/model/guest';
import { EventLoopBudget } from './event-loop-budget.ts';
import type { Awaitable, Metadata, Refusal } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import { callFailure, readFailure } from '@svc/model/call-failure';
import { GuestFault } from '@svc/model/guest-fault';
import type { KeptBytes } from '@svc/model/kept-bytes';
import type { Timer, TimerChange } from '@svc/model/timer';
import type { CalledServices, ServiceRequest, ServiceResponse } from '@svc/model/service-call';
import type { RowPage, RowQuery } from '@svc/model/view';
import { CallFailures } from './call-failures.ts';
import type { CallableEngine } from './callable-engine.ts';
import { countInput, countUnfinished, keepInput } from './call-input.ts';
import {
  BYTES_PER_UNIT,
  type Call,
  callBytes,
  callUnits,
  type Outcome,
  outcomeUnits,
  type RecordedCall,
  RecordedCalls,
} from './recorded-calls.ts';
import { type RequestFinds, rowQuery } from './request-finds.ts';
import { type RequestKeys, checkOwnKey, ownKey } from './request-keys.ts';
import { RequestServices } from './request-services.ts';

/**
 * UTF-16 units of calls and results that are recorded for a replay. A handler that exceeds them is replayed where it can
 * suspend, and records no more.
 */
const KEPT_UNITS_MAX = 1024 * 1024;
export class RequestCalls implements HostCalls {
  /** Undefined while the handler runs where it can suspend. */
  speculate: ((...call: Call) => Outcome | undefined) | undefined;
  /** Time at which the request came. The handler's clock reports it until the handler has waited. */
  readonly requestMs: number;
  /** Metadata of the request. Its trace is that of the timers that the handler sets. */
  metadata: Metadata = [];
  /** Other services; undefined if the service cannot call them. */
  services: CalledServices | undefined;
  /** Queries of views; absent if the service has none. */
  find: HostCalls['find'];
  /** Absent where `find` is, and where `speculate` is. */
  findAtOnce: HostCalls['findAtOnce'];
  #finds: RequestFinds | undefined;
  /** Undefined until the handler makes a request to another service. */
  #requests: RequestServices | undefined;
  readonly #engine: CallableEngine;
  readonly #clock: WallClock;
  readonly #eventLoop: EventLoopBudget;
  readonly #keys: RequestKeys | undefined;
  readonly #kept: KeptBytes | undefined;
  /** Calls that were made where the handler could not suspend. */
  readonly #recorded = new RecordedCalls();
  /** The result of the last call, if it is speculative (R1). */
  #speculation: { readonly speculative: Outcome; readonly answer: Promise<Outcome> } | undefined;
  /** Resolves, and never rejects, when another shard has answered the last call; undefined: there is no wait. */
  #remote: Promise<void> | undefined;
  #hasAwaitedRemote = false;
  #firstRemoteTarget: EntityRef | undefined;
  #failures: CallFailures | undefined;
  /** False before the first call, which needs no check of the budget: it was checked just before the handler began. */
  #hasCalled = false;
  #cancelReason: GuestFault | undefined;
  /** Rejects the promise for which the handler waits; undefined before the first one. */
  #failWait: ((reason: GuestFault) => void) | undefined;

  /** `keys`: present when the request has an idempotency key. `kept`: counts the memory of recorded calls. */
  constructor(
    engine: CallableEngine,
    clock: WallClock,
    eventLoop = new EventLoopBudget(),
    keys?: RequestKeys,
    kept?: KeptBytes,
  ) {
    this.#kept = kept;
    this.#engine = engine;
    this.#clock = clock;
    this.requestMs = clock.nowMs();
    this.#eventLoop = eventLoop;
    this.#keys = keys;
    // oxlint-disable-next-line typescript/unbound-method -- called as a method of this object; a closure would cost an allocation for each request
    if (engine.speculate !== undefined) this.speculate = this.#speculate;
  }

  nowMs(): number {
    // A replayed call may yield where the first run did not, which must not change the time (R3).
    return this.#recorded.isReplayed ? this.#clock.nowMs() : this.requestMs;
  }

  /** Lets the handler make queries of views. Call it before the handler begins. */
  allowFinds(finds: RequestFinds): void {
    this.#finds = finds;
    const find: HostCalls['find'] = (...given) => {
      const query = rowQuery(given);
      const page = this.#recorded.nextPage(query);
      return this.#attempt(() => this.#withinBudget(() => page ?? finds.find(query)));
    };
    this.find = find;
    // A query would have to wait, so the handler would be run twice.
    if (finds.mustWait) this.speculate = undefined;
    const findAtOnce: HostCalls['findAtOnce'] = (...query) =>
      this.#findAtOnce(finds, rowQuery(query));
    if (this.speculate !== undefined) this.findAtOnce = findAtOnce;
  }

  /** Makes and records a query. Returns undefined if it has to wait. */
  #findAtOnce(finds: RequestFinds, query: RowQuery): RowPage | Refusal | undefined {
    const recorded = this.#recorded.nextPage(query);
    if (recorded !== undefined) return recorded;
    if (!this.#mayCall()) return undefined;
    const page = finds.findAtOnce(query);
    if (page !== undefined) this.#recorded.addFind(query, page);
    return page;
  }

  call(...call: Call): Awaitable<Outcome> {
    const finds = this.#finds;
    return finds === undefined
      ? this.#call(call)
      : finds.noted(call[0], call[1], () => this.#call(call));
  }

  #call(call: Call): Awaitable<Outcome> {
    const recorded = this.#recorded.nextCall(call);
    if (recorded === undefined) {
      const [target, name, input, metadata] = call;
      const key = this.#keyOf(target, name, call[4]);
      const make = (): Awaitable<Outcome> => {
        checkOwnKey(call[4], target, name);
        return this.#engine.call(target, name, input, metadata, key);
      };
      return this.#counted(callBytes(call), make);
    }
    const replay = (): Awaitable<Outcome> => {
      if (recorded.answer === undefined) throw recorded.failure;
      return recorded.answer;
    };
    return this.#attempt(() => this.#withinBudget(replay));
  }

  scopeKeys(scope: string): void {
    this.#keys?.scope(scope);
  }

  readEvents(...range: Parameters<HostCalls['readEvents']>): ReturnType<HostCalls['readEvents']> {
    // Reads are made one at a time. A page is large, and the handlers that continue in one turn of the event loop would
    // otherwise have all their pages in memory together.
    const read = async () => {
      if (this.#cancelReason !== undefined) throw this.#cancelReason;
      return this.#engine.readEvents(...range);
    };
    return this.#attempt(() => this.#withinBudget(() => this.#eventLoop.alone(read)), readFailure);
  }

  setTimer(timer: Timer): Awaitable<void> {
    return this.#changeTimer(timer.target, { kind: 'set', timer }, timer.input.length);
  }

  cancelTimer(owner: EntityRef, name: string): Awaitable<void> {
    return this.#changeTimer(owner, { kind: 'cancel', name }, 0);
  }

  /**
   * Changes a timer. A handler that changes one can wait, and is not run again (R2), so the change is made once, and is
   * not recorded. It counts from the handler's time: a consumer that handles its event again sets the same timer.
   */
  #changeTimer(owner: EntityRef, change: TimerChange, units: number): Awaitable<void> {
    return this.#counted(units * BYTES_PER_UNIT, () =>
      this.#engine.changeTimers(owner, [change], this.metadata, this.nowMs()),
    );
  }

  /** Makes a request, which is made once and not recorded for the reason that applies to a change of a timer. */
  request(request: ServiceRequest): Awaitable<ServiceResponse> {
    const requests = (this.#requests ??= new RequestServices(this.services));
    return this.#counted(request.body.length, () => requests.send(request, this.metadata));
  }

  /** Returns the failure of a call that the handler passes on as its answer; undefined if the refusal is the handler's own. */
  failurePassedOnBy(answer: Refusal): unknown {
    return this.#failures?.passedOnBy(answer);
  }

  /** Whether the error is the failure of one of the calls. */
  hasFailedWith(error: unknown): boolean {
    return this.#failures?.has(error) === true;
  }

  /** The newest failure of a call, a query or a read whose cause is the runtime; undefined: there is none. */
  get failureOfRuntime(): unknown {
    return this.#failures?.ofRuntime;
  }

  remoteAnswer(): Promise<void> | undefined {
    const remote = this.#remote;
    this.#remote = undefined;
    // Each replay repeats the computation before the call, so a handler is replayed for a remote answer only once.
    if (remote === undefined || this.#hasAwaitedRemote) return undefined;
    this.#hasAwaitedRemote = true;
    this.#recorded.beginReplay();
    return this.#cancellable(remote);
  }

  /** The entity of the handler's first call, if another shard owns it. */
  get firstRemoteTarget(): EntityRef | undefined {
    return this.#firstRemoteTarget;
  }

  get cancelReason(): GuestFault | undefined {
    return this.#cancelReason;
  }

  /** Cancels the request, whose caller does not wait for the answer any more. */
  cancel(reason: GuestFault): void {
    this.#cancelReason = reason;
    const { last } = this.#recorded;
    if (last?.answer instanceof Promise && this.#kept !== undefined)
      countUnfinished(this.#kept, callBytes(last.call), last.answer);
    this.#requests?.cancel(reason);
    this.#failWait?.(reason);
  }

  /** Whether the last result that the handler got was speculative. */
  get isSpeculative(): boolean {
    return this.#speculation !== undefined;
  }

  /** Resolves when the write has settled: whether the speculative result was confirmed. Call it only when `isSpeculative`. */
  async isConfirmed(): Promise<boolean> {
    assert(this.#speculation !== undefined);
    const { speculative, answer } = this.#speculation;
    try {
      return (await answer) === speculative;
    } catch {
      return false;
    }
  }

  /** Memory of the recorded calls and results, in bytes. */
  get keptBytes(): number {
    return this.#recorded.bytes;
  }

  beginReplay(): boolean {
    this.speculate = undefined;
    this.#speculation = undefined;
    this.#failures = undefined;
    this.#recorded.beginReplay();
    return !this.#recorded.isEmpty;
  }

  /** Makes and records a call. Returns undefined if its result, or the call itself, has to wait. */
  #speculate(
    target: Call[0],
    name: Call[1],
    input: Call[2],
    metadata: Call[3],
    key: Call[4],
  ): Outcome | undefined {
    const call: Call = [target, name, input, metadata, key];
    this.#finds?.note(target, name);
    const replayed = this.#recorded.nextCall(call);
    if (replayed !== undefined) return this.#resultOf(replayed);
    if (!this.#mayCall()) return undefined;
    this.#recorded.units += callUnits(call);
    const keyOfCall = this.#keyOf(target, name, key);
    let answer: ReturnType<NonNullable<CallableEngine['speculate']>>;
    try {
      keepInput(this.#kept, this.keptBytes);
      checkOwnKey(key, target, name);
      answer = this.#engine.speculate!(target, name, input, metadata, keyOfCall);
    } catch (error) {
      // The entity runs on the handler's stack here, and too little of the stack was left. Nothing was executed.
      if (error instanceof GuestFault && error.limit === 'stack') {
        this.#keys?.takeBack(target, name);
        return undefined;
      }
      this.#recorded.add({ call, answer: undefined, failure: error });
      return this.#failWith(error);
    }
    if ('kind' in answer) {
      this.#recorded.units += outcomeUnits(answer);
      this.#recorded.add({ call, answer });
      return answer;
    }
    const { speculative, answer: later, isRemote = false } = answer;
    const recorded: RecordedCall = { call, answer: later };
    const isFirst = this.#recorded.isEmpty;
    this.#recorded.add(recorded);
    if (isRemote) {
      this.#remote = this.#recorded
        .settle(recorded, later)
        .then(() => this.#kept?.become(this.keptBytes));
      if (isFirst) this.#firstRemoteTarget = target;
      // The replay or the confirmation handles a rejection. Without this listener it is unhandled if neither happens.
    } else later.catch(() => {});
    if (speculative !== undefined) this.#speculation = { speculative, answer: later };
    return speculative;
  }

  /**
   * Returns the idempotency key of the next call: made of the key that the handler has set, or else derived from the
   * request's key; undefined if there is neither.
   */
  #keyOf(target: Call[0], name: string, handlerKey: string | undefined): string | undefined {
    const key = this.#keys?.next(target, name);
    return handlerKey === undefined ? key : ownKey(handlerKey);
  }

  /** Returns whether a handler that cannot suspend may make a further call. */
  #mayCall(): boolean {
    // The call might depend on a speculative result (R1).
    if (this.#speculation !== undefined || this.#mustYield()) return false;
    return this.#recorded.units <= KEPT_UNITS_MAX;
  }

  /** Returns the result of a replayed call; undefined while the call has no answer. */
  #resultOf({ answer, failure }: RecordedCall): Outcome | undefined {
    if (answer instanceof Promise) return undefined;
    return answer ?? this.#failWith(failure);
  }

  #mustYield(): boolean {
    const isFirst = !this.#hasCalled;
    this.#hasCalled = true;
    return !isFirst && this.#eventLoop.isUsedUp();
  }

  /** Makes a call, synchronously if the call is. `describe`: creates the failure that the module sees. */
  #attempt<T>(call: () => Awaitable<T>, describe = callFailure): Awaitable<T> {
    if (this.#cancelReason !== undefined) throw this.#cancelReason;
    try {
      const answer = call();
      return answer instanceof Promise ? this.#cancellable(answer, describe) : answer;
    } catch (error) {
      return this.#failWith(error, describe);
    }
  }

  /** Makes a call whose input has this many bytes. The input is in memory while the call yields as well, so it is counted before. */
  #counted<T>(bytes: number, call: () => Awaitable<T>): Awaitable<T> {
    return this.#attempt(() => countInput(this.#kept, bytes, () => this.#withinBudget(call)));
  }

  /** Calls at once, or yields first when the event-loop budget is used up (R4). */
  #withinBudget<T>(call: () => Awaitable<T>): Awaitable<T> {
    if (!this.#mustYield()) return call();
    return this.#eventLoop.yield().then(() => {
      if (this.#cancelReason !== undefined) throw this.#cancelReason;
      return call();
    });
  }

  /** Returns a promise that settles as `answer` does, or rejects before that when the request is cancelled. */
  #cancellable<T>(answer: Promise<T>, describe = callFailure): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#failWait = reject;
      answer.then(resolve, (error: unknown) => {
        this.#addFailure(error, describe);
        reject(error);
      });
    });
  }

  #failWith(error: unknown, describe = callFailure): never {
    this.#addFailure(error, describe);
    throw error;
  }

  #addFailure(error: unknown, describe: typeof callFailure): void {
    this.#failures ??= new CallFailures();
    this.#failures.add(error, describe(error));
  }
}
