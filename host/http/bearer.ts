// Bearer decides whether the access token of a request opens a route with a bearer rule: who the caller is (401, 503), and whether
// it has the roles and scopes that the rule asks for (403). It also says who is called to the handler, in the header
// `x-svc-principal`, which no request can bring: the headers of the platform are dropped on arrival.
//
// Invariants:
// - A route with a rule is closed while nothing can verify tokens.
// - No answer contains a part of a token or of a principal.
import { type BearerRule, meetsRequirement, requirementText } from '@svc/contract';
import type { FieldList } from '@svc/http1';
import { challengeOf } from '@svc/tokens/authorization-header';
import type { Subject, TokenOutcome } from '@svc/tokens/token-outcome';
import type { Awaitable } from '@svc/model/call';
import type { HeaderList } from '@svc/model/endpoint';
import { type Answer, errorAnswer } from './answers.ts';

/** The caller of a request by its token. */
export interface RequestPrincipal extends Subject {
  readonly issuer: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** JSON text for the handler: subject, issuer, name, email, roles, scopes, and all claims as a text of JSON. */
  readonly text: string;
}

/** Verifies the tokens of requests. */
export interface RequestTokens {
  /** `authorization`: the value of each `Authorization` header of a request. Never throws, and never rejects. */
  verify(authorization: readonly string[]): Awaitable<TokenOutcome<RequestPrincipal>>;
}

/** The header that has the principal for the module. */
const PRINCIPAL_FIELD = 'x-svc-principal';
const AUTHORIZATION = 'authorization';
const CLOSED: TokenOutcome<RequestPrincipal> = { kind: 'unavailable', retryAfterS: 5 };

/** Verifies the token of a request. */
export function verified(
  tokens: RequestTokens | undefined,
  fields: FieldList,
): Awaitable<TokenOutcome<RequestPrincipal>> {
  if (tokens === undefined) return CLOSED;
  const values: string[] = [];
  for (let index = 0; index < fields.count; index++)
    if (fields.isNamed(index, AUTHORIZATION)) values.push(fields.value(index));
  return tokens.verify(values);
}

/** Returns the principal if the rule admits it, or else the answer 401, 403 or 503. */
export function permitted(
  outcome: TokenOutcome<RequestPrincipal>,
  { roles, scopes }: BearerRule,
): RequestPrincipal | Answer {
  switch (outcome.kind) {
    case 'missing':
      return errorAnswer(
        401,
        'The request has no access token. Send one as Authorization: Bearer TOKEN.',
        [['www-authenticate', challengeOf(outcome)]],
      );
    case 'refused':
      return errorAnswer(401, outcome.reason, [['www-authenticate', challengeOf(outcome)]]);
    case 'unavailable':
      return errorAnswer(
        503,
        'The access token cannot be verified at present: the keys of the identity provider cannot be read, or too many tokens wait. Send the request again later.',
        [['retry-after', String(outcome.retryAfterS)]],
      );
    case 'known':
  }
  const { caller } = outcome;
  if (roles !== undefined && !meetsRequirement(roles, caller.roles))
    return errorAnswer(403, `The caller needs ${requirementText(roles, 'role')}.`);
  if (scopes !== undefined && !meetsRequirement(scopes, caller.scopes))
    return errorAnswer(403, `The access token needs ${requirementText(scopes, 'scope')}.`, [
      [
        'www-authenticate',
        `Bearer realm="svc", error="insufficient_scope", scope="${scopes.names.join(' ')}"`,
      ],
    ]);
  return caller;
}

/** Returns the headers that the handler of a route with a rule sees. */
export function principalHeaders(
  headers: HeaderList,
  { text }: RequestPrincipal,
  { forwardsToken }: BearerRule,
): HeaderList {
  const own = forwardsToken === true ? headers : headers.filter(([name]) => name !== AUTHORIZATION);
  return [...own, [PRINCIPAL_FIELD, text]];
}

/** Returns the caller to whom an idempotency key belongs. No URL of an issuer has a blank. */
export function keyOwner({ issuer, subject }: RequestPrincipal): string {
  return `principal ${issuer} ${subject}`;
}
