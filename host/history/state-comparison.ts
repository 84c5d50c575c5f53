// StateComparison compares two states that two modules have folded from the same events, as far as both modules
// declare the same fields. A field that the new module does not declare, or declares with another type, is reported
// once as a difference of the types (`typeDifferences`) and not for each entity. A field that only the new module
// declares is no difference, and neither is the order of fields and of a map's keys, because objects in JSON have no
// order.
import type { TypeSchema } from '@svc/contract';
import {
  casesOf,
  described,
  fieldOf,
  memberPath,
  namesOf,
  readAs,
  TypePairs,
  type Form,
  type RecordType,
} from './described-type.ts';
import { COMPARED_NAMES_MAX, likelyRename } from './likely-rename.ts';
import type { TypeIn } from './narrowing.ts';

export interface TypeDifference {
  readonly kind: 'removed' | 'retyped';
  /** Path such as `items[].quantity`. */
  readonly path: string;
  /** A field of the new type that the removed field was perhaps renamed to. */
  readonly renamed?: string | undefined;
}

export interface ValueDifference {
  /** Path such as `items[0].quantity`; empty for the whole state. */
  readonly path: string;
  /** The path without list indexes and map keys, by which differences are grouped. */
  readonly pattern: string;
  /** JSON text, truncated. */
  readonly before: string;
  readonly now: string;
}

/** Kind of a type's JSON; values of the same kind can be compared. */
type Kind = 'text' | 'flag' | 'number' | 'null' | 'list' | 'map' | 'record' | 'union';

/** Maximum length of the text of a value in a difference, in UTF-16 units. */
const SHOWN_MAX = 100;

export function typeDifferences(before: TypeIn, now: TypeIn): readonly TypeDifference[] {
  const found: TypeDifference[] = [];
  compareTypes(before, now, '', new TypePairs(), found);
  return found;
}

function compareTypes(
  before: TypeIn,
  now: TypeIn,
  path: string,
  pairs: TypePairs,
  found: TypeDifference[],
): void {
  const old = described(before.type, before.types).form;
  const present = described(now.type, now.types).form;
  // Another occurrence of the same pair has the same differences.
  if (!pairs.add(old, present)) return;
  const step = (one: TypeSchema, other: TypeSchema, at: string) =>
    compareTypes({ ...before, type: one }, { ...now, type: other }, at, pairs, found);
  if (kindOf(old) !== kindOf(present)) found.push({ kind: 'retyped', path });
  else if ('items' in old && 'items' in present) step(old.items, present.items, `${path}[]`);
  else if ('additionalProperties' in old && 'additionalProperties' in present)
    step(old.additionalProperties, present.additionalProperties, `${path}[]`);
  else if ('properties' in old && 'properties' in present)
    compareFields(old, present, path, step, found);
  else if ('oneOf' in old && 'oneOf' in present) {
    const cases = casesOf(present, now.types);
    for (const [tag, one] of casesOf(old, before.types)) {
      const other = cases.get(tag);
      if (other !== undefined) compareFields(one, other, path, step, found);
    }
  }
}

function compareFields(
  before: RecordType,
  now: RecordType,
  path: string,
  step: (before: TypeSchema, now: TypeSchema, at: string) => void,
  found: TypeDifference[],
): void {
  const added = Object.keys(now.properties).filter((field) =>
    namesOf(now, field).every((name) => fieldOf(before, name) === undefined),
  );
  let removedCount = 0;
  for (const name of Object.keys(before.properties)) {
    const old = fieldOf(before, name)!;
    const field = readAs(now, name);
    const present = field === undefined ? undefined : fieldOf(now, field);
    if (present !== undefined) {
      step(old, present, memberPath(path, name));
      continue;
    }
    const alike = (other: string) => JSON.stringify(fieldOf(now, other)) === JSON.stringify(old);
    const isCompared = ++removedCount <= COMPARED_NAMES_MAX;
    const renamed = isCompared ? likelyRename(name, added, alike) : undefined;
    found.push({ kind: 'removed', path: memberPath(path, name), renamed });
  }
}

/**
 * Returns the first difference; undefined if everything that both modules declare is equal. Texts that are not JSON
 * are compared as texts.
 */
export function stateDifference(
  before: string,
  now: string,
  beforeType: TypeIn,
  nowType: TypeIn,
): ValueDifference | undefined {
  if (before === now) return undefined;
  let steps: Steps | undefined;
  try {
    steps = difference(JSON.parse(before), JSON.parse(now), beforeType, nowType);
  } catch {
    // A text is not JSON, or is nested too deeply for the stack: a module written in another language may store either.
    steps = { steps: [], before, now };
  }
  if (steps === undefined) return undefined;
  const path = steps.steps.toReversed();
  return {
    path: joined(path),
    pattern: joined(path.map((step) => (step.startsWith('[') ? '[]' : step))),
    before: shown(steps.before),
    now: shown(steps.now),
  };
}

interface Steps {
  /** Steps of the path, innermost first. */
  readonly steps: string[];
  readonly before: unknown;
  readonly now: unknown;
}

/** The type of a value; undefined if it is unknown, and then the whole value is compared. */
type Known = TypeIn | undefined;

function difference(
  before: unknown,
  now: unknown,
  beforeType: Known,
  nowType: Known,
): Steps | undefined {
  if (before === now) return undefined;
  const old = beforeType && described(beforeType.type, beforeType.types).form;
  const present = nowType && described(nowType.type, nowType.types).form;
  if (old !== undefined && present !== undefined) {
    if (kindOf(old) !== kindOf(present)) return undefined;
    if (isSameNumber(before, now, old, present)) return undefined;
  }
  const here = { steps: [], before, now };
  if (Array.isArray(before) && Array.isArray(now)) {
    const items = (type: Known, form: Form | undefined): Known =>
      type && form && 'items' in form ? { ...type, type: form.items } : undefined;
    const [one, other] = [items(beforeType, old), items(nowType, present)];
    for (let at = 0; at < Math.max(before.length, now.length); at++) {
      const found = difference(before[at], now[at], one, other);
      if (found !== undefined) return within(found, `[${at}]`);
    }
    return undefined;
  }
  if (!isObject(before) || !isObject(now)) return here;
  const isMap = old !== undefined && 'additionalProperties' in old;
  const fields = (type: Known, form: Form | undefined, value: object) =>
    type && fieldTypes(type, form, value);
  const one = fields(beforeType, old, before);
  const other = fields(nowType, present, now);
  for (const [name, field] of namePairs(before, now, nowType && recordOf(nowType, present, now))) {
    const oldField = one?.(name);
    const newField = other?.(field);
    if (
      one !== undefined &&
      other !== undefined &&
      (oldField === undefined || newField === undefined)
    )
      continue;
    const found = difference(valueOf(before, name), valueOf(now, field), oldField, newField);
    if (found !== undefined) return within(found, isMap ? `[${JSON.stringify(name)}]` : name);
  }
  return undefined;
}

/** Returns a function from a field's name to its type; undefined if the type declares nothing about the fields. */
function fieldTypes(
  { types }: TypeIn,
  form: Form | undefined,
  value: object,
): ((name: string) => Known) | undefined {
  if (form === undefined) return undefined;
  if ('additionalProperties' in form) return () => ({ type: form.additionalProperties, types });
  const record = recordOf({ types }, form, value);
  if (record === undefined) return undefined;
  return (name) => {
    const type = fieldOf(record, name);
    return type === undefined ? undefined : { type, types };
  };
}

/** Returns the record type that describes the value; undefined if there is none. */
function recordOf(
  { types }: Pick<TypeIn, 'types'>,
  form: Form | undefined,
  value: object,
): RecordType | undefined {
  if (form === undefined) return undefined;
  const record = 'oneOf' in form ? caseOf(form, value, types) : form;
  return record !== undefined && 'properties' in record ? record : undefined;
}

/** Maps each name in either value to the name of the same field in the new value, which is found through aliases. */
function namePairs(before: object, now: object, record: RecordType | undefined) {
  const pairs = new Map(
    Object.keys(before).map((name) => [name, (record && readAs(record, name)) ?? name]),
  );
  const paired = new Set(pairs.values());
  for (const name of Object.keys(now)) if (!paired.has(name)) pairs.set(name, name);
  return pairs;
}

function caseOf(
  form: Extract<Form, { readonly oneOf: unknown }>,
  value: object,
  types: TypeIn['types'],
): RecordType | undefined {
  const tag = valueOf(value, 'type');
  return typeof tag === 'string' ? casesOf(form, types).get(tag) : undefined;
}

/** Returns whether a 32-bit float equals the new number, which has more digits if it is a 64-bit float. */
function isSameNumber(before: unknown, now: unknown, old: Form, present: Form): boolean {
  return (
    isFloat(old) &&
    !isFloat(present) &&
    typeof before === 'number' &&
    typeof now === 'number' &&
    Math.fround(before) === Math.fround(now)
  );
}

function isFloat(form: Form): boolean {
  return 'format' in form && form.format === 'float';
}

function kindOf(form: Form): Kind {
  if ('oneOf' in form) return 'union';
  if ('items' in form) return 'list';
  if ('additionalProperties' in form) return 'map';
  if ('properties' in form) return 'record';
  if (form.type === 'string') return 'text';
  if (form.type === 'boolean') return 'flag';
  return form.type === 'null' ? 'null' : 'number';
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function valueOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

function within(found: Steps, step: string): Steps {
  found.steps.push(step);
  return found;
}

/** Joins steps to a path. A step is a field's name, or an index or a key in brackets. */
function joined(steps: readonly string[]): string {
  return steps.reduce(
    (path, step) => (step.startsWith('[') ? path + step : memberPath(path, step)),
    '',
  );
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text =
    typeof value === 'string' && value.length > SHOWN_MAX ? value.slice(0, SHOWN_MAX) : value;
  const json = JSON.stringify(text);
  return json.length > SHOWN_MAX ? `${json.slice(0, SHOWN_MAX)}…` : json;
}
