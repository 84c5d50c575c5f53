// QueryAnswers converts the outcome of a query, or of a question about stored entities, into an answer of the
// observability endpoint. The statuses are those of a route, except for NOT_FOUND_CODES. Unlike the answer of a route,
// this answer includes the messages of the runtime and the module, because the client is the developer.
import type { SpanFault } from '@svc/contract';
import { failureAnswer, refusalAnswer } from '../http/answers.ts';
import type { Refusal, Reply } from '@svc/model/call';
import { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';

/** `body`: JSON text. */
interface Answered {
  readonly status: number;
  readonly body: string;
}

/** Codes of errors that are answered with 404. */
const NOT_FOUND_CODES: ReadonlySet<SvcErrorCode> = new Set([
  'SVC_NOT_IN_JOURNAL',
  'SVC_NOT_IN_MODULE',
  'SVC_JOURNAL_MISSING',
]);

export function outcomeAnswer(outcome: Reply | Refusal): Answered {
  if (outcome.kind === 'reply') return { status: 200, body: outcome.json };
  const { status, body } = refusalAnswer(outcome);
  return { status, body: String(body) };
}

/** Makes the answer for a fault of the module. `isLate`: the fault is an exhausted limit of fuel or time. */
export function faultAnswer(fault: SpanFault, isLate: boolean): Answered {
  const { reason, guestMessage } = fault;
  const status = isLate ? 504 : 500;
  const words = guestMessage === null ? '' : ` (${guestMessage})`;
  return answered(status, `${reason.replace(/\.$/, '')}${words}.`, fault);
}

/** Makes the answer for an error of the runtime. Throws `failure` itself if it is no SvcError. */
export function errorAnswer(failure: unknown): Answered {
  if (!(failure instanceof SvcError)) throw failure;
  const { code, message } = failure;
  const status = NOT_FOUND_CODES.has(code) ? 404 : failureAnswer(failure, '').status;
  return answered(status, `${message} [${code}]`, { code });
}

function answered(status: number, error: string, details: unknown): Answered {
  return { status, body: JSON.stringify({ status, error, details }) };
}
