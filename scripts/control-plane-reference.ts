// ControlPlaneReference: writes docs/reference/control-plane.md from the table of routes of @svc/client. The descriptions are
// those of the table, which OpenAPI has too.
import { SECTION_DEFAULTS } from '../host/service/section-settings.ts';
import {
  BODY_BYTES_MAX,
  HISTORY_LENGTH_MAX,
  KEYS_RETRY_AFTER_S,
  LIFECYCLE_MEANINGS,
  LIST_LENGTH_MAX,
  PARAMETERS,
  ROUTES,
  failure,
  refusalsOf,
  successOf,
  worksWhileDisabled,
  type Route,
} from '@svc/client';
import { CALLERS, COMMON_REFUSALS } from '@svc/client/open-api';
import { PENDING_CLAIMS_MAX } from '../control-plane/model/claims.ts';
import {
  INVITATIONS_OF_ORGANIZATION_MAX,
  MEMBERS_OF_ORGANIZATION_MAX,
  PROJECTS_OF_ORGANIZATION_MAX,
} from '../control-plane/model/organization.ts';
import { POINTERS_OF_INVITER_MAX } from '../control-plane/model/email.ts';
import { POINTERS_MAX } from '../control-plane/model/pointers.ts';
import { SERVICES_OF_PROJECT_MAX } from '../control-plane/model/project.ts';
import { INSTANCES_MAX } from '../control-plane/orchestration/bounded-logs.ts';
import {
  fieldRows,
  number,
  queryTable,
  schemaText,
  shownType,
  tableOf,
  titledSchemas,
  wordsOf,
} from './reference-tables.ts';

const routes = Object.entries<Route>(ROUTES);

/** Group of routes → the first segment of their paths. */
const GROUPS = {
  'Identity routes': 'auth',
  'Organization routes': 'organizations',
  'Project routes': 'projects',
  'Service routes': 'services',
} as const;

/** Hours for which the reply to a command with a key is stored. */
const RETENTION_H = SECTION_DEFAULTS.engine.idempotencyRetentionMs / 3_600_000;

const HEADERS = [
  ['`Authorization`', 'requests', '`Bearer` and the access token, once'],
  ['`Idempotency-Key`', 'writes', 'optional, 1 to 255 visible ASCII characters'],
  ['`Cache-Control`', 'all answers', '`no-store`'],
  ['`Content-Type`', 'answers with a body', '`application/json`'],
  [
    '`WWW-Authenticate`',
    '401',
    '`Bearer realm="svc"`, with `error` and `error_description` if a token was sent',
  ],
  [
    '`Retry-After`',
    '429, 503',
    `seconds after which to send the request again: ${KEYS_RETRY_AFTER_S} if the keys of the identity provider cannot be read, otherwise 1, or more where it takes longer, as while lists are built after an upgrade`,
  ],
  [
    '`RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset`',
    '429',
    'requests in a minute, 0, and the seconds of `Retry-After`, where a [limit of requests](#limits-of-requests) is exceeded',
  ],
  ['`Allow`', '405', 'methods of the path'],
] as const;

export function controlPlaneReference(): string {
  return `# Control plane

The control plane is a JSON API for organizations, projects and services. This page is written from the table of its routes in
[\`@svc/client\`](../../client/README.md), which has a function for each route. Programs in other languages use the
[OpenAPI document](#the-openapi-document) ([writing a client](../how-to/api-clients.md)). \`svc control-plane\` serves the API
([operating the control plane](../how-to/operating-the-control-plane.md)). [Guarantees](control-plane-guarantees.md) lists what holds of it.

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
- Bodies are JSON in UTF-8, whatever their media type, and have no unknown fields and no key twice. A route without a body refuses one.
- E-mail addresses are compared in lower case and in Unicode's composed form, and their domains as in DNS
  ([identity provider](identity-provider.md#which-caller-a-token-names)).
- In answers, later versions may add fields to objects, and further words to \`lifecycle\`, \`kind\`, \`hosting\` and \`role\`.

${Object.entries(GROUPS).map(groupText).join('\n')}
## Refusals

${tableOf(['Field', 'Type', 'What it is'], fieldRows(failure))}

Problems of a body have a line \`path: reason\` each in \`error\`, sorted by path. A status with a reason of its own is in the row of its
route; the others are:

${tableOf(['Status', 'When'], commonRefusals())}

A request is judged in this order, and the first refusal is the answer: syntax (400, 431), route (404, 405), overload (503),
token (401, 503), rate (429), membership (404), role (403), whether the organization is disabled (403), \`Idempotency-Key\` (400), size of the body (413), identifiers and body (400), state (409).
\`createOrganization\` and \`createProject\` read their bodies before they judge what the caller may do, but after the token. A body is read, and a caller that waits
for 100 (Continue) is asked for it, only after everything before its size was judged. If the body of a refused request has not arrived, the connection is closed after the
answer. Bodies that are being read have a limit of memory together, beyond which requests are answered 503.

## Headers

${tableOf(['Header', 'Of', 'What it is'], HEADERS)}

${repeatingText()}

## Lists

A list, and a history, has every change that was answered before the request was sent, by whichever caller. What runs of each service in a list is as it was
observed last; the status of one service asks the orchestrator.

Lists have no pages. A list has at most ${number(LIST_LENGTH_MAX)} entries, and a history the newest ${number(HISTORY_LENGTH_MAX)}.

## Limits of requests

The installation may limit the requests of each caller in a minute, and those of them that change something
(\`svc.control-plane.requests-per-minute-max\` and \`svc.control-plane.writes-per-minute-max\` in [Settings](settings.md#control-plane)). By default there are
no limits. A caller can send as many requests at once, and then one whenever its share of the minute has passed. It is counted by the subject of its token.

## The OpenAPI document

\`GET /openapi.json\` answers every caller with a valid token with the description of all routes in OpenAPI 3.1. It is the only route that is not in the
tables above. The document is also in the package \`@svc/client\`, as [\`open-api.json\`](../../client/generated/open-api.json). Each \`operationId\` is
the name of the route's function. Words of answers that later versions may add to are \`examples\` in it, and those that are complete are \`enum\`.

## Identifiers

${tableOf(['Parameter', 'What it is', 'Longest'], identifierRows())}

${limitsText()}

## States of a service

${tableOf(
  ['`lifecycle`', 'Meaning'],
  Object.entries(LIFECYCLE_MEANINGS).map(([state, meaning]) => [`\`${state}\``, meaning]),
)}

\`suspended\` takes precedence over \`paused\`, and both over the others.

## Bodies

${titledSchemas(Object.values(ROUTES)).map(schemaText).join('\n\n')}
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

/** Tables of the query parameters of a group. */
function queriesOf(segment: string): string {
  return routes
    .filter(([, { path, query }]) => path.split('/')[1] === segment && query !== undefined)
    .map(([, route]) => queryTable(route))
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

function repeatingText(): string {
  return `## Repeating a request

Send a read again whenever you like. Send a write again with the same \`Idempotency-Key\`:

- After 503 nothing was done. After 504, or when the connection broke, the outcome is unknown. In each case the repeated request makes the
  change if it was not made, and never a second time: the generation increases once. After 429 the request is tried again, too.
- A deletion whose outcome is unknown may be answered 404 when it is repeated, since its target is gone. Take that 404 for success, as
  \`@svc/client\` does.
- The name in the caller's token is stored with the change. A request may be repeated with a token of another name: the first name stays.
- The key is stored for ${number(RETENTION_H)} hours. A refusal by the state (404, 409) is repeated with it. The status of a service in the repeated answer is the
  current one.
- A key counts for one caller, method and path. There, a key with another body is refused with 422, and changes nothing. Use a random key, such as a UUID, for each write.`;
}

function limitsText(): string {
  return `## Limits

${tableOf(['What', 'Maximum', 'Beyond it'], limitRows())}

A body has at most ${number(BODY_BYTES_MAX)} bytes.`;
}

function limitRows(): readonly (readonly string[])[] {
  const rows: readonly (readonly [string, number, string])[] = [
    ['projects of an organization', PROJECTS_OF_ORGANIZATION_MAX, '409: delete one'],
    ['services of a project', SERVICES_OF_PROJECT_MAX, '409: delete one, or use another project'],
    ['members of an organization', MEMBERS_OF_ORGANIZATION_MAX, '409: remove some'],
    ['invitations of an organization', INVITATIONS_OF_ORGANIZATION_MAX, '409: withdraw some'],
    [
      'organizations that invite one address',
      POINTERS_MAX,
      'one of an inviter with the most open invitations of the address ends',
    ],
    [
      'open invitations of one address by one inviter',
      POINTERS_OF_INVITER_MAX,
      '409: withdraw one, and send it again in two minutes',
    ],
    ['requests that create the same thing at once', PENDING_CLAIMS_MAX, '429: send it again'],
    ['rows of a list', LIST_LENGTH_MAX, 'the answer has the first ones'],
    ['entries of a history', HISTORY_LENGTH_MAX, 'the answer has the newest ones'],
    ['instances of an answer with logs', INSTANCES_MAX, 'the answer has the first ones'],
  ];
  return rows.map(([what, most, beyond]) => [what, number(most), beyond]);
}

function writesWhileDisabled(): readonly string[] {
  return routes
    .filter(([, route]) => route.method !== 'GET' && worksWhileDisabled(route))
    .map(([name]) => `\`${name}\``);
}

function listed(words: readonly string[]): string {
  return words.join(', ');
}
