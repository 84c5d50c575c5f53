// ReferenceTables: routes and schemas as Markdown, for the pages that are written from a table of routes.
import type { Route } from '@svc/client';

type Json = Readonly<Record<string, unknown>>;

/** Summary and description of a route, and the refusals that are its own. */
export function wordsOf({ summary, description, refusals = {} }: Route<string>): string {
  const own = Object.entries(refusals).map(([status, when]) => `${status}: ${when}.`);
  return [`${summary}.`, description, ...own].filter((words) => words !== undefined).join(' ');
}

/** Returns the table of a route's query parameters, with the line above it. */
export function queryTable({ method, path, query = {} }: Route<string>): string {
  const rows = Object.entries(query).map(([name, schema]) => [
    `\`${name}\``,
    shownType(schema),
    String(schema['description']),
  ]);
  return `\nQuery parameters of \`${method} ${path}\`:\n\n${tableOf(['Parameter', 'Type', 'What it is'], rows)}\n`;
}

/** Returns all schemas with a title below the routes, by title. */
export function titledSchemas(routes: readonly Route<string>[]): readonly Json[] {
  const found = new Map<string, Json>();
  const visit = (schema: Json): void => {
    if (typeof schema['title'] === 'string') found.set(schema['title'], schema);
    const {
      properties = {},
      items,
      anyOf = [],
    } = schema as {
      properties?: Readonly<Record<string, Json>>;
      items?: Json;
      anyOf?: readonly Json[];
    };
    for (const part of [...Object.values(properties), ...anyOf]) visit(part);
    if (items !== undefined) visit(items);
  };
  for (const { body, answer } of routes)
    for (const schema of [body, answer]) if (schema !== undefined) visit(schema);
  return [...found.values()].toSorted((a, b) => (String(a['title']) < String(b['title']) ? -1 : 1));
}

export function schemaText(schema: Json): string {
  const words = String(schema['description']);
  const sentence = `${words[0]!.toUpperCase()}${words.slice(1)}${words.endsWith('.') ? '' : '.'}`;
  return `### ${String(schema['title'])}\n\n${sentence}\n\n${tableOf(['Field', 'Type', 'What it is'], fieldRows(schema))}`;
}

export function fieldRows(schema: Json): readonly (readonly string[])[] {
  const required = new Set(schema['required'] as readonly string[]);
  return Object.entries(schema['properties'] as Readonly<Record<string, Json>>).map(
    ([name, field]) => [
      `\`${name}\``,
      `${shownType(field)}${required.has(name) ? '' : ', optional'}`,
      String(field['description']),
    ],
  );
}

/** Returns the type of a schema in words, as a link if it has a title. */
export function shownType(schema: Json): string {
  const { title, type, items, anyOf, format, minimum, maximum } = schema;
  if (typeof title === 'string') return `[${title}](#${title.toLowerCase()})`;
  if (Array.isArray(anyOf)) return (anyOf as readonly Json[]).map(shownType).join(' or ');
  const words = schema['enum'] ?? schema['examples'];
  if (Array.isArray(words)) return words.map((word) => `\`${String(word)}\``).join(', ');
  if (type === 'array') return `list of ${shownType(items as Json)}`;
  if (type === 'string') return format === 'date-time' ? 'time, ISO 8601 in UTC' : 'text';
  if (type === 'integer')
    return `integer${maximum === undefined ? '' : `, ${number(minimum as number)} to ${number(maximum as number)}`}`;
  if (type === 'object') return 'object of texts';
  return String(type);
}

export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [tableRow(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(tableRow)].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

export function number(value: number): string {
  return value.toLocaleString('en');
}
