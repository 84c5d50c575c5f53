// DraftOfJson: converts JSON that the user has written to a draft, so that the form can display it. Values of a
// kind that the type does not have, missing fields and unknown fields are reported; a text with such problems cannot be
// displayed as a form. A number may be null, because the form sends null for an empty number. Ranges and formats are
// checked by draft-problems.ts. The functions are pure.
import type { TypeSchema } from '@svc/contract';
import { jsonGist, pathWithin, type JsonValue } from '../view/json-value.ts';
import type { DraftProblem } from './draft-problems.ts';
import {
  casesOf,
  emptyDraft,
  fieldsOf,
  resolved,
  type Draft,
  type RecordSchema,
  type Types,
} from './draft.ts';

export interface ReadDraft {
  readonly draft: Draft;
  readonly problems: readonly DraftProblem[];
}

export function draftOfJson(schema: TypeSchema, value: JsonValue, types: Types): ReadDraft {
  const reader = new DraftReader(types);
  return { draft: reader.read(schema, value, ''), problems: reader.problems };
}

type JsonObject = Extract<JsonValue, { readonly kind: 'object' }>;

class DraftReader {
  readonly problems: DraftProblem[] = [];
  readonly #types: Types;

  constructor(types: Types) {
    this.#types = types;
  }

  read(schema: TypeSchema, value: JsonValue, path: string): Draft {
    const type = resolved(schema, this.#types);
    if (type === undefined) return { kind: 'unopened' };
    const isNull = value.kind === 'literal' && value.text === 'null';
    if ('anyOf' in type) {
      if (isNull) return { kind: 'nullable', isNull: true, value: undefined };
      return { kind: 'nullable', isNull: false, value: this.read(type.anyOf[0], value, path) };
    }
    if ('oneOf' in type) {
      if (value.kind !== 'object') return this.#misfit('an object', value, path);
      const tag = value.entries.find(([key]) => key === 'type')?.[1];
      const name = tag?.kind === 'string' ? tag.value : '';
      const cases = casesOf(type, this.#types);
      const record = cases.get(name);
      const isUnchosen = tag !== undefined && isEmptyText(tag) && value.entries.length === 1;
      if (isUnchosen) return { kind: 'union', tag: '', value: undefined };
      if (record === undefined) {
        const wanted = [...cases.keys()].join(', ');
        return this.#misfit(`an object whose 'type' is one of ${wanted}`, value, path);
      }
      return { kind: 'union', tag: name, value: this.#record(record, value, path) };
    }
    if (!('type' in type)) return { kind: 'unopened' };
    switch (type.type) {
      case 'string':
        if (value.kind === 'string') return { kind: 'text', text: value.value };
        return this.#misfit('a text', value, path);
      case 'boolean':
        if (value.kind === 'literal' && !isNull) return { kind: 'flag', on: value.text === 'true' };
        return this.#misfit('true or false', value, path);
      case 'integer':
      case 'number':
        if (value.kind === 'number') return { kind: 'number', text: value.text };
        if (isNull) return { kind: 'number', text: '' };
        return this.#misfit('a number', value, path);
      case 'null':
        return isNull ? { kind: 'null' } : this.#misfit('null', value, path);
      case 'array':
        if (value.kind !== 'array') return this.#misfit('a list', value, path);
        return {
          kind: 'list',
          items: value.items.map((item, at) => this.read(type.items, item, pathWithin(path, at))),
        };
      case 'object':
        if (value.kind !== 'object') return this.#misfit('an object', value, path);
        if ('properties' in type) return this.#record(type, value, path);
        return {
          kind: 'map',
          entries: value.entries.map(([key, item]) => ({
            key,
            value: this.read(type.additionalProperties, item, pathWithin(path, key)),
          })),
        };
      default:
        if (value.kind === 'number') return { kind: 'big', text: value.text };
        if (isNull) return { kind: 'big', text: '' };
        if (value.kind === 'string') return { kind: 'big', text: value.value };
        return this.#misfit('a whole number', value, path);
    }
  }

  #record(type: RecordSchema, value: JsonObject, path: string): Draft {
    const given = new Map(value.entries);
    const fields = fieldsOf(type).map(([name, schema]) => {
      const inner = given.get(name);
      given.delete(name);
      const at = pathWithin(path, name);
      if (inner !== undefined)
        return { name, isLeftOut: false, value: this.read(schema, inner, at) };
      if (type.required.includes(name)) this.problems.push({ path: at, message: 'is missing' });
      return { name, isLeftOut: true, value: emptyDraft(schema, this.#types) };
    });
    for (const key of given.keys()) {
      if (key === 'type' && 'const' in (type.properties['type'] ?? {})) continue;
      this.problems.push({ path: pathWithin(path, key), message: 'is not a field of this type' });
    }
    return { kind: 'record', fields };
  }

  #misfit(wanted: string, value: JsonValue, path: string): Draft {
    this.problems.push({ path, message: `must be ${wanted}, not ${jsonGist(value, 30)}` });
    return { kind: 'unopened' };
  }
}

/** Returns whether the value is the empty text, which the form sends as the tag of a union without a chosen case. */
function isEmptyText(value: JsonValue): boolean {
  return value.kind === 'string' && value.value === '';
}
