// SchemaWriter: writes the types of a descriptor as schemas of an OpenAPI document.
import type { ModuleDescriptor } from './module-descriptor-schema.ts';
import { OpenApiNames } from './open-api-names.ts';
import type { TypeSchema } from './type-schema.ts';

type Json = Readonly<Record<string, unknown>>;

const REFERENCE_PREFIX = '#/types/';
/** The body of every failure. */
const PLAIN_ERROR = {
  type: 'object',
  properties: { status: { type: 'integer' }, error: { type: 'string' } },
  required: ['status', 'error'],
} as const;
const FULL_ERROR: Json = {
  ...PLAIN_ERROR,
  properties: {
    ...PLAIN_ERROR.properties,
    details: { description: 'Of a refusal, for programs' },
    errorId: { type: 'string', description: 'Of a failure, as in the log of the service' },
  },
};

/** Writes the types that routes refer to as schemas of components. All other types of the descriptor are left out. */
export class SchemaWriter {
  readonly errorReference: string;
  readonly #types: ModuleDescriptor['types'];
  /** Type → its key among the components. */
  readonly #keys: ReadonlyMap<string, string>;
  readonly #errorKey: string;
  readonly #errorSchema: Json;
  /** Names of the types that were referred to so far. */
  readonly #referred = new Set<string>();

  constructor({ types }: ModuleDescriptor, errors: 'full' | 'plain' = 'full') {
    this.#errorSchema = errors === 'plain' ? PLAIN_ERROR : FULL_ERROR;
    const names = new OpenApiNames();
    this.#types = types;
    this.#keys = new Map(
      Object.keys(types).map((name) => [name, names.unique(componentKey(name))]),
    );
    this.#errorKey = names.unique('Error');
    this.errorReference = `#/components/schemas/${this.#errorKey}`;
  }

  /**
   * Returns the schemas of the types that were referred to, directly or not. Call it after everything else is
   * written.
   */
  schemas(): Json {
    const schemas: [key: string, schema: Json][] = [];
    // Iterating a set also visits the elements that are added meanwhile.
    for (const name of this.#referred) {
      const type = this.#types[name];
      if (type !== undefined)
        schemas.push([this.#keys.get(name)!, { title: name, ...this.schema(type) }]);
    }
    return Object.fromEntries([...schemas, [this.#errorKey, this.#errorSchema]]);
  }

  schema(type: TypeSchema): Json {
    if ('$ref' in type) return { ...type, $ref: this.#reference(type.$ref) };
    if ('anyOf' in type) return { ...type, anyOf: type.anyOf.map((one) => this.schema(one)) };
    if ('oneOf' in type)
      return {
        ...type,
        oneOf: type.oneOf.map((one) => this.schema(one)),
        discriminator: { ...type.discriminator, mapping: this.#mapping(type.oneOf) },
      };
    if (type.type === 'array') return { ...type, items: this.schema(type.items) };
    if (type.type !== 'object') return type;
    if ('additionalProperties' in type)
      return { ...type, additionalProperties: this.schema(type.additionalProperties) };
    const properties = Object.entries(type.properties).map(([name, property]) => [
      name,
      'const' in property ? property : this.schema(property),
    ]);
    const { aliases, ...plain } = type;
    return {
      ...plain,
      properties: Object.fromEntries(properties) as Json,
      // JSON Schema has no keyword for aliases.
      ...(aliases === undefined ? {} : { 'x-svc-aliases': aliases }),
    };
  }

  /** Maps the tag of each case to a reference to the case's schema. */
  #mapping(cases: readonly { readonly $ref: string }[]): Json {
    const tagged = cases.flatMap(({ $ref }) => {
      const type = this.#types[nameIn($ref)];
      const tag = type !== undefined && 'properties' in type ? type.properties['type'] : undefined;
      return tag !== undefined && 'const' in tag ? [[tag.const, this.#reference($ref)]] : [];
    });
    return Object.fromEntries(tagged) as Json;
  }

  #reference(reference: string): string {
    const name = nameIn(reference);
    this.#referred.add(name);
    return `#/components/schemas/${this.#keys.get(name)!}`;
  }
}

function nameIn(reference: string): string {
  return reference.slice(REFERENCE_PREFIX.length);
}

/** Replaces characters that the key of a component may not have: `Page<Entry>` becomes `Page_Entry`. */
function componentKey(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').replace(/(?<=.)_$/, '');
}
