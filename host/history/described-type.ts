// DescribedType resolves a type of a descriptor: the form behind a reference or a nullable type, and the cases of a
// sum type by their tags. It is used to compare two modules, in which the same name may stand for different types.
import type { ModuleDescriptor, TypeSchema } from '@svc/contract';

export type Types = ModuleDescriptor['types'];
export type RecordType = Extract<TypeSchema, { readonly properties: unknown }>;
export type UnionType = Extract<TypeSchema, { readonly oneOf: unknown }>;
/** A type that is neither a reference nor nullable. */
export type Form = Exclude<TypeSchema, { readonly $ref: string } | { readonly anyOf: unknown }>;

export interface Described {
  readonly form: Form;
  /** True: null is a valid value as well. */
  readonly nullable: boolean;
}

const REFERENCE_PREFIX = '#/types/';
/**
 * Maximum number of references and nullable types that are followed; a longer chain counts as the type null. No chain
 * is endless, because admission refuses circular references.
 */
const STEPS_MAX = 1_000;

/** Returns the form of a type: follows references, and takes the type out of a nullable one. */
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

/**
 * Returns the tag of a case of a sum type: the constant in its field `type`. Returns undefined for a record that is
 * no case.
 */
export function tagOf({ properties }: RecordType): string | undefined {
  const tag = properties['type'];
  return tag !== undefined && 'const' in tag ? tag.const : undefined;
}

/** Returns the cases of a sum type, indexed by their tags. */
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

/** Returns the type of a field; undefined if the record has no such field. The type of a tag is an enum of its text. */
export function fieldOf({ properties }: RecordType, name: string): TypeSchema | undefined {
  if (!Object.hasOwn(properties, name)) return undefined;
  const property = properties[name]!;
  return 'const' in property ? { type: 'string', enum: [property.const] } : property;
}

/** Fields of records, indexed by their names and aliases. An entry is created when a record is first looked up. */
const fieldsByName = new WeakMap<RecordType, ReadonlyMap<string, string>>();

/**
 * Returns the field that is read from this member name in JSON: the field of the same name, or the field that has the
 * name as an alias. Returns undefined if there is none.
 */
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

/** Returns all member names that are read as the field: its own name first, then its aliases. */
export function namesOf({ aliases }: RecordType, field: string): readonly string[] {
  const further = aliases !== undefined && Object.hasOwn(aliases, field) ? aliases[field]! : [];
  return [field, ...further];
}

/** Returns the path of a member: `items[].sku`, or `["a b"]` for a name that is not an identifier. */
export function memberPath(path: string, name: string): string {
  const isWord = /^[A-Za-z_$][\w$]*$/.test(name);
  if (!isWord) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

/** Pairs of types that were visited, so that a recursive type is compared only once. */
export class TypePairs {
  readonly #met = new Map<Form, Set<Form>>();

  /** Returns false if the pair was added before. */
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
