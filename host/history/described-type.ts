// DescribedType: a type of a descriptor, looked at with what it refers to: the form behind a reference or
// null, and the cases of a sum type by their tags. Two modules are compared through it, which use the same
// names for different types.
import type { ModuleDescriptor, TypeSchema } from '@svc/contract';

export type Types = ModuleDescriptor['types'];
export type RecordType = Extract<TypeSchema, { readonly properties: unknown }>;
export type UnionType = Extract<TypeSchema, { readonly oneOf: unknown }>;
/** No reference, and not null. */
export type Form = Exclude<TypeSchema, { readonly $ref: string } | { readonly anyOf: unknown }>;

export interface Described {
  readonly form: Form;
  /** Null is a value of it as well. */
  readonly nullable: boolean;
}

const REFERENCE_PREFIX = '#/types/';
/** References lead to something else in the end: a descriptor whose do not is refused at its admission. */
const STEPS_MAX = 1_000;

export function described(type: TypeSchema, types: Types): Described {
  let nullable = false;
  let form = type;
  for (let step = 0; step < STEPS_MAX; step++)
    if ('$ref' in form) form = types[form.$ref.slice(REFERENCE_PREFIX.length)]!;
    else if ('anyOf' in form) {
      nullable = true;
      form = form.anyOf[0];
    } else return { form, nullable: nullable || isNull(form) };
  return { form: { type: 'null' }, nullable: true };
}

export function isNull(form: Form): boolean {
  return !('oneOf' in form) && form.type === 'null';
}

/** Of a record: the name that stands in its field `type` when it is a case; undefined when it is none. */
export function tagOf({ properties }: RecordType): string | undefined {
  const tag = properties['type'];
  return tag !== undefined && 'const' in tag ? tag.const : undefined;
}

/** A sum type's cases by their tags. */
export function casesOf({ oneOf }: UnionType, types: Types): ReadonlyMap<string, RecordType> {
  const cases = new Map<string, RecordType>();
  for (const reference of oneOf) {
    const { form } = described(reference, types);
    if (!('properties' in form)) continue;
    const tag = tagOf(form);
    if (tag !== undefined) cases.set(tag, form);
  }
  return cases;
}

/** A field's type: of a tag, text. Undefined: there is no such field. */
export function fieldOf({ properties }: RecordType, name: string): TypeSchema | undefined {
  if (!Object.hasOwn(properties, name)) return undefined;
  const property = properties[name]!;
  return 'const' in property ? { type: 'string', enum: [property.const] } : property;
}

/** The fields of records by all names that are read as them; made when a record is first asked for a name. */
const fieldsByName = new WeakMap<RecordType, ReadonlyMap<string, string>>();

/** The field that reads what stands under a name in JSON: the one of the name, or of which it is an alias. */
export function readAs(record: RecordType, name: string): string | undefined {
  let fields = fieldsByName.get(record);
  if (fields === undefined) fieldsByName.set(record, (fields = fieldNames(record)));
  return fields.get(name);
}

function fieldNames(record: RecordType): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const field of Object.keys(record.properties)) fields.set(field, field);
  for (const field of Object.keys(record.aliases ?? {}))
    for (const name of namesOf(record, field)) if (!fields.has(name)) fields.set(name, field);
  return fields;
}

/** All names that are read as a field of the type, its own first. */
export function namesOf({ aliases }: RecordType, field: string): readonly string[] {
  const further = aliases !== undefined && Object.hasOwn(aliases, field) ? aliases[field]! : [];
  return [field, ...further];
}

/** `items[].sku`; of a name that is no word, `["a b"]`. */
export function memberPath(path: string, name: string): string {
  const isWord = /^[A-Za-z_$][\w$]*$/.test(name);
  if (!isWord) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Pairs of types that were met, so that one that holds itself is looked at once. */
export class TypePairs {
  readonly #met = new Map<Form, Set<Form>>();

  /** False: it was met before. */
  add(one: Form, other: Form): boolean {
    const others = this.#met.get(one);
    if (others === undefined) {
      this.#met.set(one, new Set([other]));
      return true;
    }
    if (others.has(other)) return false;
    others.add(other);
    return true;
  }
}
