// A service with a view: orders, and the list of each customer's orders.
import { Type } from 'typebox';
import {
  createService,
  defineEndpoint,
  defineEntity,
  defineView,
  get,
  type LogEntry,
  type Page,
  post,
  type Result,
  type Service,
  type ServiceOptions,
} from '../../../../host/embed.ts';

const Place = Type.Object({ customer: Type.String(), cents: Type.Integer() });

export const order = defineEntity({
  component: 'order',
  state: { manifest: 'order', schema: Type.Object({ isPlaced: Type.Boolean() }) },
  event: {
    manifest: 'order-event',
    schema: Type.Union([
      Type.Object({
        type: Type.Literal('placed'),
        customer: Type.String(),
        cents: Type.Integer(),
      }),
    ]),
  },
  empty: () => ({ isPlaced: false }),
  apply: () => ({ isPlaced: true }),
  commands: {
    place: {
      input: Place,
      handle: (_state, input, { persist }) => persist({ type: 'placed', ...input }).thenReply(),
    },
    cancel: { handle: (_state, { deleteEntity }) => deleteEntity().thenReply() },
  },
  queries: { get: { reply: Type.Object({ isPlaced: Type.Boolean() }), handle: (state) => state } },
});

const OrderRow = Type.Object({ customer: Type.String(), cents: Type.Integer() });
const OrderList = Type.Array(OrderRow);
const OfCustomer = Type.Object({ customer: Type.String() });

/** The view fails at an order of `faultyCents`. With another version, `factor` is another one, too. */
export function ordersView(version = '1', factor = 1, faultyCents = Number.NaN) {
  return defineView({
    id: 'orders',
    version,
    row: OrderRow,
    from: [
      {
        entity: order,
        fold(_row, { customer, cents }, { put }) {
          if (cents === faultyCents) throw new Error('a bad fold');
          return put({ customer, cents: cents * factor });
        },
      },
    ],
    indexes: [['customer', 'cents']],
    queries: {
      ofCustomer: { where: 'customer = :customer order by cents desc', parameters: OfCustomer },
      all: { where: 'order by key' },
    },
  });
}

export type OrdersView = ReturnType<typeof ordersView>;

export interface OrderService {
  readonly service: Service;
  readonly orders: OrdersView;
  readonly logged: LogEntry[];
}

/** Returns the rows of a page, or the refusal. */
function listOf<Row>(page: Result<Page<Row>>) {
  return page.isOk ? page.value.rows : page;
}

type Storage = Pick<ServiceOptions, 'dataFolder' | 'database' | 'journal'>;

export async function orderService(
  storage: Storage,
  orders = ordersView(),
  settings: ServiceOptions['settings'] = {},
  responses: ServiceOptions['responses'] = {},
): Promise<OrderService> {
  const logged: LogEntry[] = [];
  const endpoint = defineEndpoint({
    prefix: '/customers',
    access: 'internet',
    routes: {
      // The handler does not wait for the view itself.
      place: post(
        '/{customer}/orders/{id}',
        { body: Type.Object({ cents: Type.Integer() }), reply: OrderList },
        async ({ parameters: { customer, id }, body }, { call, view }) => {
          await call(order, id).place({ customer, cents: body.cents });
          return listOf(await view(orders).ofCustomer({ customer }));
        },
      ),
      list: get(
        '/{customer}/orders',
        { reply: OrderList },
        async ({ parameters: { customer } }, { view }) =>
          listOf(await view(orders).ofCustomer({ customer })),
      ),
    },
  });
  const service = await createService({
    name: 'orders',
    ...(storage as { readonly dataFolder: string }),
    http: false,
    entities: [order],
    endpoints: [endpoint],
    views: [orders],
    settings,
    responses,
    log: (entry) => logged.push(entry),
  });
  return { service, orders, logged };
}
