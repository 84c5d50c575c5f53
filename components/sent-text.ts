// SentText: converts text in a path or a query string into a value of its shape. Numbers are written as in JSON.
// Text that does not fit the shape is returned unchanged, and the codec reports it.
import { PROBLEMS_MAX, shortened } from './shape-problem.ts';
import { type Shape, isFlag, recordOf } from './shape.ts';

const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
/** Most characters of a name in a problem, as it was sent. */
const NAME_MAX = 40;
const INTEGER = /^-?(0|[1-9][0-9]*)$/;

/** Returns the number or boolean that the text stands for if the shape wants one; returns any other text unchanged. */
export function valueOfText(text: string, shape: Shape): unknown {
  switch (shape.kind) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : text;
    case 'number':
      return JSON_NUMBER.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'nullable':
      return valueOfText(text, shape.inner);
    case 'converted':
      return valueOfText(text, shape.inner);
    case 'reference':
      return valueOfText(text, shape.target());
    case 'text':
    case 'big-integer':
    case 'null':
    case 'list':
    case 'map':
    case 'record':
    case 'union':
      return text;
  }
}

/** Value of a query string in the form of JSON, and the problems that are not those of a value. */
export interface SentQuery {
  readonly value: Readonly<Record<string, unknown>>;
  readonly problems: readonly string[];
}

/**
 * Reads a query string into an object with a field for each name. The names of a closed shape are all declared; any other shape
 * ignores undeclared names that are repeated or malformed.
 */
export function valueOfQuery(query: string, shape: Shape): SentQuery {
  const record = recordOf(shape);
  const fields = new Map(
    record?.fields.flatMap(({ name, aliases, shape: own }) =>
      [name, ...aliases].map((one) => [one, own] as const),
    ),
  );
  const value = Object.create(null) as Record<string, unknown>;
  const problems = new Set<string>();
  const report = (rawName: string, problem: string): void => {
    if (problems.size < PROBLEMS_MAX) problems.add(`${shortened(rawName, NAME_MAX)}: ${problem}`);
  };
  for (const [rawName, rawText] of pairsOf(query)) {
    const name = decoded(rawName);
    const field = name === undefined ? undefined : fields.get(name);
    const isChecked = field !== undefined || record?.isClosed === true;
    const text = decoded(rawText);
    if (isChecked && (name === undefined || text === undefined))
      report(rawName, 'has a percent-encoding that is not UTF-8');
    if (name === undefined || text === undefined) continue;
    const item = field && itemOf(field);
    if (item !== undefined) {
      const items = (value[name] ??= []) as unknown[];
      items.push(valueOfText(text, item));
    } else if (!(name in value)) value[name] = field === undefined ? text : sentValue(text, field);
    else if (isChecked) report(rawName, 'is given twice');
  }
  return { value, problems: [...problems] };
}

/** Returns the names and values of a query string, percent-encoded. */
function pairsOf(query: string): (readonly [name: string, text: string])[] {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const end = pair.indexOf('=');
      return end === -1 ? [pair, ''] : [pair.slice(0, end), pair.slice(end + 1)];
    });
}

/** Decodes percent-encoded UTF-8 with `+` for a space; returns undefined if it is malformed. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function sentValue(text: string, shape: Shape): unknown {
  return text === '' && isFlag(shape) ? true : valueOfText(text, shape);
}

/** Returns the shape of a list's items, behind references, null and codecs; undefined if the shape is not a list. */
function itemOf(shape: Shape): Shape | undefined {
  if (shape.kind === 'list') return shape.items;
  if (shape.kind === 'reference') return itemOf(shape.target());
  return shape.kind === 'nullable' || shape.kind === 'converted' ? itemOf(shape.inner) : undefined;
}
