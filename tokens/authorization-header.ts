// AuthorizationHeader: finds the bearer token of a request (RFC 6750 §2.1), and writes the challenge of an answer 401.
import type { TokenFault } from './token-fault.ts';
import type { TokenOutcome } from './token-outcome.ts';

export type BearerToken =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'faulty'; readonly fault: TokenFault }
  | { readonly kind: 'missing' };

/** Length of a token in characters. Servers refuse longer headers; programs that judge tokens may have no server. */
const TOKEN_LENGTH_MAX = 16_384;
/** The scheme in any case, and what follows it. */
const BEARER = /^bearer(?: +|$)/i;
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const REALM = 'Bearer realm="svc"';

/**
 * `values`: the value of each `Authorization` header of the request. Two headers are refused, because programs on the way
 * may have judged another one than this.
 */
export function bearerToken(values: readonly string[]): BearerToken {
  const [value, ...others] = values;
  if (value === undefined) return { kind: 'missing' };
  if (others.length > 0) return { kind: 'faulty', fault: 'several-headers' };
  if (value.length > TOKEN_LENGTH_MAX + 'Bearer '.length)
    return { kind: 'faulty', fault: 'too-long' };
  const trimmed = trimmedBlanks(value);
  const [scheme] = BEARER.exec(trimmed) ?? [];
  if (scheme === undefined || scheme.length === trimmed.length) return { kind: 'missing' };
  const token = trimmed.slice(scheme.length);
  return TOKEN.test(token) ? { kind: 'token', token } : { kind: 'faulty', fault: 'malformed' };
}

/** Returns the value of `WWW-Authenticate` for an answer 401. */
export function challengeOf(
  outcome: Extract<TokenOutcome, { kind: 'refused' | 'missing' }>,
): string {
  if (outcome.kind === 'missing') return REALM;
  return `${REALM}, error="${outcome.error}", error_description="${outcome.reason}"`;
}

/** Removes blanks and tabs at both ends. An expression for the end would be slow for many blanks within the value. */
function trimmedBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value[start])) start++;
  while (start < end && isBlank(value[end - 1])) end--;
  return value.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
