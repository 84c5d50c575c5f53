// Narrowing compares a type of a new module with that of the previous one: does it accept all JSON that the previous
// type accepted? It finds a difference only if a value was accepted before and is refused now. Fields that a type
// does not declare are skipped when JSON is read, so they make no difference.
import type { TypeSchema } from '@svc/contract';
import {
  casesOf,
  described,
  fieldOf,
  isNull,
  memberPath,
  namesOf,
  readAs,
  tagOf,
  TypePairs,
  type Form,
  type RecordType,
  type Types,
  type UnionType,
} from './described-type.ts';
import { aliasHint, likelyRename } from './likely-rename.ts';

/** A type, and the named types of its module, to which it may refer. */
export interface TypeIn {
  readonly type: TypeSchema;
  readonly types: Types;
}

export interface Narrowing {
  /** Path such as `lines[].quantity`; empty for the whole value. */
  readonly path: string;
  readonly problem: string;
}

/** Returns a difference due to which `now` refuses JSON that `before` accepted; undefined if there is none. */
export function narrowing(before: TypeIn, now: TypeIn): Narrowing | undefined {
  return narrowed(before, now, '', new TypePairs());
}

function narrowed(
  before: TypeIn,
  now: TypeIn,
  path: string,
  pairs: TypePairs,
): Narrowing | undefined {
  const old = described(before.type, before.types);
  const present = described(now.type, now.types);
  if (old.nullable && !present.nullable) return { path, problem: 'null is refused' };
  if (isNull(old.form)) return undefined;
  const one = { form: old.form, types: before.types };
  return formNarrowed(one, { form: present.form, types: now.types }, path, pairs);
}

interface FormIn {
  readonly form: Form;
  readonly types: Types;
}

function formNarrowed(
  { form: before, types: oldTypes }: FormIn,
  { form: now, types: newTypes }: FormIn,
  path: string,
  pairs: TypePairs,
): Narrowing | undefined {
  // A recursive type is compared where it is first visited.
  if (!pairs.add(before, now)) return undefined;
  const item = (old: TypeSchema, present: TypeSchema, at: string) =>
    narrowed({ type: old, types: oldTypes }, { type: present, types: newTypes }, at, pairs);
  if ('oneOf' in before) {
    for (const [tag, one] of casesOf(before, oldTypes)) {
      const found = formNarrowed(
        { form: one, types: oldTypes },
        { form: now, types: newTypes },
        path,
        pairs,
      );
      if (found !== undefined)
        return found.path === path
          ? { path, problem: `of case '${tag}': ${found.problem}` }
          : found;
    }
    return undefined;
  }
  if ('oneOf' in now) {
    const present = 'properties' in before ? caseFor(before, now, newTypes) : undefined;
    if (present === undefined) return { path, problem: caseProblem(before) };
    return formNarrowed(
      { form: before, types: oldTypes },
      { form: present, types: newTypes },
      path,
      pairs,
    );
  }
  if ('properties' in before && 'properties' in now) return recordNarrowed(before, now, path, item);
  if ('properties' in before && 'additionalProperties' in now) {
    for (const name of Object.keys(before.properties)) {
      const found = item(fieldOf(before, name)!, now.additionalProperties, memberPath(path, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if ('additionalProperties' in before && 'properties' in now) {
    const [first] = now.required;
    if (first !== undefined)
      return { path: memberPath(path, first), problem: 'it may not be missing any more' };
    for (const field of Object.keys(now.properties))
      for (const name of namesOf(now, field)) {
        const present = fieldOf(now, field)!;
        const found = item(before.additionalProperties, present, memberPath(path, name));
        if (found !== undefined) return found;
      }
    return undefined;
  }
  if ('additionalProperties' in before && 'additionalProperties' in now)
    return item(before.additionalProperties, now.additionalProperties, `${path}[]`);
  if ('items' in before && 'items' in now) return item(before.items, now.items, `${path}[]`);
  const problem = plainProblem(before, now);
  return problem === undefined ? undefined : { path, problem };
}

function recordNarrowed(
  before: RecordType,
  now: RecordType,
  path: string,
  item: (old: TypeSchema, present: TypeSchema, at: string) => Narrowing | undefined,
): Narrowing | undefined {
  const given = new Set(before.required);
  const required = new Set(now.required);
  for (const name of now.required)
    if (!namesOf(now, name).some((one) => given.has(one)))
      return {
        path: memberPath(path, name),
        problem: `it may not be missing any more${renameHint(before, now, name)}`,
      };
  /** For each field of the new type: the old field that it is read from. */
  const readFrom = new Map<string, string>();
  for (const name of Object.keys(before.properties)) {
    const old = fieldOf(before, name)!;
    const own = readAs(now, name);
    const other = own === undefined ? undefined : readFrom.get(own);
    if (other !== undefined)
      return { path: memberPath(path, name), problem: `it is one field with '${other}' now` };
    if (own !== undefined) readFrom.set(own, name);
    for (const alias of namesOf(before, name)) {
      const field = readAs(now, alias);
      if (field !== own && own !== undefined && required.has(own))
        return { path: memberPath(path, name), problem: `its alias '${alias}' is read no more` };
      if (field === undefined) continue;
      const found = item(old, fieldOf(now, field)!, memberPath(path, alias));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/**
 * Returns the end of the message about a new required field if a removed field was perhaps renamed to it; otherwise
 * an empty text.
 */
function renameHint(before: RecordType, now: RecordType, name: string): string {
  const gone = Object.keys(before.properties).filter((one) => readAs(now, one) === undefined);
  const form = JSON.stringify(fieldOf(now, name));
  const renamed = likelyRename(name, gone, (one) => JSON.stringify(fieldOf(before, one)) === form);
  return renamed === undefined ? '' : aliasHint(renamed);
}

function caseFor(before: RecordType, now: UnionType, types: Types): RecordType | undefined {
  const tag = tagOf(before);
  return tag === undefined ? undefined : casesOf(now, types).get(tag);
}

function caseProblem(before: Form): string {
  const tag = 'properties' in before ? tagOf(before) : undefined;
  return tag === undefined
    ? `${nameOf(before)} is refused, a case is asked for`
    : `case '${tag}' is refused`;
}

/**
 * Compares types that contain no other types, or two types of different kinds, such as a list and a text. Returns the
 * problem; undefined if there is none.
 */
function plainProblem(before: NoUnion, now: NoUnion): string | undefined {
  if (before.type === 'string' && now.type === 'string') return textProblem(before, now);
  if (before.type === 'boolean' && now.type === 'boolean') return undefined;
  const [low, high] = rangeOf(before) ?? [];
  const range = rangeOf(now);
  if (low !== undefined && high !== undefined) {
    if (range !== undefined)
      return low < range[0] || high > range[1]
        ? `${nameOf(before)} became ${nameOf(now)}`
        : undefined;
    // An integer beyond 2^53 is encoded as text, which a number does not accept.
    if (now.type === 'number' && before.type === 'integer') return undefined;
  }
  if (before.type === 'number' && now.type === 'number')
    return before.format === 'double' && now.format === 'float'
      ? `${nameOf(before)} became ${nameOf(now)}`
      : undefined;
  return `${nameOf(before)} became ${nameOf(now)}`;
}

type Text = Extract<Form, { readonly type: 'string' }>;
type NoUnion = Exclude<Form, UnionType>;

function textProblem(before: Text, now: Text): string | undefined {
  if (now.enum !== undefined) {
    if (before.enum === undefined) return `${nameOf(before)} became ${nameOf(now)}`;
    const missing = before.enum.find((member) => !now.enum!.includes(member));
    return missing === undefined ? undefined : `member '${missing}' is refused`;
  }
  if (before.format === now.format && before.contentEncoding === now.contentEncoding)
    return undefined;
  const isAnyText = now.format === undefined && now.contentEncoding === undefined;
  return isAnyText ? undefined : `${nameOf(before)} became ${nameOf(now)}`;
}

function rangeOf(form: NoUnion): readonly [low: bigint, high: bigint] | undefined {
  if (form.type === 'integer') return [BigInt(form.minimum), BigInt(form.maximum)];
  if (!('format' in form)) return undefined;
  if (form.format === 'int64') return [-(2n ** 63n), 2n ** 63n - 1n];
  if (form.format === 'uint64') return [0n, 2n ** 64n - 1n];
  return undefined;
}

/** Returns what a value of the type is called in messages. */
function nameOf(form: Form): string {
  if ('oneOf' in form) return 'a case';
  if (form.type === 'integer') return `an integer from ${form.minimum} to ${form.maximum}`;
  if ('items' in form) return 'a list';
  if ('additionalProperties' in form) return 'a map';
  if ('properties' in form) return 'an object';
  if (form.type === 'string') {
    if (form.enum !== undefined) return 'a member of an enum';
    if (form.format === 'decimal') return 'a decimal';
    if (form.format === 'duration') return 'a duration';
    if (form.format !== undefined) return 'a date and time';
    return form.contentEncoding === undefined ? 'text' : 'bytes in base64';
  }
  if (form.type === 'number') return form.format === 'float' ? 'a 32-bit float' : 'a double';
  if (form.type === 'boolean') return 'true or false';
  return form.type === 'null' ? 'null' : `a 64-bit integer (${form.format})`;
}
