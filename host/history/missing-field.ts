// MissingField suggests which member of a refused event has the old name of a field that the event lacks. It examines
// the event alone, so it does not need the previous module.
import type { TypeSchema } from '@svc/contract';
import { casesOf, described, fieldOf, readAs, type Types } from './described-type.ts';
import { COMPARED_NAMES_MAX, likelyRename } from './likely-rename.ts';

/**
 * Returns the member that was perhaps renamed to a missing field, in the innermost object that has a likely one;
 * undefined if there is none.
 */
export function renamedInEvent(json: string, type: TypeSchema, types: Types): string | undefined {
  try {
    return renamedIn(JSON.parse(json), type, types);
  } catch {
    // The text is not JSON, or is nested too deeply for the stack.
    return undefined;
  }
}

function renamedIn(value: unknown, type: TypeSchema, types: Types): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { form } = described(type, types);
  if ('items' in form || 'additionalProperties' in form) {
    const inner = 'items' in form ? form.items : form.additionalProperties;
    return first(Object.values(value), (one) => renamedIn(one, inner, types));
  }
  const tag: unknown = 'type' in value ? value.type : undefined;
  const record =
    'oneOf' in form ? casesOf(form, types).get(typeof tag === 'string' ? tag : '') : form;
  if (record === undefined || !('properties' in record)) return undefined;
  const given = new Map(Object.entries(value).map(([name, one]) => [name, one as unknown]));
  const names = [...given.keys()];
  const nested = first(names, (name) => {
    const field = readAs(record, name);
    return field && renamedIn(given.get(name), fieldOf(record, field)!, types);
  });
  if (nested !== undefined) return nested;
  const unread = names.filter((name) => readAs(record, name) === undefined);
  const read = new Set(names.map((name) => readAs(record, name)));
  const missing = record.required.filter((field) => !read.has(field));
  return first(missing.slice(0, COMPARED_NAMES_MAX), (field) => {
    const fieldType = fieldOf(record, field)!;
    return likelyRename(field, unread, (name) => isLike(given.get(name), fieldType, types));
  });
}

/** Returns whether the value has the JSON kind of the type. */
function isLike(value: unknown, type: TypeSchema, types: Types): boolean {
  const { form } = described(type, types);
  if ('items' in form) return Array.isArray(value);
  if ('oneOf' in form || form.type === 'object')
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (form.type === 'string' || form.type === 'boolean') return typeof value === form.type;
  return form.type !== 'null' && typeof value === 'number';
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
