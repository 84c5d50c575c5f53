// TestPrincipals: who sends the requests of a test. A principal needs no token of an identity provider here: the test says who it is,
// and a token stands for it on the way through the runtime's own checks.
import type { RequestPrincipal, RequestTokens } from '@svc/host/tools';

/** The caller of a request. */
export interface TestPrincipal {
  readonly subject: string;
  /** `https://login.test` by default. */
  readonly issuer?: string;
  readonly name?: string;
  /** An address that the identity provider has verified. */
  readonly email?: string;
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  /** Further claims. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

const PREFIX = 'Bearer principal-';

export class TestPrincipals implements RequestTokens {
  readonly #known: RequestPrincipal[] = [];

  /** Returns the header `authorization` of requests of the principal. */
  authorizationOf(principal: TestPrincipal): string {
    return `${PREFIX}${this.#known.push(requestPrincipal(principal)) - 1}`;
  }

  verify([value]: readonly string[]): ReturnType<RequestTokens['verify']> {
    if (value === undefined) return { kind: 'missing' };
    const caller = value.startsWith(PREFIX)
      ? this.#known[Number(value.slice(PREFIX.length))]
      : undefined;
    if (caller !== undefined) return { kind: 'known', caller };
    return {
      kind: 'refused',
      error: 'invalid_token',
      reason:
        'The access token is none of the test. Say who sends the request: endpoints.as({ subject }).',
    };
  }
}

function requestPrincipal({
  subject,
  issuer = 'https://login.test',
  name,
  email,
  roles = [],
  scopes = [],
  claims = {},
}: TestPrincipal): RequestPrincipal {
  const all = JSON.stringify({ iss: issuer, sub: subject, ...claims });
  const shown = { name: name ?? null, email: email ?? null, roles, scopes, claims: all };
  return { subject, issuer, roles, scopes, text: JSON.stringify({ subject, issuer, ...shown }) };
}
