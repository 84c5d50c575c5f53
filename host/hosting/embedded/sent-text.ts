// SentText: what stands as text in a path or a query string, as the value that its shape wants. Numbers have
// the grammar of JSON; what does not fit stays text, and the codec says so.
import { type Shape, targetOf } from './shape.ts';

const JSON_NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
const INTEGER = /^-?(0|[1-9][0-9]*)$/;

/** As JSON.parse would give it. */
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

/** An object with a field for each name of the query string. A name that is given again adds to a list, and else is left alone. */
export function valueOfQuery(query: string, shape: Shape): Record<string, unknown> {
  const target = targetOf(shape);
  const fields =
    target.kind === 'record'
      ? new Map(target.fields.map((one) => [one.name, one.shape]))
      : undefined;
  const value = Object.create(null) as Record<string, unknown>;
  for (const [name, text] of new URLSearchParams(query)) {
    const field = listed(fields?.get(name));
    if (field?.kind === 'list') {
      const items = (value[name] ??= []) as unknown[];
      items.push(valueOfText(text, field.items));
    } else value[name] ??= field === undefined ? text : valueOfText(text, field);
  }
  return value;
}

function listed(shape: Shape | undefined): Shape | undefined {
  return shape?.kind === 'nullable' ? shape.inner : shape;
}
