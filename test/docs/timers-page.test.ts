// The program of docs/how-to/timers.md, and that it does what the page says.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import {
  Due,
  callOf,
  createService,
  defineEndpoint,
  defineEntity,
  put,
  type Service,
} from '../../host/embed.ts';

const OrderState = Type.Object({ status: Type.String(), reminders: Type.Integer() });
const Place = Type.Object({ payWithinMs: Type.Integer() });

const order = defineEntity({
  component: 'order',
  state: { manifest: 'order', schema: OrderState },
  event: {
    manifest: 'order-event',
    schema: Type.Union([
      Type.Object({ type: Type.Literal('placed') }),
      Type.Object({ type: Type.Literal('paid') }),
      Type.Object({ type: Type.Literal('expired') }),
      Type.Object({ type: Type.Literal('reminded') }),
    ]),
  },
  empty: () => ({ status: 'new', reminders: 0 }),
  apply: (state, { type }) =>
    type === 'reminded' ? { ...state, reminders: state.reminders + 1 } : { ...state, status: type },
  commands: {
    place: {
      input: Place,
      handle: (_state, { payWithinMs }, { persist, self }) =>
        persist({ type: 'placed' })
          .thenSetTimer('expire', Due.after(payWithinMs), self.expire())
          .thenReply(),
    },
    pay: {
      handle: (_state, { persist }) =>
        persist({ type: 'paid' }).thenCancelTimer('expire').thenReply(),
    },
    expire: {
      handle: ({ status }, { persist, reply }) =>
        status === 'placed' ? persist({ type: 'expired' }).thenReply() : reply(),
    },
    remind: {
      handle: (_state, { persist }) => persist({ type: 'reminded' }).thenReply(),
    },
  },
  queries: { get: { reply: OrderState, handle: (state) => state } },
});

const orderEndpoint = defineEndpoint({
  name: 'Orders',
  prefix: '/orders',
  access: 'internet',
  routes: {
    remind: put('/{id}/reminders', {}, ({ parameters: { id } }, { timers }) =>
      timers.set('remind', Due.cron('0 9 * * *', 'Europe/Berlin'), callOf(order, id).remind()),
    ),
  },
});

async function shop(): Promise<Service> {
  const service = await createService({
    name: 'shop',
    journal: 'memory',
    http: false,
    log: 'none',
    entities: [order],
    endpoints: [orderEndpoint],
    schedules: [
      {
        id: 'weekly',
        due: Due.cron('0 9 * * MON', 'Europe/Berlin'),
        call: callOf(order, 'sample').remind(),
      },
    ],
  });
  onTestFinished(() => service.stop(0));
  return service;
}

async function cancelReminders(service: Service, id: string): Promise<boolean> {
  const owner = { component: 'order', id };
  return service.change({ kind: 'cancel-timer', owner, name: 'remind' });
}

test('an order that is not paid expires, and one that is paid does not', async () => {
  const service = await shop();
  const status = async (id: string) => {
    const result = await service.call(order, id).get();
    return result.isOk ? result.value.status : result.message;
  };
  await service.call(order, 'paid').place({ payWithinMs: 50 });
  await service.call(order, 'paid').pay();
  await service.call(order, 'late').place({ payWithinMs: 50 });
  await expect.poll(() => status('late')).toBe('expired');
  expect(await status('paid')).toBe('paid');
});

test('the program cancels a timer that a route has set', async () => {
  const service = await shop();
  const response = await service.fetch('/orders/o1/reminders', { method: 'PUT' });
  expect(response.status).toBeLessThan(300);
  expect(await cancelReminders(service, 'o1')).toBe(true);
  expect(await cancelReminders(service, 'o1')).toBe(false);
});
