// svc webhooks …: the subscriptions of a tenant. Each command is one call of one route.
import type { Subscription } from '@svc/client';
import { routeCommand } from '../platform/route-command.ts';
import { UsageError } from '../usage-error.ts';
import {
  PATCH_OPTIONS,
  patchOf,
  requestOf,
  SUBSCRIPTION_OPTIONS,
} from '../webhooks/subscription-options.ts';
import { TENANT_OPTION, tenantOf } from '../webhooks/tenant-option.ts';
import { webhookInput, WEBHOOK_WORD } from '../webhooks/webhook-word.ts';

const SHOWN_ONCE =
  'The secret is shown once: give it to the receiver now. docs/how-to/receiving-webhooks.md says what it does with it.';

function subscriptionFields(subscription: Subscription) {
  const { id, url, events, filters, signing, headers, createdAt, secret } = subscription;
  const { status, nameRegex, tags, model } = filters;
  const shown = { status, name: nameRegex, tags: tags?.join(' and '), model };
  const found = Object.entries(shown).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  );
  return {
    id,
    url,
    events: events.join(', '),
    filters: found.join(', ') || undefined,
    signed: `${signing.over}, ${signing.method}`,
    headers: Object.keys(headers).join(', ') || undefined,
    since: createdAt,
    secret,
  };
}

export const webhooksList = routeCommand(
  'listWebhooks',
  {
    name: 'webhooks list',
    summary: 'list the subscriptions of a tenant',
    about: 'Lists the subscriptions of a tenant, the oldest first.',
    words: [],
    options: { tenant: TENANT_OPTION },
    examples: ['svc webhooks list', 'svc webhooks list --tenant acme -o json'],
  },
  {
    input: (_words, options, target) => ({ tenantId: tenantOf('webhooks list', options, target) }),
    table: {
      heads: ['id', 'url', 'events', 'since'],
      rows: (all) =>
        all.map(({ id, url, events, createdAt }) => [id, url, events.join(', '), createdAt]),
    },
    names: (all) => all.map(({ id }) => id),
    note: (all, { tenantId }) =>
      all.length > 0
        ? undefined
        : `The tenant ${tenantId} has no subscriptions. Create one with svc webhooks create URL.`,
  },
);

export const webhooksGet = routeCommand(
  'getWebhook',
  {
    name: 'webhooks get',
    summary: 'show a subscription',
    about: 'Shows a subscription, without its secret. -o json has the values of its headers.',
    words: [WEBHOOK_WORD],
    options: { tenant: TENANT_OPTION },
    examples: ['svc webhooks get wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB'],
  },
  { input: webhookInput('webhooks get'), fields: subscriptionFields },
);

export const webhooksCreate = routeCommand(
  'createWebhook',
  {
    name: 'webhooks create',
    summary: 'send events to a receiver',
    about: `Creates a subscription: events that occur from now on are sent to the URL. Prints the secret with
which the receiver verifies them; it is never shown again.`,
    words: [{ name: 'URL', optional: true }],
    options: { ...SUBSCRIPTION_OPTIONS, tenant: TENANT_OPTION },
    examples: [
      'svc webhooks create https://hooks.example.com/svc',
      'svc webhooks create https://hooks.example.com/svc --event dataset.failed --tag nightly',
      'svc webhooks create -f subscription.json',
    ],
  },
  {
    input: async ([url], options, target) => ({
      tenantId: tenantOf('webhooks create', options, target),
      body: await requestOf('webhooks create', url, options),
    }),
    fields: subscriptionFields,
    note: () => SHOWN_ONCE,
  },
);

export const webhooksReplace = routeCommand(
  'replaceWebhook',
  {
    name: 'webhooks replace',
    summary: 'replace what a subscription says',
    about: `Replaces a subscription as a whole: what is not given has its default. Id and secret stay.`,
    words: [WEBHOOK_WORD, { name: 'URL', optional: true }],
    options: { ...SUBSCRIPTION_OPTIONS, tenant: TENANT_OPTION },
    examples: ['svc webhooks replace wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB -f subscription.json'],
  },
  {
    input: async (words, options, target) => ({
      ...webhookInput('webhooks replace')(words, options, target),
      body: await requestOf('webhooks replace', words[1], options),
    }),
    fields: subscriptionFields,
  },
);

export const webhooksChange = routeCommand(
  'changeWebhook',
  {
    name: 'webhooks change',
    summary: 'change parts of a subscription',
    about: `Changes what is given of a subscription. A file is a merge patch (RFC 7396), in which null gives
the default.`,
    words: [WEBHOOK_WORD],
    options: { ...PATCH_OPTIONS, tenant: TENANT_OPTION },
    examples: [
      'svc webhooks change wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB --url https://hooks.example.com/new',
      `echo '{"filters":null}' | svc webhooks change wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB -f -`,
    ],
  },
  {
    input: async (words, options, target) => ({
      ...webhookInput('webhooks change')(words, options, target),
      body: await patchOf('webhooks change', options),
    }),
    fields: subscriptionFields,
  },
);

export const webhooksDelete = routeCommand(
  'deleteWebhook',
  {
    name: 'webhooks delete',
    summary: 'delete a subscription',
    about: 'Deletes a subscription. Its pending deliveries end, and stay in the log.',
    words: [WEBHOOK_WORD],
    options: { tenant: TENANT_OPTION },
    examples: ['svc webhooks delete wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB --yes'],
  },
  {
    input: webhookInput('webhooks delete'),
    question: ({ webhookId }) =>
      `Delete the subscription ${webhookId}? Its pending deliveries end, and nothing is sent for it any more.`,
    note: (_answer, { webhookId }) => `Deleted the subscription ${webhookId}.`,
  },
);

export const webhooksRotate = routeCommand(
  'rotateSecret',
  {
    name: 'webhooks rotate-secret',
    summary: 'make another secret for a subscription',
    about: `Makes another secret, and prints it. Until the grace period ends, deliveries are signed with the
former secret, too.`,
    words: [WEBHOOK_WORD],
    options: {
      grace: {
        type: 'string',
        value: 'SECONDS',
        help: `seconds for which the former secret counts, too: up to
604800, a week`,
        otherwise: '86400, a day',
      },
      tenant: TENANT_OPTION,
    },
    examples: [
      'svc webhooks rotate-secret wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB',
      'svc webhooks rotate-secret wh_01JDR5Z7C0M3Y8K2V4T6W9XQAB --grace 0',
    ],
  },
  {
    input: (words, options, target) => ({
      ...webhookInput('webhooks rotate-secret')(words, options, target),
      ...(options.grace === undefined
        ? {}
        : { body: { gracePeriodSeconds: seconds(options.grace) } }),
    }),
    fields: subscriptionFields,
    note: () => SHOWN_ONCE,
  },
);

function seconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UsageError(
    `webhooks rotate-secret takes a whole number of seconds as --grace, and found '${text}'.`,
  );
}
