// BareEmbedded: the embedded service with which the control plane is compared: one query of an entity for a GET, and one
// durable command for a POST, without any check.
//
// Usage: node bench/control-plane/bare-embedded.ts DATA-FOLDER
import { createService, defineEndpoint, defineEntity, get, post } from '@svc/host';
import { Type } from 'typebox';

const Counter = Type.Object({ value: Type.Integer() });

const counter = defineEntity({
  component: 'counter',
  state: { manifest: 'counter', schema: Counter },
  event: {
    manifest: 'counter-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('added'), amount: Type.Integer() })]),
  },
  empty: () => ({ value: 0 }),
  apply(state, { amount }) {
    state.value += amount;
    return state;
  },
  commands: {
    add: {
      input: Type.Object({ amount: Type.Integer() }),
      reply: Counter,
      handle: (_, { amount }, { persist }) => persist({ type: 'added', amount }).thenReplyState(),
    },
  },
  queries: { get: { reply: Counter, handle: (state) => state } },
});

const service = await createService({
  name: 'bare',
  entities: [counter],
  endpoints: [
    defineEndpoint({
      name: 'counters',
      prefix: '/counters',
      access: 'internet',
      routes: {
        get: get('/{id}', { reply: Counter }, async ({ parameters }, { call }) =>
          call(counter, parameters.id).get(),
        ),
        add: post(
          '/{id}',
          { body: Type.Object({ amount: Type.Integer() }), reply: Counter },
          async ({ parameters, body }, { call }) => call(counter, parameters.id).add(body),
        ),
      },
    }),
  ],
  dataFolder: process.argv[2]!,
  http: { host: '127.0.0.1', port: 0 },
  deployed: true,
  log: 'json',
});
process.stdout.write(`${service.url}\n`);
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
