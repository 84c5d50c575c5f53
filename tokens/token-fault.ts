// TokenFault: the reasons for which a token is refused, each with the sentence that its sender reads. The sentences are
// constants: nothing of the token, which may hold secrets or an attack on a log, is repeated. They are printable ASCII
// without quotation mark and backslash, as RFC 6750 demands for `error_description`.
import type { TokenRefusal } from './token-outcome.ts';

export const TOKEN_FAULTS = {
  'several-headers': 'The request has several Authorization headers. Send one.',
  malformed: 'The access token is not a JSON Web Token that can be read.',
  'too-long': 'The access token is longer than 16384 characters.',
  encrypted:
    'The access token is encrypted. Configure the identity provider to issue signed tokens for this audience.',
  'wrong-type':
    'The token is no access token: its header has another type. Send the access token, not the ID token or refresh token.',
  'critical-header': 'The access token has critical header parameters, which are not supported.',
  algorithm: 'The access token is not signed with one of the accepted algorithms.',
  issuer: 'The access token is of an issuer that is not accepted here.',
  audience:
    'The access token is for another audience. Request one for the audience of this service. An ID token cannot be used.',
  expired: 'The access token has expired. Request a new one.',
  'not-yet-valid': 'The access token is not valid yet. Compare the clocks of the two machines.',
  'no-expiry': 'The access token has no expiry time, or one that cannot be read.',
  subject:
    'The claim sub of the access token is not a text of 1 to 255 characters without control characters.',
  'unknown-key':
    'The access token is signed with a key that the identity provider does not publish.',
  'several-keys':
    'The access token names no key, and the identity provider publishes several that could be meant.',
  'unusable-key': 'The key that the access token names cannot be used for its algorithm.',
  signature: 'The signature of the access token is wrong.',
} as const satisfies Readonly<Record<string, string>>;

export type TokenFault = keyof typeof TOKEN_FAULTS;

export function refusedFor(fault: TokenFault): TokenRefusal {
  return { kind: 'refused', error: 'invalid_token', reason: TOKEN_FAULTS[fault] };
}
