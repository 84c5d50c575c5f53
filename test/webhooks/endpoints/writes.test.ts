// Which routes count as writes.
import { expect, onTestFinished, test } from 'vitest';
import { WEBHOOK_ROUTES } from '@svc/client';
import { before, createService, refuse } from '@svc/host';
import { webhookEndpoint } from '../../../webhooks/endpoints/webhook-endpoint.ts';

test('routes that change subscriptions are writes, and a retry of a delivery is none', async () => {
  const service = await createService({
    name: 'webhooks',
    journal: 'memory',
    http: { port: 0 },
    entities: [],
    log: 'none',
    responses: { errors: 'plain' },
    endpoints: [
      webhookEndpoint({
        flows: {} as never,
        deliveries: () => Promise.reject(new Error('not asked')),
        // Each route answers with its kind before anything else.
        checkedFor: (_who, kind) => before(() => refuse(kind, 'FORBIDDEN')),
        maySucceedLater: () => false,
      }),
    ],
  });
  onTestFinished(() => service.stop(0));
  const kinds = new Map<string, string>();
  for (const [name, { method, path }] of Object.entries(WEBHOOK_ROUTES)) {
    const url = `${service.url}${path.replaceAll(/\{\w+\}/g, 'x')}`;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const response = await fetch(url, { method });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { error } = (await response.json()) as { readonly error: string };
    kinds.set(name, error);
  }
  expect(new Set(kinds.values())).toEqual(new Set(['read', 'write']));
  const writes = [...kinds.keys()].filter((name) => kinds.get(name) === 'write');
  expect(writes.toSorted()).toEqual([
    'changeWebhook',
    'createWebhook',
    'deleteWebhook',
    'replaceWebhook',
    'rotateSecret',
  ]);
});
