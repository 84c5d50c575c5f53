import { expect, test } from 'vitest';
import { createService, defineConsumer } from '../../../host/embed.ts';
import { unservedConsumers } from '../../../host/service/unserved-consumers.ts';
import { order } from '../hosting/embedded/support/order.ts';

const mailer = defineConsumer({
  id: 'mailer',
  start: 'now',
  on: [{ entity: order, handle: async (_event, { done }) => done() }],
});

test('a service with a consumer is refused, because nothing would be delivered to it', async () => {
  const options = {
    name: 'test',
    entities: [order],
    consumers: [mailer],
    journal: 'memory' as const,
    log() {},
  };
  await expect(createService(options)).rejects.toMatchObject({
    code: 'SVC_DEFINITION_INVALID',
    message: expect.stringContaining("'mailer'"),
  });
});

test('components without consumers are served', () => {
  const descriptor = { protocol: '0.2.0', types: {}, entities: [], endpoints: [] };
  const sdk = { name: 'x', version: '1' };
  expect(unservedConsumers({ ...descriptor, sdk })).toBeUndefined();
});
