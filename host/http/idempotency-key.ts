// The header Idempotency-Key: whether it can be one, and what the calls of its request get their keys from.
// It counts for methods that change something; to a GET it is a header like any other.
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Answer, errorAnswer } from './answers.ts';

const METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
const ORIGIN_DIGITS = 16;

/** The header's value, undefined where it does not count, or what is answered where it cannot be. */
export function idempotencyKeyOf(
  method: string,
  headers: IncomingHttpHeaders,
  bytesMax: number,
): string | Answer | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || !METHODS.has(method)) return undefined;
  // Repeated ones come joined by a comma and a space.
  if (typeof key === 'string' && key.length <= bytesMax && VISIBLE_ASCII.test(key)) return key;
  return errorAnswer(
    400,
    `The header Idempotency-Key must be one value of 1 to ${bytesMax} visible ASCII characters ` +
      '(SVC_IDEMPOTENCY_KEY_INVALID).',
  );
}

/** The key of the request: the header's, and a digest of who sent it where. Equal ones are repeats. */
export function requestKey(key: string, caller: string, route: string): string {
  return `${key}/${hash('sha256', `${caller}\n${route}`, 'hex').slice(0, ORIGIN_DIGITS)}`;
}
