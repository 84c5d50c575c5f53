// Draft: the state of a form for a value of a declared type, from the empty form to the JSON text that is sent. It
// keeps everything as the user typed it, even if it does not fit the type (see draft-problems.ts), and keeps numbers
// as text, so that 64-bit integers stay exact. The functions are pure; drafts are immutable.
import type { TypeSchema } from '@svc/contract';
import { jsonText, type JsonValue } from '../view/json-value.ts';

export type Types = Readonly<Record<string, unknown>>;

export type Draft =
  /** Plain text, a time, base64 or a value of an enum. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'number'; readonly text: string }
  /** A 64-bit integer: sent as a JSON string where a JSON number is not exact. */
  | { readonly kind: 'big'; readonly text: string }
  | { readonly kind: 'flag'; readonly on: boolean }
  | { readonly kind: 'null' }
  | { readonly kind: 'list'; readonly items: readonly Draft[] }
  | { readonly kind: 'map'; readonly entries: readonly MapEntry[] }
  | { readonly kind: 'record'; readonly fields: readonly RecordField[] }
  /** `value` is the value other than null, kept while `isNull` is true; undefined if there was none yet. */
  | { readonly kind: 'nullable'; readonly isNull: boolean; readonly value: Draft | undefined }
  /** `value` is the record of the chosen case; `tag` is empty until a case is chosen. */
  | { readonly kind: 'union'; readonly tag: string; readonly value: Draft | undefined }
  /** A value that the user has not opened yet: its type is recursive, too large or unknown, or it does not fit. */
  | { readonly kind: 'unopened' };

export interface MapEntry {
  readonly key: string;
  readonly value: Draft;
}
export interface RecordField {
  readonly name: string;
  readonly isLeftOut: boolean;
  readonly value: Draft;
}

export type RecordSchema = Extract<TypeSchema, { readonly properties: unknown }>;
export type UnionSchema = Extract<TypeSchema, { readonly oneOf: unknown }>;

const REFERENCE = '#/types/';
/** Maximum number of named types around a value of an empty form; a value that is nested deeper is unopened. */
const OPENED_MAX = 8;
/**
 * Maximum number of values in an empty form, which may otherwise grow exponentially with the depth of its types; the
 * values beyond it are unopened.
 */
const VALUES_MAX = 300;

/**
 * Returns the type that a schema refers to, or the schema itself. Undefined: a reference names no type, or references
 * form a circle.
 */
export function resolved(schema: TypeSchema, types: Types): TypeSchema | undefined {
  let now = schema;
  for (let steps = 0; steps < 20; steps++) {
    if (!('$ref' in now)) return now;
    const name = typeName(now);
    if (!Object.hasOwn(types, name)) return undefined;
    now = types[name] as TypeSchema;
  }
  return undefined;
}

/** Returns the name of the type if the schema is a reference, else an empty text. */
export function typeName(schema: TypeSchema): string {
  return '$ref' in schema ? schema.$ref.slice(REFERENCE.length) : '';
}

/** Returns the cases of a union by their tags, in the declared order. */
export function casesOf(schema: UnionSchema, types: Types): Map<string, RecordSchema> {
  const cases = new Map<string, RecordSchema>();
  for (const option of schema.oneOf) {
    const record = resolved(option, types);
    if (record === undefined || !('properties' in record)) continue;
    const tag = record.properties['type'];
    if (tag !== undefined && 'const' in tag) cases.set(tag.const, record);
  }
  return cases;
}

/** Returns the fields that the user fills in: all except the tag of a union's case. */
export function fieldsOf(schema: RecordSchema): [string, TypeSchema][] {
  return Object.entries(schema.properties).filter(
    (entry): entry is [string, TypeSchema] => !('const' in entry[1]),
  );
}

/**
 * Returns the initial form of a type: texts and numbers are empty, booleans are false, optional fields are left out,
 * lists have no items, nullable values are null, and a union has a case only if there is no choice.
 */
export function emptyDraft(schema: TypeSchema, types: Types): Draft {
  return new EmptyForm(types).draft(schema, []);
}

class EmptyForm {
  readonly #types: Types;
  #values = 0;

  constructor(types: Types) {
    this.#types = types;
  }

  /** Creates a draft. `opened`: names of the types around the value. A type within itself is left unopened. */
  draft(schema: TypeSchema, opened: readonly string[]): Draft {
    const type = resolved(schema, this.#types);
    const reference = typeName(schema);
    const isTooMuch = ++this.#values > VALUES_MAX || opened.length > OPENED_MAX;
    if (type === undefined || isTooMuch || opened.includes(reference)) return { kind: 'unopened' };
    const within = reference === '' ? opened : [...opened, reference];
    if ('anyOf' in type) return { kind: 'nullable', isNull: true, value: undefined };
    if ('oneOf' in type) return this.#union(type, within);
    if (!('type' in type)) return { kind: 'unopened' };
    switch (type.type) {
      case 'string':
        return { kind: 'text', text: '' };
      case 'boolean':
        return { kind: 'flag', on: false };
      case 'integer':
      case 'number':
        return { kind: 'number', text: '' };
      case 'null':
        return { kind: 'null' };
      case 'array':
        return { kind: 'list', items: [] };
      case 'object':
        if ('properties' in type) return this.#record(type, within);
        return { kind: 'map', entries: [] };
      default:
        return { kind: 'big', text: '' };
    }
  }

  #record(type: RecordSchema, within: readonly string[]): Draft {
    const fields = fieldsOf(type).map(([name, schema]) => ({
      name,
      isLeftOut: !type.required.includes(name),
      value: this.draft(schema, within),
    }));
    return { kind: 'record', fields };
  }

  /** Creates the draft of a union, with its case selected if the union has only one. */
  #union(type: UnionSchema, within: readonly string[]): Draft {
    const [only, ...others] = casesOf(type, this.#types);
    if (only === undefined) return { kind: 'unopened' };
    if (others.length > 0) return { kind: 'union', tag: '', value: undefined };
    return { kind: 'union', tag: only[0], value: this.#record(only[1], within) };
  }
}

/** Returns the JSON to be sent. In a number's field, other text becomes a string, so that the service refuses it. */
export function draftJson(draft: Draft): JsonValue {
  switch (draft.kind) {
    case 'text':
      return { kind: 'string', value: draft.text };
    case 'number':
      return numberJson(draft.text.trim(), false);
    case 'big':
      return numberJson(draft.text.trim(), true);
    case 'flag':
      return { kind: 'literal', text: draft.on ? 'true' : 'false' };
    case 'list':
      return { kind: 'array', items: draft.items.map(draftJson) };
    case 'map':
      return {
        kind: 'object',
        entries: draft.entries.map(({ key, value }) => [key, draftJson(value)]),
      };
    case 'record':
      return { kind: 'object', entries: recordEntries(draft) };
    case 'nullable':
      return draft.isNull || draft.value === undefined ? NULL : draftJson(draft.value);
    case 'union': {
      const rest = draft.value?.kind === 'record' ? recordEntries(draft.value) : [];
      return {
        kind: 'object',
        entries: [['type', { kind: 'string', value: draft.tag }], ...rest],
      };
    }
    case 'null':
    case 'unopened':
    default:
      return NULL;
  }
}

export function draftText(draft: Draft, indent = ''): string {
  return jsonText(draftJson(draft), indent);
}

const NULL: JsonValue = { kind: 'literal', text: 'null' };
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Converts a number. A missing number becomes null, because any number would look like one that the user typed. */
function numberJson(text: string, isBig: boolean): JsonValue {
  if (text === '') return NULL;
  if (!JSON_NUMBER.test(text)) return { kind: 'string', value: text };
  if (isBig && !Number.isSafeInteger(Number(text))) return { kind: 'string', value: text };
  return { kind: 'number', text };
}

function recordEntries(draft: Extract<Draft, { readonly kind: 'record' }>): [string, JsonValue][] {
  return draft.fields
    .filter((field) => !field.isLeftOut)
    .map((field) => [field.name, draftJson(field.value)]);
}
