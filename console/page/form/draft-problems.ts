// DraftProblems: the values of a draft that do not fit the declared type, each with its path. They are reported
// before the call is sent; the user may send it nevertheless. The functions are pure.
import type { TypeSchema } from '@svc/contract';
import { countText } from '../view/number-text.ts';
import { pathWithin } from '../view/json-value.ts';
import { casesOf, fieldsOf, resolved, type Draft, type RecordSchema, type Types } from './draft.ts';

export interface DraftProblem {
  /** Path of the value: 'items[0].quantity'; empty for the whole value. */
  readonly path: string;
  readonly message: string;
  /** True: a required value is missing. This is reported only once the user wants to send the call. */
  readonly isBlank?: true;
}

const BLANK = { message: 'is not filled in', isBlank: true } as const;

/** Returns the problems to be displayed. `isAsked`: the user has tried to send values that are blank. */
export function shownProblems<Problem extends DraftProblem>(
  problems: readonly Problem[],
  isAsked: boolean,
): readonly Problem[] {
  return isAsked ? problems : problems.filter((problem) => problem.isBlank !== true);
}

export function draftProblems(
  schema: TypeSchema,
  draft: Draft,
  types: Types,
  path = '',
): DraftProblem[] {
  const type = resolved(schema, types);
  if (type === undefined) return [];
  const one = (message: string | undefined) => (message === undefined ? [] : [{ path, message }]);
  switch (draft.kind) {
    case 'text':
    case 'number':
    case 'big':
      return isBlank(type, draft.text) ? [{ path, ...BLANK }] : one(textProblem(type, draft.text));
    case 'nullable':
      if (draft.isNull || draft.value === undefined || !('anyOf' in type)) return [];
      return draftProblems(type.anyOf[0], draft.value, types, path);
    case 'list':
      if (!('items' in type)) return [];
      return draft.items.flatMap((item, at) =>
        draftProblems(type.items, item, types, pathWithin(path, at)),
      );
    case 'map': {
      if (!('additionalProperties' in type)) return [];
      const keys = new Set<string>();
      return draft.entries.flatMap(({ key, value }) => {
        const at = pathWithin(path, key);
        const twice = keys.has(key) ? [{ path: at, message: 'this key appears twice' }] : [];
        keys.add(key);
        return [...twice, ...draftProblems(type.additionalProperties, value, types, at)];
      });
    }
    case 'record':
      return 'properties' in type ? recordProblems(type, draft, types, path) : [];
    case 'union': {
      const record = 'oneOf' in type ? casesOf(type, types).get(draft.tag) : undefined;
      if (draft.tag === '') return [{ path, ...BLANK }];
      if (record === undefined || draft.value === undefined)
        return one(`'${draft.tag}' is not a case of this type`);
      return recordProblems(record, draft.value, types, path);
    }
    case 'unopened':
      return [{ path, ...BLANK }];
    case 'flag':
    case 'null':
    default:
      return [];
  }
}

function recordProblems(
  type: RecordSchema,
  draft: Draft,
  types: Types,
  path: string,
): DraftProblem[] {
  if (draft.kind !== 'record') return [];
  const schemas = new Map(fieldsOf(type));
  return draft.fields.flatMap(({ name, isLeftOut, value }) => {
    const schema = schemas.get(name);
    if (isLeftOut || schema === undefined) return [];
    return draftProblems(schema, value, types, pathWithin(path, name));
  });
}

/**
 * Returns whether a text, empty or of spaces alone, counts as missing. For a string such a text is valid, unless the
 * type has a format (such as that of a time) or is an enum without this text.
 */
function isBlank(type: TypeSchema, text: string): boolean {
  if (text.trim() !== '' || !('type' in type)) return false;
  if (type.type !== 'string') return true;
  return type.format !== undefined || (type.enum !== undefined && !type.enum.includes(text));
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?$/;
const DURATION = /^-?P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

function textProblem(type: TypeSchema, text: string): string | undefined {
  if (!('type' in type)) return undefined;
  const trimmed = text.trim();
  if (Array.isArray(type.type)) return bigProblem(type, trimmed);
  if (type.type === 'integer' && 'minimum' in type) {
    if (!INTEGER.test(trimmed)) return 'must be a whole number';
    const value = Number(trimmed);
    if (value < type.minimum) return `must be at least ${countText(type.minimum)}`;
    return value > type.maximum ? `must be at most ${countText(type.maximum)}` : undefined;
  }
  if (type.type === 'number') return NUMBER.test(trimmed) ? undefined : 'must be a number';
  if (type.type !== 'string') return undefined;
  if (type.enum !== undefined)
    return type.enum.includes(text) ? undefined : `must be one of ${type.enum.join(', ')}`;
  if (type.contentEncoding === 'base64' && !BASE64.test(text)) return 'must be base64';
  if (type.format === 'date-time' && (!TIME.test(text) || Number.isNaN(Date.parse(text))))
    return "must be a time such as '2030-01-01T00:00:00.000Z'";
  if (type.format === 'decimal' && !DECIMAL.test(text)) return "must be a decimal such as '12.50'";
  if (type.format === 'duration' && !DURATION.test(text))
    return "must be a duration such as 'PT1H30M'";
  return undefined;
}

function bigProblem(type: TypeSchema, text: string): string | undefined {
  if (!INTEGER.test(text)) return 'must be a whole number';
  const isUnsigned = 'format' in type && type.format === 'uint64';
  const value = BigInt(text);
  const [least, most] = isUnsigned ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n];
  if (value < least) return `must be at least ${least}`;
  return value > most ? `must be at most ${most}` : undefined;
}
