// SecuritySchemes: the ways in which callers show who they are, as an OpenAPI document names them.
import type { BearerRule, SecurityDescriptor } from './module-descriptor-schema.ts';
import { OpenApiNames } from './open-api-names.ts';

type Json = Readonly<Record<string, unknown>>;

/** The scheme of routes with a bearer rule. */
const BEARER = {
  scheme: 'bearer',
  description:
    'An access token of an identity provider that the service trusts, in the form of a JWT',
} as const;

/** Names the security schemes of the routes; equal ones have one name. */
export class SecuritySchemes {
  readonly #names = new OpenApiNames();
  readonly #named = new Map<string, { readonly name: string; readonly scheme: Json }>();

  #nameOf(security: SecurityDescriptor): string {
    const key = JSON.stringify(security);
    let named = this.#named.get(key);
    if (named === undefined) {
      const name = this.#names.unique(security.scheme);
      this.#named.set(key, (named = { name, scheme: schemeOf(security) }));
    }
    return named.name;
  }

  /** Returns the requirements of a route, of which one has to be met; undefined: it has none. */
  required({ security, bearer }: Guarded): readonly Json[] | undefined {
    if (bearer !== undefined) {
      const name = this.#nameOf(BEARER);
      return scopeLists(bearer).map((scopes) => ({ [name]: scopes }));
    }
    return security === undefined ? undefined : [{ [this.#nameOf(security)]: [] }];
  }

  get isUsed(): boolean {
    return this.#named.size > 0;
  }

  /** Returns the member of the document's components; an empty object if there is no scheme. */
  component(): Json {
    if (this.#named.size === 0) return {};
    const named = [...this.#named.values()];
    return {
      securitySchemes: Object.fromEntries(named.map(({ name, scheme }) => [name, scheme])),
    };
  }
}

/** How callers of a route show who they are. */
export interface Guarded {
  readonly security: SecurityDescriptor | undefined;
  readonly bearer: BearerRule | undefined;
}

/** Returns lists of scopes, each of which is enough for the rule. */
function scopeLists({ scopes }: BearerRule): readonly (readonly string[])[] {
  if (scopes === undefined) return [[]];
  return scopes.match === 'all' ? [scopes.names] : scopes.names.map((name) => [name]);
}

function schemeOf(security: SecurityDescriptor): Json {
  const { description } = security;
  const scheme =
    security.scheme === 'header'
      ? { type: 'apiKey', in: 'header', name: security.name }
      : {
          type: 'http',
          scheme: security.scheme,
          ...(security === BEARER ? { bearerFormat: 'JWT' } : {}),
        };
  return { ...scheme, ...(description === undefined ? {} : { description }) };
}
