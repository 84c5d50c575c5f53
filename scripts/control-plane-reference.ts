// ControlPlaneReference: writes docs/reference/control-plane.md from the table of routes of @svc/client. The descriptions are
// those of the table, which OpenAPI has too.
import {
  BODY_BYTES_MAX,
  LIFECYCLE_MEANINGS,
  PARAMETERS,
  ROUTES,
  failure,
  refusalsOf,
  successOf,
  worksWhileDisabled,
  type Route,
} from '@svc/client';
import { CALLERS, COMMON_REFUSALS } from '@svc/client/open-api';

type Json = Readonly<Record<string, unknown>>;
const routes = Object.entries<Route>(ROUTES);

/** Group of routes → the first segment of their paths. */
const GROUPS = {
  'Identity routes': 'auth',
  'Organization routes': 'organizations',
  'Project routes': 'projects',
  'Service routes': 'services',
} as const;

export function controlPlaneReference(): string {
  return `# Control plane

The control plane is a JSON API for organizations, projects and services. This page is written from the table of its routes in
[\`@svc/client\`](../../client/README.md), which has a function for each route. Programs in other languages can use the
[OpenAPI document](../../client/generated/open-api.json) of that package. \`svc control-plane\` serves it
([operating the control plane](../how-to/operating-the-control-plane.md)).

\`\`\`http
PUT /services/shop/cart HTTP/1.1
Host: api.example.com
Authorization: Bearer ACCESS_TOKEN
Idempotency-Key: 0b6d5a0e

{"name": "cart", "image": "registry.example.com/cart:4", "hosting": "wasm", "protocol": "0.2.0"}
\`\`\`

- Each request but \`GET /auth\` needs an access token of the identity provider that \`GET /auth\` names.
- An organization has members and projects, and a project has services. A caller who is no member of an organization gets the same 404 for it,
  for its projects and for its services as for those that do not exist.
- While an organization is disabled, ${listed(writesWhileDisabled())} and all reads work, and everything else is refused with 403.
- A write that is sent again with the same \`Idempotency-Key\` changes nothing twice, and gets the first answer.
- Addresses are compared trimmed, in lower case and in Unicode's normal form NFC.
- In answers, later versions may add fields to objects, and further words to \`lifecycle\`, \`kind\`, \`hosting\` and \`role\`. Bodies of requests
  have no unknown fields.

${Object.entries(GROUPS).map(groupText).join('\n')}
## Refusals

${tableOf(['Field', 'Type', 'What it is'], fieldRows(failure))}

Problems of a body have a line \`path: reason\` each in \`error\`, sorted by path. A status with a reason of its own is in the row of its
route; the others are:

${tableOf(['Status', 'When'], commonRefusals())}

## Identifiers

${tableOf(['Parameter', 'What it is', 'Longest'], identifierRows())}

A body has at most ${number(BODY_BYTES_MAX)} bytes.

## States of a service

${tableOf(
  ['`lifecycle`', 'Meaning'],
  Object.entries(LIFECYCLE_MEANINGS).map(([state, meaning]) => [`\`${state}\``, meaning]),
)}

\`suspended\` takes precedence over \`paused\`, and both over the others.

## Bodies

${schemas().map(schemaText).join('\n\n')}
`;
}

function groupText([title, segment]: readonly [string, string]): string {
  const rows = routes
    .filter(([, { path }]) => path.split('/')[1] === segment)
    .map(([name, route]) => [
      `\`${route.method} ${route.path}\`, \`${name}\``,
      CALLERS[route.who],
      route.body === undefined ? '' : shownType(route.body),
      route.answer === undefined ? String(successOf(route)) : shownType(route.answer),
      wordsOf(route),
    ]);
  return `## ${title}\n\n${tableOf(['Route and function', 'For', 'Body', 'Answer', 'What it does'], rows)}\n${queriesOf(segment)}`;
}

/** Summary and description of a route, and the refusals that are its own. */
function wordsOf({ summary, description, refusals = {} }: Route): string {
  const own = Object.entries(refusals).map(([status, when]) => `${status}: ${when}.`);
  return [`${summary}.`, description, ...own].filter((words) => words !== undefined).join(' ');
}

/** Tables of the query parameters of a group. */
function queriesOf(segment: string): string {
  return routes
    .filter(([, { path, query }]) => path.split('/')[1] === segment && query !== undefined)
    .map(([, { method, path, query = {} }]) => {
      const rows = Object.entries(query).map(([name, schema]) => [
        `\`${name}\``,
        shownType(schema),
        String(schema['description']),
      ]);
      return `\nQuery parameters of \`${method} ${path}\`:\n\n${tableOf(['Parameter', 'Type', 'What it is'], rows)}\n`;
    })
    .join('');
}

function commonRefusals(): readonly (readonly string[])[] {
  const all = new Map<number, string>();
  for (const [, { refusals: _own, ...route }] of routes)
    for (const [status, reason] of refusalsOf(route))
      if (COMMON_REFUSALS.has(status)) all.set(status, reason);
  all.set(400, 'the body, a query parameter or an identifier is invalid');
  all.set(403, 'the role of the caller does not allow it, or the organization is disabled');
  all.set(
    404,
    'the route, the organization, the project or the service does not exist, or the caller may not see it',
  );
  all.set(405, 'the path exists, and not with the method');
  all.set(431, 'the headers are too large');
  return [...all].toSorted(([a], [b]) => a - b).map(([status, reason]) => [String(status), reason]);
}

function identifierRows(): readonly (readonly string[])[] {
  return Object.entries(PARAMETERS).map(([name, schema]) => [
    `\`${name}\``,
    String(schema['description']),
    `${number(schema['maxLength'] as number)} characters`,
  ]);
}

function writesWhileDisabled(): readonly string[] {
  return routes
    .filter(([, route]) => route.method !== 'GET' && worksWhileDisabled(route))
    .map(([name]) => `\`${name}\``);
}

/** All schemas with a title below the routes, by title. */
function schemas(): readonly Json[] {
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
  for (const [, { body, answer }] of routes)
    for (const schema of [body, answer]) if (schema !== undefined) visit(schema);
  return [...found.values()].toSorted((a, b) => (String(a['title']) < String(b['title']) ? -1 : 1));
}

function schemaText(schema: Json): string {
  const words = String(schema['description']);
  const sentence = `${words[0]!.toUpperCase()}${words.slice(1)}${words.endsWith('.') ? '' : '.'}`;
  return `### ${String(schema['title'])}\n\n${sentence}\n\n${tableOf(['Field', 'Type', 'What it is'], fieldRows(schema))}`;
}

function fieldRows(schema: Json): readonly (readonly string[])[] {
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
function shownType(schema: Json): string {
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

function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [tableRow(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(tableRow)].join('\n');
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function listed(words: readonly string[]): string {
  return words.join(', ');
}

function number(value: number): string {
  return value.toLocaleString('en');
}
