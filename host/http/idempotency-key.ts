// The header Idempotency-Key: its validation, and the request key that is made of it, from which the idempotency keys
// of the request's calls are derived. The header applies to methods that change something; with GET it has no effect.
import { hash } from 'node:crypto';
import type { FieldList } from '@svc/http1';
import { type Answer, errorAnswer } from './answers.ts';
import { headerValue } from './request-headers.ts';

const METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;
/** The number of hexadecimal digits of a digest that a request key contains. */
const DIGEST_DIGITS = 16;

/** Returns the header's value; undefined if it is absent or has no effect; or the answer to an invalid value. */
export function idempotencyKeyOf(
  method: string,
  fields: FieldList,
  bytesMax: number,
): string | Answer | undefined {
  const key = METHODS.has(method) ? headerValue(fields, 'idempotency-key') : undefined;
  if (key === undefined) return undefined;
  // Repeated headers are joined by a comma and a space.
  if (key.length <= bytesMax && VISIBLE_ASCII.test(key)) return key;
  return errorAnswer(
    400,
    `The header Idempotency-Key must be one value of 1 to ${bytesMax} visible ASCII characters ` +
      '(SVC_IDEMPOTENCY_KEY_INVALID).',
  );
}

/**
 * Returns the request key: the header's value and a digest of caller and route. A repeated request has the same key.
 */
export function requestKey(key: string, caller: string, route: string): string {
  return `${key}/${digestOf(`${caller}\n${route}`)}`;
}

/** Returns the digest by which a request key distinguishes callers, routes and scopes. */
export function digestOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, DIGEST_DIGITS);
}
