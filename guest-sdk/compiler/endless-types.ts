// EndlessTypes: finds types without a finite value: a class that always contains itself can be neither created nor
// written.
import type { TypeSchema } from '@svc/contract';

type Types = Readonly<Record<string, TypeSchema>>;

export interface EndlessField {
  /** Name of the type in `types`, and name of its field. */
  readonly type: string;
  readonly field: string;
}

/**
 * Returns the fields by which a type always contains itself, without a null, array, map or other case in between.
 * `absentable`: schemas of fields that may be absent.
 */
export function endlessFields(types: Types, absentable: ReadonlySet<unknown>): EndlessField[] {
  const finite = finiteTypes(types, absentable);
  const found: EndlessField[] = [];
  for (const [type, schema] of Object.entries(types)) {
    if (finite.has(type) || !('properties' in schema)) continue;
    for (const [field, property] of Object.entries(schema.properties))
      if ('$ref' in property && reaches(types, finite, nameIn(property.$ref), type))
        found.push({ type, field });
  }
  return found;
}

/** Starts with the types that refer to no other, and adds types until no further one is finite. */
function finiteTypes(types: Types, absentable: ReadonlySet<unknown>): ReadonlySet<string> {
  const finite = new Set<string>();
  const isFinite = (schema: TypeSchema | { readonly const: string }): boolean => {
    if (absentable.has(schema)) return true;
    if ('$ref' in schema) return finite.has(nameIn(schema.$ref));
    if ('oneOf' in schema) return schema.oneOf.some((one) => isFinite(one));
    return (
      !('properties' in schema) || Object.values(schema.properties).every((one) => isFinite(one))
    );
  };
  for (let before = -1; before < finite.size;) {
    before = finite.size;
    for (const [name, schema] of Object.entries(types)) if (isFinite(schema)) finite.add(name);
  }
  return finite;
}

/** Returns whether a value of `from` always contains one of `to`, or `to` is one of its cases. */
function reaches(types: Types, finite: ReadonlySet<string>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const waiting = [from];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (name === to && !finite.has(name)) return true;
    if (seen.has(name) || finite.has(name)) continue;
    seen.add(name);
    const schema = types[name]!;
    const next =
      'oneOf' in schema
        ? schema.oneOf
        : 'properties' in schema
          ? Object.values(schema.properties)
          : [];
    for (const one of next) if ('$ref' in one) waiting.push(nameIn(one.$ref));
  }
  return false;
}

function nameIn(reference: string): string {
  return reference.slice('#/types/'.length);
}
