// svc webhooks deliveries, delivery, retry: the delivery log of a tenant. svc webhooks report, remove-tenant: the requests of the platform.
import {
  DELIVERY_OUTCOMES,
  type DatasetReport,
  type DeliveryOutcome,
  type LogEntryWithBody,
} from '@svc/client';
import { printable } from '@svc/kit/printable';
import { printFields, printTable } from '../platform/printed-answer.ts';
import { routeCommand } from '../platform/route-command.ts';
import { printData } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';
import {
  ATTEMPT_HEADS,
  attemptRow,
  DELIVERY_HEADS,
  deliveryFields,
  deliveryRow,
} from '../webhooks/delivery-text.ts';
import { readRequestFile } from '../webhooks/request-file.ts';
import { TENANT_OPTION, tenantOf } from '../webhooks/tenant-option.ts';
import { DELIVERY_WORD, deliveryInput } from '../webhooks/webhook-word.ts';

export const webhooksDeliveries = routeCommand(
  'listDeliveries',
  {
    name: 'webhooks deliveries',
    summary: 'list deliveries, the newest first',
    about: `Lists deliveries of the last thirty days, the newest first. --outcome goes alone or with
--subscription; the other filters go alone.`,
    words: [],
    options: {
      outcome: {
        type: 'string',
        value: 'OUTCOME',
        help: 'only those with this outcome',
        completes: { kind: 'choices', choices: DELIVERY_OUTCOMES },
      },
      subscription: {
        type: 'string',
        value: 'ID',
        help: 'only those of this subscription',
        completes: { kind: 'names', command: 'webhooks list' },
      },
      dataset: { type: 'string', value: 'ID', help: 'only those of this dataset' },
      event: { type: 'string', value: 'ID', help: 'only those of this event' },
      limit: { type: 'string', value: 'N', help: 'entries of a page, up to 250', default: '50' },
      cursor: { type: 'string', value: 'CURSOR', help: 'the page that begins there' },
      tenant: TENANT_OPTION,
    },
    examples: [
      'svc webhooks deliveries --outcome exhausted',
      'svc webhooks deliveries --dataset 7 -o json',
    ],
  },
  {
    input: (_words, options, target) => {
      const { outcome, subscription, dataset, event, limit, cursor } = options;
      return {
        tenantId: tenantOf('webhooks deliveries', options, target),
        limit: entries(limit),
        ...(outcome === undefined ? {} : { outcome: outcome as DeliveryOutcome }),
        ...(subscription === undefined ? {} : { subscription }),
        ...(dataset === undefined ? {} : { dataset }),
        ...(event === undefined ? {} : { eventId: event }),
        ...(cursor === undefined ? {} : { cursor }),
      };
    },
    table: { heads: DELIVERY_HEADS, rows: ({ entries: found }) => found.map(deliveryRow) },
    names: ({ entries: found }) => found.map(({ id }) => id),
    note: ({ entries: found, cursor }) => {
      // A cursor may begin with a hyphen.
      if (cursor !== undefined) return `There are more. The next page: --cursor=${cursor}`;
      return found.length > 0 ? undefined : 'There are no such deliveries.';
    },
  },
);

export const webhooksDelivery = routeCommand(
  'getDelivery',
  {
    name: 'webhooks delivery',
    summary: 'show a delivery with its attempts and its body',
    about: 'Shows a delivery: its attempts, and the body that is sent.',
    words: [DELIVERY_WORD],
    options: { tenant: TENANT_OPTION },
    examples: [
      'svc webhooks delivery dl_4157_thik4dax3vz4cknk3dsfvk47ka',
      'svc webhooks delivery dl_4157_thik4dax3vz4cknk3dsfvk47ka -o json | jq -r .body | jq .',
    ],
  },
  { input: deliveryInput('webhooks delivery'), print: printDelivery },
);

export const webhooksRetry = routeCommand(
  'retryDelivery',
  {
    name: 'webhooks retry',
    summary: 'deliver an event again',
    about: `Delivers an event again, from the first attempt on, with the same ids. svc webhooks replay does it
for all that were exhausted.`,
    words: [DELIVERY_WORD],
    options: { tenant: TENANT_OPTION },
    examples: ['svc webhooks retry dl_4157_thik4dax3vz4cknk3dsfvk47ka'],
  },
  { input: deliveryInput('webhooks retry'), fields: deliveryFields },
);

export const webhooksReport = routeCommand(
  'reportDataset',
  {
    name: 'webhooks report',
    summary: 'report a dataset, as the platform',
    about: `Reports a dataset as it is now. If it has reached another final status, that is an event, which is
delivered. For the role of the platform.`,
    words: [{ name: 'DATASET' }],
    options: {
      file: {
        type: 'string',
        short: 'f',
        value: 'FILE.json',
        help: "the dataset as JSON; '-' is stdin; required",
        completes: { kind: 'file', ending: '.json' },
      },
      tenant: TENANT_OPTION,
    },
    notes: 'docs/reference/webhook-api.md lists the fields.',
    examples: ['svc webhooks report 7 -f dataset.json'],
  },
  {
    input: async ([datasetId], options, target) => {
      if (options.file === undefined)
        throw new UsageError('webhooks report needs the file of a dataset: -f dataset.json.');
      return {
        tenantId: tenantOf('webhooks report', options, target),
        datasetId: datasetId!,
        // The client checks the body.
        body: (await readRequestFile('webhooks report', options.file)) as DatasetReport,
      };
    },
    fields: ({ eventId }) => ({
      event: eventId ?? 'none: the status is no final one, or the same as before',
    }),
  },
);

export const webhooksRemoveTenant = routeCommand(
  'removeTenant',
  {
    name: 'webhooks remove-tenant',
    summary: 'remove all that a tenant has, as the platform',
    about: `Removes the subscriptions and the log of a tenant, for ever. For the role of the platform.`,
    words: [{ name: 'TENANT' }],
    examples: ['svc webhooks remove-tenant acme --yes'],
  },
  {
    input: ([tenantId]) => ({ tenantId: tenantId! }),
    question: ({ tenantId }) =>
      `Remove the subscriptions and the log of the tenant ${tenantId}? Nobody can bring them back.`,
    note: (_answer, { tenantId }) => `Removed all that the tenant ${tenantId} had.`,
  },
);

async function printDelivery(entry: LogEntryWithBody): Promise<void> {
  await printFields(deliveryFields(entry));
  if (entry.attempts.length > 0) {
    await printData('\n');
    await printTable(ATTEMPT_HEADS, entry.attempts.map(attemptRow));
  }
  await printData(`\n${printable(entry.body)}\n`);
}

function entries(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UsageError(`webhooks deliveries takes a whole number as --limit, and found '${text}'.`);
}
