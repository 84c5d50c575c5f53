// SecuritySchemes: the ways in which callers show who they are, as an OpenAPI document names them.
import type { SecurityDescriptor } from './module-descriptor-schema.ts';
import { OpenApiNames } from './open-api-names.ts';

type Json = Readonly<Record<string, unknown>>;

/** Names the security schemes of the routes; equal ones have one name. */
export class SecuritySchemes {
  readonly #names = new OpenApiNames();
  readonly #named = new Map<string, { readonly name: string; readonly scheme: Json }>();

  nameOf(security: SecurityDescriptor): string {
    const key = JSON.stringify(security);
    let named = this.#named.get(key);
    if (named === undefined) {
      const name = this.#names.unique(security.scheme);
      this.#named.set(key, (named = { name, scheme: schemeOf(security) }));
    }
    return named.name;
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

function schemeOf(security: SecurityDescriptor): Json {
  const { description } = security;
  const scheme =
    security.scheme === 'header'
      ? { type: 'apiKey', in: 'header', name: security.name }
      : { type: 'http', scheme: security.scheme };
  return { ...scheme, ...(description === undefined ? {} : { description }) };
}
