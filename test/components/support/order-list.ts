// A view and a consumer of the order: the list of orders, the number of orders of each amount, and a consumer that
// books each payment with an account.
import { Type } from 'typebox';
import { defineConsumer } from '../../../components/consumer-definition.ts';
import { createEmbeddedGuest } from '../../../components/embedded-guest.ts';
import { defineEntity } from '../../../components/entity-definition.ts';
import { refuse } from '../../../components/result.ts';
import { defineView } from '../../../components/view-definition.ts';
import { order } from './order.ts';

const Booking = Type.Object({ order: Type.String() });
const Booked = Type.Object({ type: Type.Literal('booked'), order: Type.String() });

/** The account with which payments are booked. */
export const account = defineEntity({
  component: 'account',
  state: { manifest: 'account', schema: Type.Array(Type.String()) },
  event: { manifest: 'account-event', schema: Booked },
  empty: () => [],
  apply: (state, event) => [...state, event.order],
  commands: {
    book: {
      input: Booking,
      handle: (_state, input, { persist }) => persist({ type: 'booked', ...input }).thenReply(),
    },
  },
});

const OrderRow = Type.Object({
  status: Type.Enum(['placed', 'paid', 'expired']),
  cents: Type.BigInt(),
  placedAt: Type.String({ format: 'date-time' }),
  reminders: Type.Integer({ default: 0 }),
});
const ByStatus = Type.Object({ status: Type.Enum(['placed', 'paid', 'expired']) });

/** The orders, each under its id. An order that was placed, and then reminded or paid, has several events. */
export const orders = defineView({
  id: 'orders',
  version: '1',
  row: OrderRow,
  from: [
    {
      entity: order,
      fold(row, event, { put, remove, keep, timeMs }) {
        if (event.type === 'placed') {
          const placedAt = new Date(timeMs).toISOString();
          return put({ status: 'placed', cents: event.cents, placedAt, reminders: 0 });
        }
        if (row === undefined) return keep();
        if (event.type === 'reminded') return put({ ...row, reminders: row.reminders + 1 });
        return event.type === 'paid' ? put({ ...row, status: 'paid' }) : remove();
      },
    },
  ],
  indexes: [['status', 'placedAt']],
  queries: {
    ofStatus: { where: 'status = :status order by placedAt desc', parameters: ByStatus },
    all: { where: '' },
  },
});

const AmountRow = Type.Object({ orders: Type.Array(Type.String()) });

/** The orders of an amount and all orders, and the payments that an account has booked. */
export const amounts = defineView({
  id: 'amounts',
  version: '1',
  row: AmountRow,
  from: [
    {
      entity: order,
      keys: (event) => (event.type === 'placed' ? [`${event.cents}`, 'all'] : []),
      fold: (row, _event, { put, entityId }) => put({ orders: [...(row?.orders ?? []), entityId] }),
    },
    {
      entity: account,
      fold: (row, event, { put }) => put({ orders: [...(row?.orders ?? []), event.order] }),
    },
  ],
});

export const bookkeeping = defineConsumer({
  id: 'bookkeeping',
  start: 'beginning',
  on: [
    {
      entity: order,
      async handle(event, { call, done, retry, skip, entityId }) {
        if (event.type === 'reminded') return skip(`reminder '${event.text}'`);
        if (event.type === 'expired') return refuse('no order expires here', 'CONFLICT');
        if (event.type !== 'paid') return done();
        const booked = await call(account, 'main').book({ order: entityId });
        return booked.isOk ? done() : retry(booked.message, 5_000);
      },
    },
  ],
});

export const components = {
  entities: [order, account],
  views: [orders, amounts],
  consumers: [bookkeeping],
};

export const orderListGuest = () => createEmbeddedGuest(components);
