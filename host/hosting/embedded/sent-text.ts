// SentText: converts text in a path or a query string into a value of its shape. Numbers are written as in JSON.
// Text that does not fit the shape is returned unchanged, and the codec reports it.
import { type Shape, recordOf } from './shape.ts';

const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const INTEGER = /^-?(0|[1-9][0-9]*)$/;

/** Returns the number or boolean that the text stands for if the shape wants one; returns any other text unchanged. */
export function valueOfText(text: string, shape: Shape): unknown {
  switch (shape.kind) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : text;
    case 'number':
      return JSON_NUMBER.test(text) ? Number(text) : text;
    case 'flag':
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

/**
 * Returns an object with a field for each name of the query string. A repeated name adds to a list; for any other
 * shape the repetition is ignored.
 */
export function valueOfQuery(query: string, shape: Shape): Record<string, unknown> {
  const fields = new Map(
    recordOf(shape)?.fields.flatMap(({ name, aliases, shape: own }) =>
      [name, ...aliases].map((one) => [one, own] as const),
    ),
  );
  const value = Object.create(null) as Record<string, unknown>;
  for (const [name, text] of new URLSearchParams(query)) {
    const field = fields.get(name);
    const item = field && itemOf(field);
    if (item !== undefined) {
      const items = (value[name] ??= []) as unknown[];
      items.push(valueOfText(text, item));
    } else value[name] ??= field === undefined ? text : valueOfText(text, field);
  }
  return value;
}

/** Returns the shape of a list's items, behind references, null and codecs; undefined if the shape is not a list. */
function itemOf(shape: Shape): Shape | undefined {
  if (shape.kind === 'list') return shape.items;
  if (shape.kind === 'reference') return itemOf(shape.target());
  return shape.kind === 'nullable' || shape.kind === 'converted' ? itemOf(shape.inner) : undefined;
}
