// The order of fixtures/expiring-order in TypeScript: the same component, events, timers and routes.
import { Type } from 'typebox';
import { callOf } from '../../../components/deferred-calls.ts';
import { Due } from '../../../components/due.ts';
import { defineEndpoint } from '../../../components/endpoint-definition.ts';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { defineEntity } from '../../../components/entity-definition.ts';
import { del, get, post, put } from '../../../components/route-definition.ts';

const Cents = Type.BigInt();
const Place = Type.Object({ cents: Cents });
const Reminder = Type.Object({ text: Type.String() });
const Order = Type.Object({
  status: Type.Enum(['New', 'Placed', 'Paid', 'Expired']),
  cents: Cents,
  reminders: Type.Integer(),
});

type Order = Type.Static<typeof Order>;
const OrderEvent = Type.Union([
  Type.Object({ type: Type.Literal('placed'), cents: Cents }),
  Type.Object({ type: Type.Literal('paid') }),
  Type.Object({ type: Type.Literal('reminded'), text: Type.String() }),
  Type.Object({ type: Type.Literal('expired') }),
]);
type OrderEvent = Type.Static<typeof OrderEvent>;

function apply(state: Order, event: OrderEvent): Order {
  switch (event.type) {
    case 'placed':
      return { ...state, status: 'Placed', cents: event.cents };
    case 'paid':
      return { ...state, status: 'Paid' };
    case 'reminded':
      return { ...state, reminders: state.reminders + 1 };
    case 'expired':
      return { ...state, status: 'Expired' };
  }
}

export const order = defineEntity({
  component: 'order',
  state: { manifest: 'OrderState', schema: Order },
  event: {
    manifest: 'order-event',
    schema: OrderEvent,
  },
  empty: () => ({ status: 'New' as const, cents: 0n, reminders: 0 }),
  apply,
  commands: {
    place: {
      input: Place,
      handle(state, { cents }, { persist, refuse, self }) {
        if (state.status !== 'New') return refuse('the order is placed already', 'CONFLICT');
        return persist({ type: 'placed', cents })
          .thenSetTimer('expire', Due.after(900_000), self.expire())
          .thenReply();
      },
    },
    pay: {
      handle(state, { persist, refuse }) {
        if (state.status !== 'Placed') return refuse('the order cannot be paid now', 'CONFLICT');
        return persist({ type: 'paid' })
          .thenCancelTimer('expire')
          .thenCancelTimer('remind')
          .thenReply();
      },
    },
    expire: {
      handle(state, { persist, reply }) {
        if (state.status !== 'Placed') return reply();
        return persist({ type: 'expired' }).thenCancelTimer('remind').thenReply();
      },
    },
    remind: {
      input: Reminder,
      handle: (_state, { text }, { persist }) => persist({ type: 'reminded', text }).thenReply(),
    },
    extend: {
      input: Type.String({ format: 'date-time' }),
      handle(state, until, { setTimer, refuse, self }) {
        if (state.status !== 'Placed') return refuse('the order has no deadline', 'CONFLICT');
        return setTimer('expire', Due.at(new Date(until)), self.expire()).thenReply();
      },
    },
    cancel: {
      handle: (_state, { deleteEntity }) => deleteEntity().thenReply(),
    },
  },
  queries: { get: { reply: Order, handle: (state) => state } },
});

export const orderEndpoint = defineEndpoint({
  name: 'OrderEndpoint',
  prefix: '/orders',
  access: 'internet',
  routes: {
    place: put('/{id}', { body: Place }, ({ parameters: { id }, body }, { call }) =>
      call(order, id).place(body),
    ),
    get: get('/{id}', { reply: Order }, ({ parameters: { id } }, { call }) =>
      call(order, id).get(),
    ),
    pay: post('/{id}/payment', {}, ({ parameters: { id } }, { call }) => call(order, id).pay()),
    remind: put('/{id}/reminders', { body: Reminder }, ({ parameters: { id }, body }, { timers }) =>
      timers.set('remind', Due.cron('0 9 * * *', 'Europe/Berlin'), callOf(order, id).remind(body)),
    ),
    stopReminders: del('/{id}/reminders', {}, ({ parameters: { id } }, { timers }) =>
      timers.cancel(order, id, 'remind'),
    ),
  },
});

export const orderGuest = () =>
  createEmbeddedGuest({ entities: [order], endpoints: [orderEndpoint] });
