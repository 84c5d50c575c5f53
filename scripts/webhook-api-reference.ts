// WebhookApiReference: writes docs/reference/webhook-api.md from the table of the webhook service's routes of @svc/client.
import {
  DATASET_BYTES_MAX,
  DELIVERIES_LIMIT_DEFAULT,
  DELIVERIES_LIMIT_MAX,
  GRACE_SECONDS_DEFAULT,
  WEBHOOK_PARAMETERS,
  WEBHOOK_ROUTES,
  failure,
  successOf,
  webhookRefusalsOf,
  type DELIVERY_ERRORS,
  type Route,
  type WebhookCaller,
} from '@svc/client';
import { COMMON_REFUSALS } from '@svc/client/open-api';
import { ATTEMPTS_MAX, RUNS_MAX } from '../webhooks/model/attempt-schedule.ts';
import type { AttemptError } from '../webhooks/sending/attempt-error.ts';
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

const routes = Object.entries<Route<WebhookCaller>>(WEBHOOK_ROUTES);

const PREFIX = '/api/platform/v1/tenants/{tenantId}';
const CALLERS: Readonly<Record<WebhookCaller, string>> = {
  'tenant-admin': 'administrators of the tenant',
  platform: 'the platform',
};

const ATTEMPT_ERROR_MEANINGS: Readonly<Record<AttemptError, string>> = {
  timeout: 'no answer within five seconds',
  dns: 'the name of the host was not found',
  connect_refused: 'nothing accepted the connection',
  connection_reset: 'the connection was lost before an answer',
  tls: 'the certificate is not valid for the host, or the receiver has no TLS from 1.2 on',
  blocked_address: 'an address of the host is none to which deliveries are sent',
  redirect: 'the receiver redirects, which is not followed',
  protocol: 'the answer is not HTTP, or its head is larger than 16 KiB',
  interrupted: 'the service ended in the midst of it; the receiver may have got it',
};
const DELIVERY_ERROR_MEANINGS: Readonly<Record<(typeof DELIVERY_ERRORS)[number], string>> = {
  subscription_deleted: 'its subscription was deleted before',
  expired: 'it was not delivered before its time in the log ended',
  backlog_full: 'too many deliveries of the subscription were pending; send it again with retry',
};

export function webhookApiReference(): string {
  return `# API of the webhook service

The API of \`svc webhook-service\` ([running it](../how-to/running-the-webhook-service.md)) manages subscriptions, shows the log of deliveries, and takes the
platform's reports of datasets. This page is written from the table of its routes in [\`@svc/client\`](../../client/README.md), whose \`createWebhooksClient\` has a function for each
route. [Webhook service](webhooks.md) says what a subscription may contain.

\`\`\`http
POST /api/platform/v1/tenants/acme/webhooks HTTP/1.1
Host: webhooks.example.com
Authorization: Bearer ACCESS_TOKEN
Idempotency-Key: 0b6d5a0e

{"url": "https://receiver.example/hook", "events": ["dataset.completed"]}
\`\`\`

- Each request needs an access token of the identity provider. Its claims say to which tenants the caller belongs, and which roles it has.
- A tenant of others is answered like one that does not exist: 404.
- Bodies are JSON in UTF-8, whatever their media type, and have no unknown fields and no key twice. A report of a dataset has at most ${number(DATASET_BYTES_MAX)} bytes.
- In answers, later versions may add fields to objects.

## Routes

Paths are below \`${PREFIX}\`.

${tableOf(['Route and function', 'For', 'Body', 'Answer', 'What it does'], routes.map(routeRow))}

The answer of \`createWebhook\` has the path of the subscription in \`Location\`. Send a write again with its \`Idempotency-Key\` after 503, 504 or a lost connection: it makes
its change once, as in the [control plane](control-plane.md#repeating-a-request).

## The log of deliveries
${queryTable(WEBHOOK_ROUTES.listDeliveries)}
\`outcome\` goes alone or with \`subscription\`; \`subscription\`, \`dataset\` and \`eventId\` go alone. A page has ${number(DELIVERIES_LIMIT_DEFAULT)} entries if \`limit\` is not given, and at most ${number(DELIVERIES_LIMIT_MAX)}. As long as there are further
ones, the answer has the header \`Link\` with the URL of the next page, which is relative to that of the request ([RFC 8288](https://www.rfc-editor.org/rfc/rfc8288)).

A run is an attempt and up to ${ATTEMPTS_MAX - 1} retries, ten seconds apart. \`retryDelivery\` begins the next run, with the same delivery id, event id and body; a delivery has at most ${RUNS_MAX} runs.

\`error\` of an attempt is null if \`status\` decided, and otherwise:

${tableOf(['Error', 'Meaning'], meanings(ATTEMPT_ERROR_MEANINGS))}

\`error\` of an entry says why a delivery ended without its receiver:

${tableOf(['Error', 'Meaning'], meanings(DELIVERY_ERROR_MEANINGS))}

## Reports of datasets

The platform reports a dataset each time that it changes. If its status becomes another one of \`DATASET_COMPUTED\`, \`DATASET_INVALID\`, \`SOLVING_COMPLETED\`,
\`SOLVING_INCOMPLETE\` or \`SOLVING_FAILED\`, the change is an event, and the answer has its id; otherwise \`eventId\` is null. A report that is sent again with equal content is
answered as before. A report with a lower \`seq\`, or with the same one and other content, is refused with 409.

## Refusals

${tableOf(['Field', 'Type', 'What it is'], fieldRows(failure))}

Problems of a body have a line \`path: reason\` each in \`error\`. A status with a reason of its own is in the row of its route; the others are:

${tableOf(['Status', 'When'], commonRefusals())}

## Identifiers

${tableOf(
  ['Parameter', 'What it is', 'Longest'],
  Object.entries(WEBHOOK_PARAMETERS).map(([name, schema]) => [
    `\`${name}\``,
    String(schema['description']),
    `${number(schema['maxLength'] as number)} characters`,
  ]),
)}

## Bodies

\`gracePeriodSeconds\` is ${number(GRACE_SECONDS_DEFAULT)} if it is not given.

${titledSchemas(Object.values(WEBHOOK_ROUTES)).map(schemaText).join('\n\n')}
`;
}

function routeRow([name, route]: readonly [string, Route<WebhookCaller>]): readonly string[] {
  const path = route.path.slice(PREFIX.length);
  return [
    `\`${route.method} ${path === '' ? '(the tenant)' : path}\`, \`${name}\``,
    CALLERS[route.who],
    route.body === undefined
      ? ''
      : `${shownType(route.body)}${route.isBodyOptional === true ? ', optional' : ''}`,
    `${successOf(route)}${route.answer === undefined ? '' : `, ${shownType(route.answer)}`}`,
    wordsOf(route),
  ];
}

function commonRefusals(): readonly (readonly string[])[] {
  const all = new Map<number, string>();
  for (const [, { refusals: _own, ...route }] of routes)
    for (const [status, reason] of webhookRefusalsOf(route))
      if (COMMON_REFUSALS.has(status)) all.set(status, reason);
  all.set(400, 'the body, a query parameter or an identifier is invalid');
  all.set(403, 'the caller is a member of the tenant, and has not the role');
  all.set(404, 'it does not exist, or the caller is no member of the tenant');
  return [...all].toSorted(([a], [b]) => a - b).map(([status, reason]) => [String(status), reason]);
}

function meanings(words: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(words).map(([word, meaning]) => [`\`${word}\``, meaning]);
}
