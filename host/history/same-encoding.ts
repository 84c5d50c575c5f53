// SameEncoding compares two types of two modules: does a value become the same JSON text by either? Names of types make no difference,
// and neither do descriptions and aliases, by which values are only read.
import type { TypeSchema } from '@svc/contract';
import { casesOf, described, type Form, TypePairs, type Types } from './described-type.ts';
import type { TypeIn } from './narrowing.ts';

export function hasSameEncoding(one: TypeIn, other: TypeIn): boolean {
  return isSame(one, other, new TypePairs());
}

function isSame(one: TypeIn, other: TypeIn, pairs: TypePairs): boolean {
  const left = described(one.type, one.types);
  const right = described(other.type, other.types);
  if (left.nullable !== right.nullable) return false;
  return isSameForm(left.form, one.types, right.form, other.types, pairs);
}

function isSameForm(
  left: Form,
  leftTypes: Types,
  right: Form,
  rightTypes: Types,
  pairs: TypePairs,
): boolean {
  // A recursive type is compared where it is first visited.
  if (!pairs.add(left, right)) return true;
  const items = (type: TypeSchema, otherType: TypeSchema): boolean =>
    isSame({ type, types: leftTypes }, { type: otherType, types: rightTypes }, pairs);
  if ('oneOf' in left && 'oneOf' in right) {
    const [cases, others] = [casesOf(left, leftTypes), casesOf(right, rightTypes)];
    return (
      cases.size === others.size &&
      [...cases].every(([tag, form]) => {
        const same = others.get(tag);
        return same !== undefined && isSameForm(form, leftTypes, same, rightTypes, pairs);
      })
    );
  }
  if ('properties' in left && 'properties' in right) {
    const [fields, others] = [Object.entries(left.properties), Object.entries(right.properties)];
    return (
      fields.length === others.length &&
      fields.every(([name, property], index) => {
        const [otherName, other] = others[index]!;
        if (name !== otherName) return false;
        if ('const' in property || 'const' in other)
          return JSON.stringify(property) === JSON.stringify(other);
        return items(property, other);
      })
    );
  }
  if ('additionalProperties' in left && 'additionalProperties' in right)
    return items(left.additionalProperties, right.additionalProperties);
  if ('items' in left && 'items' in right) return items(left.items, right.items);
  return plainText(left) === plainText(right);
}

/** Returns a type without its description; two of different kinds have different texts. */
function plainText(form: Form): string {
  return JSON.stringify(form, (name, value: unknown) =>
    name === 'description' ? undefined : value,
  );
}
