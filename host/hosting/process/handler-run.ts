// HandlerRun is one run of a handler in the process, with the calls that the handler makes meanwhile.
//
// Invariants
// H1  A handler whose process is lost is refused as not done only if it has made no call.
// H2  The failure of a call that the handler passes on is the one that the call had here, and none that the process has worded.
import { refusal, type Awaitable, type Refusal, type Reply } from '@svc/model/call';
import { callFailure, readFailure, type CallFailure } from '@svc/model/call-failure';
import type { HostCalls } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import { SvcError } from '@svc/kit/svc-error';
import { refusalFrame, timerOf } from '@svc/process-protocol/call-frames';
import { faultOf } from '@svc/process-protocol/fault-frames';
import {
  pageFrame,
  recordedFrame,
  serviceRequestOf,
  serviceResponseFrame,
} from '@svc/process-protocol/handler-frames';
import type { EntityCall, Find, HostCall, HostResult } from '@svc/process-protocol/process';
import { ProtocolError, required } from '@svc/process-protocol/protocol-error';
import { type Answer, isAnswer } from './process-calls.ts';
import { handlerUncertain, lostInProcess, ProcessAway } from './process-failures.ts';
import type { ProcessStream, ToFrame } from './process-stream.ts';

type Result = NonNullable<HostResult['result']>;
type MadeCall = Exclude<NonNullable<HostCall['call']>, { readonly $case: 'scopeKeys' }>;

/** The most failures that are remembered for a handler that passes one on. */
const FAILURES_MAX = 1_000;
const DONE: Result = { $case: 'done', value: {} };

export class HandlerRun {
  readonly #stream: ProcessStream;
  readonly #calls: HostCalls;
  /** The failures of calls, by the numbers that the process has given to the calls. */
  readonly #failures = new Map<number, unknown>();
  #number = 0;
  #hasCalled = false;

  constructor(stream: ProcessStream, calls: HostCalls) {
    this.#stream = stream;
    this.#calls = calls;
  }

  /**
   * Runs the handler, and resolves with its answer. `subject`: the handler, in words. Rejects with GuestFault, with the failure of a call that the handler passes on,
   * and with SVC_PROCESS_UNAVAILABLE or SVC_CALL_UNCERTAIN.
   */
  async answer(frame: ToFrame, timeoutMs: number, subject: string): Promise<Answer> {
    const hostCalls = (made: HostCall): void => this.#onCall(made);
    const call = this.#stream.call({ frame, timeoutMs, subject, hostCalls });
    this.#number = call.number;
    const answer = await call.answer;
    if (!isAnswer(answer)) {
      if (answer.$case === 'ended')
        throw this.#hasCalled ? handlerUncertain(answer.why) : lostInProcess(answer.why);
      throw new GuestFault('time', `${subject} did not answer within ${timeoutMs} ms`);
    }
    if (answer.$case === 'fault') throw faultOf(answer.value);
    if (answer.$case === 'passed') throw this.#passed(answer.value.number);
    return answer;
  }

  /** Converts a part of the answer. Ends the stream if that breaks the protocol. */
  read<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#stream.violated(error.message);
      throw this.#hasCalled ? handlerUncertain(error.message) : new ProcessAway(error.message);
    }
  }

  #passed(number: number): unknown {
    const failure = this.#failures.get(number);
    return (
      failure ??
      new GuestFault('value', 'a handler passes on the failure of a call that has not failed')
    );
  }

  /** Throws ProtocolError. */
  #onCall({ number, call }: HostCall): void {
    // A call of a later version than this runtime speaks.
    const made = required(call, 'what a handler calls');
    if (made.$case === 'scopeKeys') {
      this.#calls.scopeKeys?.(made.value.scope);
      return;
    }
    this.#hasCalled = true;
    let result: Awaitable<Result>;
    try {
      result = this.#made(made);
    } catch (failure) {
      if (failure instanceof ProtocolError) throw failure;
      this.#reply(number, this.#failed(number, made, failure));
      return;
    }
    if (!(result instanceof Promise)) {
      this.#reply(number, result);
      return;
    }
    void result
      .catch((failure: unknown) => this.#failed(number, made, failure))
      .then((later) => this.#reply(number, later));
  }

  #reply(number: number, result: Result): void {
    this.#stream.sendResult(this.#number, { number, nowMs: this.#calls.nowMs(), result });
  }

  #failed(number: number, { $case }: MadeCall, failure: unknown): Result {
    const words = $case === 'readEvents' ? readFailure(failure) : callFailure(failure);
    if (this.#failures.size < FAILURES_MAX) this.#failures.set(number, failure);
    // A failure without words ends the handler: nobody waits for its answer.
    const { word, text }: CallFailure = words ?? {
      word: 'INTERNAL',
      text: 'the call was given up',
    };
    const code = failure instanceof SvcError ? failure.code : '';
    return { $case: 'failed', value: { word, text, code } };
  }

  #made(made: MadeCall): Awaitable<Result> {
    const calls = this.#calls;
    switch (made.$case) {
      case 'entity':
        return after(this.#called(made.value), outcomeResult);
      case 'readEvents': {
        const { component, id, afterSeq, limit } = made.value;
        return after(calls.readEvents({ component, id }, afterSeq, limit), (events) => ({
          $case: 'events',
          value: { events: events.map(recordedFrame) },
        }));
      }
      case 'setTimer':
        return after(calls.setTimer(timerOf(made.value)), () => DONE);
      case 'cancelTimer': {
        const { component, id, name } = made.value;
        return after(calls.cancelTimer({ component, id }, name), () => DONE);
      }
      case 'request':
        return after(calls.request(serviceRequestOf(made.value)), (response) => ({
          $case: 'response',
          value: serviceResponseFrame(response),
        }));
      case 'find':
        return after(this.#found(made.value), (page) =>
          'kind' in page
            ? { $case: 'refusal', value: refusalFrame(page) }
            : { $case: 'page', value: pageFrame(page) },
        );
    }
  }

  #called({ component, id, name, input, metadata, idempotencyKey }: EntityCall) {
    const pairs = metadata.map((one) => [one.name, one.value] as const);
    return this.#calls.call({ component, id }, name, input, pairs, idempotencyKey);
  }

  #found({ view, query, input, limit, cursor }: Find) {
    const { find } = this.#calls;
    if (find === undefined) return refusal('NOT_FOUND', 'the service has no views');
    return find(view, query, input, limit, cursor);
  }
}

function outcomeResult(outcome: Reply | Refusal): Result {
  return outcome.kind === 'reply'
    ? { $case: 'reply', value: { json: outcome.json } }
    : { $case: 'refusal', value: refusalFrame(outcome) };
}

function after<Value>(value: Awaitable<Value>, next: (value: Value) => Result): Awaitable<Result> {
  // oxlint-disable-next-line promise/no-callback-in-promise -- it stays synchronous where it can
  return value instanceof Promise ? value.then(next) : next(value);
}
