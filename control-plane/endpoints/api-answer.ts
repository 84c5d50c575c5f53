// ApiAnswer: the answer of a handler as HTTP. A refusal of an entity has the status of its code, except where a caller can do
// something else about it.
import { respond, respondError, refuse, type Refused, type Result } from '@svc/host';
import { maySucceedLater } from '../model/refusals.ts';

/** An error with a status and headers of its own. */
export type ApiError = ReturnType<typeof respondError>;

const JSON_TYPE = { 'content-type': 'application/json' };
const SOON = { 'retry-after': '1' };

/** `hasBody`: whether the route answers with a body. */
export function apiAnswer(result: Result<unknown> | ApiError, hasBody: boolean) {
  if (!('isOk' in result)) return result;
  if (!result.isOk) return refusedAnswer(result);
  return hasBody ? jsonAnswer(JSON.stringify(result.value)) : respond(null, { status: 204 });
}

/** Returns the answer 200 with a body. `text`: the body, as JSON. */
export function jsonAnswer(text: string) {
  return respond(text, { headers: JSON_TYPE });
}

function refusedAnswer(refused: Refused) {
  const { code, message } = refused;
  if (maySucceedLater(refused)) return respondError(503, message, { headers: SOON });
  if (code === 'TOO_MANY_REQUESTS') return respondError(429, message, { headers: SOON });
  return refuse(message, code);
}
