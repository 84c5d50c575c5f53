// Orders with everything that has spans: an endpoint whose handler calls an entity, a timer, and a consumer that calls another entity.
import { Type } from 'typebox';
import type { Components } from '../../../../components/components.ts';
import { defineConsumer } from '../../../../components/consumer-definition.ts';
import { Due } from '../../../../components/due.ts';
import { defineEndpoint } from '../../../../components/endpoint-definition.ts';
import { defineEntity } from '../../../../components/entity-definition.ts';
import { post } from '../../../../components/route-definition.ts';

const OrderEvent = Type.Union([
  Type.Object({ type: Type.Literal('placed') }),
  Type.Object({ type: Type.Literal('reminded') }),
]);

const order = defineEntity({
  component: 'order',
  state: { manifest: 'order', schema: Type.Object({ events: Type.Integer() }) },
  event: { manifest: 'order-event', schema: OrderEvent },
  empty: () => ({ events: 0 }),
  apply: ({ events }) => ({ events: events + 1 }),
  commands: {
    place: {
      handle: ({ events }, { persist, refuse, self }) =>
        events > 0
          ? refuse('the order is placed already', 'CONFLICT')
          : persist({ type: 'placed' })
              .thenSetTimer('remind', Due.after(1), self.remind())
              .thenReply(),
    },
    remind: { handle: (_state, { persist }) => persist({ type: 'reminded' }).thenReply() },
    fail: {
      handle() {
        throw new Error('the kitchen is closed');
      },
    },
  },
});

const account = defineEntity({
  component: 'account',
  state: { manifest: 'account', schema: Type.Object({ booked: Type.Integer() }) },
  event: { manifest: 'account-event', schema: Type.Object({ type: Type.Literal('booked') }) },
  empty: () => ({ booked: 0 }),
  apply: ({ booked }) => ({ booked: booked + 1 }),
  commands: {
    book: { handle: (_state, { persist }) => persist({ type: 'booked' }).thenReply() },
  },
});

const endpoint = defineEndpoint({
  name: 'OrderEndpoint',
  prefix: '/orders',
  access: 'internet',
  routes: {
    place: post('/{id}', {}, ({ parameters: { id } }, { call }) => call(order, id).place()),
    fail: post('/{id}/fail', {}, ({ parameters: { id } }, { call }) => call(order, id).fail()),
  },
});

const bookkeeping = defineConsumer({
  id: 'bookkeeping',
  start: 'beginning',
  on: [
    {
      entity: order,
      async handle(_event, { call, done, retry, entityId }) {
        const booked = await call(account, entityId).book();
        return booked.isOk ? done() : retry(booked.message);
      },
    },
  ],
});

export const remindedOrders: Components = {
  entities: [order, account],
  endpoints: [endpoint],
  consumers: [bookkeeping],
  version: '1',
};
