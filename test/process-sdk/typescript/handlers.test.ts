// What handlers of a program in a process of its own can do, and what becomes of the values that they make.
import { Type } from 'typebox';
import { expect, onTestFinished, test } from 'vitest';
import type { HostCalls } from '../../../model/guest.ts';
import { GuestFault } from '../../../model/guest-fault.ts';
import {
  callOf,
  defineEndpoint,
  Due,
  get,
  respond,
  serveProcess,
} from '../../../process-sdk/typescript/index.ts';
import { cart } from '../../components/support/cart.ts';
import { order } from '../../components/support/order.ts';
import { answering, context, request } from '../../suites/hosting-suite.ts';
import { connectionTo, guestAt } from './support/served-guest.ts';

const reply = { kind: 'reply', json: '{"id":"c1","items":[],"checkedOut":false}' } as const;
const calls = answering(reply);

const odd = defineEndpoint({
  name: 'OddEndpoint',
  prefix: '/odd',
  access: 'internet',
  routes: {
    timer: get('/timer', {}, async (_request, { timers }) => {
      await timers.set('remind', Due.at(new Date(NaN)), callOf(order, 'o1').expire());
      return null;
    }),
    status: get('/status', {}, () => respond(null, { status: 200.5 })),
    many: get(
      '/many',
      { reply: Type.Integer({ minimum: 0, maximum: 10_000 }) },
      async (_request, { call }) => {
        const carts = Array.from({ length: 500 }, (_, index) => call(cart, `c${index}`).get());
        return (await Promise.all(carts)).length;
      },
    ),
    fine: get('/fine', {}, () => null),
  },
});

async function served(hostCallsMax = 4_096) {
  const process = await serveProcess({ entities: [cart, order], endpoints: [odd], port: 0 });
  onTestFinished(() => process.close());
  const guest = await guestAt(connectionTo(process.address, { hostCallsMax }));
  onTestFinished(async () => guest.close());
  return (route: number, made: HostCalls = calls) =>
    Promise.resolve(
      guest.endpoints.handle(context, request(route, { parameters: [] }), made),
    ).catch((fault: unknown) => fault);
}

test('a value that the protocol cannot carry fails its handler alone', async () => {
  const handle = await served();
  const [timer, status, fine] = await Promise.all([handle(0), handle(1), handle(3)]);
  expect(timer).toBeInstanceOf(GuestFault);
  expect(status).toBeInstanceOf(GuestFault);
  expect(fine).toMatchObject({ kind: 'response' });
  expect(await handle(3)).toMatchObject({ kind: 'response' });
});

test('more calls than the runtime takes at once wait, and all have their results', async () => {
  const handle = await served(8);
  let open = 0;
  let most = 0;
  const slow: HostCalls = {
    ...calls,
    call: async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return reply;
    },
  };
  expect(await handle(2, slow)).toMatchObject({
    kind: 'response',
    body: { kind: 'json', text: '500' },
  });
  expect(most).toBeLessThanOrEqual(8);
});
