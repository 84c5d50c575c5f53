// Bearer: the rule by which a route asks its callers for an access token, and the principal of a request: who has sent it, by a token that the
// runtime has verified. No request can bring a principal: the runtime sets the header that it is read from, and drops those that arrive.
import type { BearerRule } from '@svc/contract';
import type { HeaderList } from '@svc/model/endpoint';

/** Roles or scopes of which a caller needs one (`any`), or all. A list is `any`. */
export type Grants =
  | readonly string[]
  | { readonly any: readonly string[] }
  | { readonly all: readonly string[] };

/** `true`: any good token is enough. Names have up to 255 visible ASCII characters, without quotation mark and backslash; at most 32 in each list. */
export type Bearer =
  | true
  | {
      readonly roles?: Grants;
      readonly scopes?: Grants;
      /** Leaves the token in the headers, for a handler that sends it on to another service. */
      readonly forwardsToken?: boolean;
    };

export interface Principal {
  /** Identifies the caller for all time, among those of the same issuer. */
  readonly subject: string;
  /** URL of the identity provider. */
  readonly issuer: string;
  /** Name for people; null when the token has none. It is not unique, and its owner may choose it. */
  readonly name: string | null;
  /** Null unless the identity provider has verified that the address is the caller's. */
  readonly email: string | null;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** All claims of the token, as JSON text. */
  readonly claims: string;
}

const PRINCIPAL_FIELD = 'x-svc-principal';

export function bearerRule(bearer: Bearer): BearerRule {
  if (bearer === true) return {};
  const { roles, scopes, forwardsToken } = bearer;
  return {
    ...(roles === undefined ? {} : { roles: requirementOf(roles) }),
    ...(scopes === undefined ? {} : { scopes: requirementOf(scopes) }),
    ...(forwardsToken === true ? { forwardsToken } : {}),
  };
}

/** Returns the principal of a request; null if its route has no bearer rule. */
export function principalOf(headers: HeaderList): Principal | null {
  const text = headers.find(([name]) => name === PRINCIPAL_FIELD)?.[1];
  return text === undefined ? null : (JSON.parse(text) as Principal);
}

function requirementOf(grants: Grants): NonNullable<BearerRule['roles']> {
  if ('all' in grants) return { match: 'all', names: [...grants.all] };
  return { match: 'any', names: [...('any' in grants ? grants.any : grants)] };
}
