// The header Idempotency-Key: its validity, and the source of the idempotency keys of a request's calls. It
// applies to methods that change something; a GET treats it like any other header.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, errorAnswer } from './answers.ts';

const METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const ORIGIN_DIGITS = 16;

/** Returns the header's value, undefined where it does not apply, or the answer to an invalid one. */
export function idempotencyKeyOf(
  method: string,
  headers: IncomingHttpHeaders,
  bytesMax: number,
): string | Answer | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || !METHODS.has(method)) return undefined;
  // Node joins repeated headers with a comma and a space.
  if (typeof key === 'string' && key.length <= bytesMax && VISIBLE_ASCII.test(key)) return key;
  return errorAnswer(
    400,
    `The header Idempotency-Key must be one value of 1 to ${bytesMax} visible ASCII characters ` +
      '(SVC_IDEMPOTENCY_KEY_INVALID).',
  );
}

/** Returns the key of the request: the header's value, and a digest of caller and route. Equal keys are repeats. */
export function requestKey(key: string, caller: string, route: string): string {
  return `${key}/${hash('sha256', `${caller}\n${route}`, 'hex').slice(0, ORIGIN_DIGITS)}`;
}
