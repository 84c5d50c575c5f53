// JsonMismatch: whether a JSON value is one of a type of a descriptor, as every hosting reads it: members that the type
// does not have are skipped, and a member may have an alias of its field as its name.
import {
  type NamedTypes,
  type RecordType,
  type UnionType,
  bareType,
  bareTypeName,
} from './column-type.ts';
import { isScalarValue } from './scalar-value.ts';
import type { TypeSchema } from './type-schema.ts';

/** Maximum number of levels of a value. */
const DEPTH_MAX = 64;

/**
 * Returns the first part of the value that the type does not have, with its path in the value: `/lines/0/sku is not a
 * text`. Returns undefined if the value fits. The work is bounded by the size of the value.
 */
export function jsonMismatch(
  value: unknown,
  schema: TypeSchema,
  types: NamedTypes,
): string | undefined {
  return new Comparison(types).mismatch(value, schema, '', 0);
}

type Members = Readonly<Record<string, unknown>>;

class Comparison {
  readonly #types: NamedTypes;
  /** Cases of unions by their tags, filled when a union is first met. */
  readonly #cases = new Map<UnionType, ReadonlyMap<string, RecordType>>();

  constructor(types: NamedTypes) {
    this.#types = types;
  }

  mismatch(value: unknown, schema: TypeSchema, path: string, depth: number): string | undefined {
    if (depth > DEPTH_MAX) return `it nests deeper than ${DEPTH_MAX} levels`;
    const bare = bareType(schema, this.#types);
    if (bare === undefined) return `${shown(path)} has a type that is not declared`;
    const { type, isNullable } = bare;
    if (value === null && isNullable) return undefined;
    const isNot = `${shown(path)} is not ${bareTypeName(type)}`;
    if ('items' in type) {
      if (!Array.isArray(value)) return isNot;
      return first(value.entries(), ([index, item]) =>
        this.mismatch(item, type.items, `${path}/${index}`, depth + 1),
      );
    }
    if ('oneOf' in type || type.type === 'object') {
      if (!isMembers(value)) return isNot;
      if ('oneOf' in type) return this.#caseMismatch(value, type, path, depth);
      if ('properties' in type) return this.#recordMismatch(value, type, path, depth);
      return first(Object.entries(value), ([name, member]) =>
        this.mismatch(member, type.additionalProperties, `${path}/${name}`, depth + 1),
      );
    }
    const fits = type.type === 'null' ? value === null : isScalarValue(value, type);
    return fits ? undefined : isNot;
  }

  #recordMismatch(
    value: Members,
    { properties, required, aliases = {} }: RecordType,
    path: string,
    depth: number,
  ): string | undefined {
    const namesOf = (field: string) =>
      Object.hasOwn(aliases, field) ? [field, ...aliases[field]!] : [field];
    const missing = required.find(
      (field) => !namesOf(field).some((name) => Object.hasOwn(value, name)),
    );
    if (missing !== undefined) return `${shown(path)} has no '${missing}'`;
    return first(Object.entries(value), ([name, member]) => {
      if (!Object.hasOwn(properties, name)) return undefined;
      const property = properties[name]!;
      if (!('const' in property))
        return this.mismatch(member, property, `${path}/${name}`, depth + 1);
      return member === property.const ? undefined : `${path}/${name} is not '${property.const}'`;
    });
  }

  #caseMismatch(value: Members, union: UnionType, path: string, depth: number): string | undefined {
    const tag = Object.hasOwn(value, 'type') ? value['type'] : undefined;
    const found = typeof tag === 'string' ? this.#casesOf(union).get(tag) : undefined;
    if (found === undefined) return `${path}/type names no case of the union`;
    return this.#recordMismatch(value, found, path, depth);
  }

  #casesOf(union: UnionType): ReadonlyMap<string, RecordType> {
    let cases = this.#cases.get(union);
    if (cases !== undefined) return cases;
    cases = new Map(
      union.oneOf.flatMap((reference) => {
        const record = bareType(reference, this.#types)?.type;
        if (record === undefined || !('properties' in record)) return [];
        const tag = record.properties['type'];
        return tag !== undefined && 'const' in tag ? [[tag.const, record] as const] : [];
      }),
    );
    this.#cases.set(union, cases);
    return cases;
  }
}

function shown(path: string): string {
  return path === '' ? 'it' : path;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function first<Item>(
  items: Iterable<Item>,
  problem: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = problem(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
