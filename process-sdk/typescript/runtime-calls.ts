// RuntimeCalls are the calls that one handler makes of the runtime while it runs.
//
// Invariants
// R1  Each call is settled once: by its result, or when the handler is cancelled.
// R2  The handler's time is that of its request until its first call has a result, and then that of the latest result.
import type { CallContext, Metadata, Refusal, Reply } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { HostCalls } from '@svc/model/guest';
import { GuestFault } from '@svc/model/guest-fault';
import type { ServiceRequest, ServiceResponse } from '@svc/model/service-call';
import type { Timer } from '@svc/model/timer';
import type { RowPage } from '@svc/model/view';
import { SVC_ERROR_CODES, SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
import { refusalOf, timerFrame } from '@svc/process-protocol/call-frames';
import {
  pageOf,
  type RecordedEvent,
  recordedOf,
  serviceRequestFrame,
  serviceResponseOf,
} from '@svc/process-protocol/handler-frames';
import type { Failed, HostCall, HostResult } from '@svc/process-protocol/process';
import { ProtocolError } from '@svc/process-protocol/protocol-error';

type Made = NonNullable<HostCall['call']>;
type Result = NonNullable<HostResult['result']>;

interface Waiting {
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

export interface RuntimeCallsOptions {
  /** Sends a call, and returns its number. */
  readonly send: (call: Made) => number;
}

const CODES: ReadonlySet<string> = new Set(SVC_ERROR_CODES);

/** The codes of failures that the runtime names by a word alone. */
const CODE_OF_WORD: Readonly<Record<string, SvcErrorCode>> = {
  DENIED: 'SVC_SERVICE_CALL_DENIED',
  UNAVAILABLE: 'SVC_OVERLOADED',
  TIMED_OUT: 'SVC_CALL_UNCERTAIN',
};

export class RuntimeCalls implements HostCalls {
  readonly #send: (call: Made) => number;
  readonly #waiting = new Map<number, Waiting>();
  /** The numbers of the calls that have failed, by the errors that the handler has received. */
  readonly #numbers = new WeakMap<Error, number>();
  #nowMs = 0;
  #cancelled: GuestFault | undefined;

  constructor({ send }: RuntimeCallsOptions) {
    this.#send = send;
  }

  /** Sets the time of the request. */
  begin({ nowMs }: CallContext): void {
    this.#nowMs = nowMs;
  }

  get cancelReason(): GuestFault | undefined {
    return this.#cancelled;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  async call(
    { component, id }: EntityRef,
    name: string,
    input: string,
    metadata: Metadata,
    idempotencyKey: string | undefined,
  ): Promise<Reply | Refusal> {
    const pairs = metadata.map(([key, value]) => ({ name: key, value }));
    const value = { component, id, name, input, metadata: pairs, idempotencyKey };
    const result = await this.#made({ $case: 'entity', value });
    if (result.$case === 'reply') return { kind: 'reply', json: result.value.json };
    if (result.$case === 'refusal') return refusalOf(result.value);
    throw otherKind(result);
  }

  async readEvents(
    { component, id }: EntityRef,
    afterSeq: number,
    limit: number,
  ): Promise<readonly RecordedEvent[]> {
    const value = { component, id, afterSeq, limit };
    const result = await this.#made({ $case: 'readEvents', value });
    if (result.$case !== 'events') throw otherKind(result);
    return result.value.events.map(recordedOf);
  }

  async setTimer(timer: Timer): Promise<void> {
    await this.#made({ $case: 'setTimer', value: timerFrame(timer) });
  }

  async cancelTimer({ component, id }: EntityRef, name: string): Promise<void> {
    await this.#made({ $case: 'cancelTimer', value: { component, id, name } });
  }

  async request(request: ServiceRequest): Promise<ServiceResponse> {
    const result = await this.#made({ $case: 'request', value: serviceRequestFrame(request) });
    if (result.$case !== 'response') throw otherKind(result);
    return serviceResponseOf(result.value);
  }

  async find(
    view: string,
    query: string,
    input: string,
    limit: number,
    cursor: string | undefined,
  ): Promise<RowPage | Refusal> {
    const value = { view, query, input, limit, cursor };
    const result = await this.#made({ $case: 'find', value });
    if (result.$case === 'refusal') return refusalOf(result.value);
    if (result.$case !== 'page') throw otherKind(result);
    return pageOf(result.value);
  }

  /** Throws once the handler is cancelled: it sends nothing any more. */
  scopeKeys(scope: string): void {
    if (this.#cancelled !== undefined) throw this.#cancelled;
    this.#send({ $case: 'scopeKeys', value: { scope } });
  }

  /** Settles a call. */
  settle({ number, nowMs, result }: HostResult): void {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined || result === undefined) return;
    this.#waiting.delete(number);
    this.#nowMs = nowMs;
    if (result.$case !== 'failed') {
      waiting.resolve(result);
      return;
    }
    const error = failure(result.value);
    this.#numbers.set(error, number);
    waiting.reject(error);
  }

  /** Fails the calls under way, and all later ones. */
  cancel(reason: string): void {
    this.#cancelled = new GuestFault('time', `the handler was cancelled: ${reason}`);
    for (const { reject } of this.#waiting.values()) reject(this.#cancelled);
    this.#waiting.clear();
  }

  /** The number of the call with whose failure the handler has ended; undefined if the error is its own. */
  numberOf(error: unknown): number | undefined {
    return error instanceof Error ? this.#numbers.get(error) : undefined;
  }

  #made(call: Made): Promise<Result> {
    if (this.#cancelled !== undefined) return Promise.reject(this.#cancelled);
    // A call that cannot be sent rejects.
    return new Promise((resolve, reject) => {
      this.#waiting.set(this.#send(call), { resolve, reject });
    });
  }
}

function failure({ word, text, code }: Failed): SvcError {
  const known = CODES.has(code) ? (code as SvcErrorCode) : CODE_OF_WORD[word];
  return new SvcError(known ?? 'SVC_CALL_UNCERTAIN', text === '' ? 'the call timed out' : text);
}

function otherKind({ $case }: Result): ProtocolError {
  return new ProtocolError(`the runtime has answered a call with '${$case}'`);
}
