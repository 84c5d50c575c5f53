// FakeComponent: replaces a component of the module in tests of its endpoints: a function that replies, or returns
// the failure of a call.
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
  /** Input; null if the command or query takes none. */
  readonly input: Input;
  /** Metadata; a repeated name has its last value. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The key that the entity would receive: derived from the request's key, or the handler's own followed by `/=`. */
  readonly idempotencyKey: string | undefined;
}

/** Returns the reply or a promise of it: a JSON value, undefined for `Done`, or a `CallFailure`. */
export type FakeComponent = (call: FakeCall) => unknown;

/** A call without a reply, created by `refused`, `unavailable`, `timedOut` and `failed`. */
export class CallFailure {
  /** @internal A refusal, which the call returns, or an error, which the call throws. */
  readonly outcome: Refusal | SvcError | GuestFault;

  constructor(outcome: Refusal | SvcError | GuestFault) {
    this.outcome = outcome;
  }
}

/** Creates a refusal of the entity. `code`: a code such as `CONFLICT`, or one of the module's own. */
export function refused(code: string, message: string, details?: unknown): CallFailure {
  const refusal: Refusal = isRefusalCode(code)
    ? { kind: 'refusal', code, message }
    : { kind: 'refusal', code: 'OTHER', otherCode: code, message };
  return new CallFailure(
    details === undefined ? refusal : { ...refusal, details: jsonText(details) },
  );
}

/**
 * Creates the failure of a call that was not executed, because the service is overloaded. The handler receives the
 * runtime's own text, not `message`.
 */
export function unavailable(message = 'The test says so.'): CallFailure {
  return new CallFailure(new SvcError('SVC_OVERLOADED', message));
}

/**
 * Creates the failure of a call of which it is unknown whether it was executed. The handler receives the SDK's own
 * text, not `message`.
 */
export function timedOut(message = 'The test says so.'): CallFailure {
  return new CallFailure(new SvcError('SVC_ANSWER_TIMED_OUT', message));
}

/** Creates the failure of a call in which the component faulted. The handler receives the runtime's own text. */
export function failed(message = 'The test says so.'): CallFailure {
  return new CallFailure(new GuestFault('trap', message));
}

/** A call as the engine receives it: `input` is JSON text. */
export interface SentCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly metadata: Metadata;
  readonly idempotencyKey: string | undefined;
}

/** Calls the fake. Throws the runtime's error for a `CallFailure`, and any error that the fake throws. */
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
