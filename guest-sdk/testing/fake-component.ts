// FakeComponent: what stands in for a component of the module when its endpoints are tested: a
// function that replies, or says in the kit's words how a call fails.
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
import { type Metadata, type Refusal, type Reply, GuestFault, SvcError } from '@svc/host/tools';
import { REFUSAL_CODES, type RefusalCode } from '@svc/contract';
import { jsonText, parsed } from './json-value.ts';

/** A command or a query that a handler sent. */
export interface FakeCall<Input = any> {
  /** Id of the entity. */
  readonly id: string;
  /** Wire name of the command or query. */
  readonly name: string;
  /** Null when the command or query takes none. */
  readonly input: Input;
  readonly metadata: Readonly<Record<string, string>>;
  /** The key that the entity would get: made of the request's key, or `KEY/=` where the handler has set one. */
  readonly idempotencyKey: string | undefined;
}

/** Answers the reply, or a promise of it: a JSON value, nothing for `Done`, or a `CallFailure`. */
export type FakeComponent = (call: FakeCall) => unknown;

/** A call that gives no reply; made by `refused`, `unavailable`, `timedOut` and `failed`. */
export class CallFailure {
  /** @internal Refusals are values, the rest is thrown. */
  readonly outcome: Refusal | SvcError | GuestFault;

  constructor(outcome: Refusal | SvcError | GuestFault) {
    this.outcome = outcome;
  }
}

/** The entity refuses. `code`: `CONFLICT` and its kin, or a word of the module's own. */
export function refused(code: string, message: string, details?: unknown): CallFailure {
  const refusal: Refusal = isRefusalCode(code)
    ? { kind: 'refusal', code, message }
    : { kind: 'refusal', code: 'OTHER', otherCode: code, message };
  return new CallFailure(
    details === undefined ? refusal : { ...refusal, details: jsonText(details) },
  );
}

/** Nothing was done: the service is overloaded, or its journal cannot be written to. */
export function unavailable(message = 'The test says so.'): CallFailure {
  return new CallFailure(new SvcError('SVC_OVERLOADED', message));
}

/** Whether it was done is unknown. */
export function timedOut(message = 'The test says so.'): CallFailure {
  return new CallFailure(new SvcError('SVC_ANSWER_TIMED_OUT', message));
}

/** The component broke down. */
export function failed(message = 'The test says so.'): CallFailure {
  return new CallFailure(new GuestFault('trap', message));
}

/** A call as the engine takes it: `input` is JSON text. */
interface SentCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly metadata: Metadata;
  readonly idempotencyKey: string | undefined;
}

/** Calls the fake. Throws what the runtime throws for a `CallFailure`, and what the fake itself throws. */
export async function callFake(fake: FakeComponent, call: SentCall): Promise<Reply | Refusal> {
  const answer = await fake({
    ...call,
    input: parsed(call.input),
    metadata: Object.fromEntries(call.metadata),
  });
  if (!(answer instanceof CallFailure)) return { kind: 'reply', json: jsonText(answer) };
  if (answer.outcome instanceof Error) throw answer.outcome;
  return answer.outcome;
}

function isRefusalCode(code: string): code is RefusalCode {
  return (REFUSAL_CODES as readonly string[]).includes(code);
}
