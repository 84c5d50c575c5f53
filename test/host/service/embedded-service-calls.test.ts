// Embedded services that call each other: a client of another service in a handler and in a consumer.
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createService,
  defineConsumer,
  defineEndpoint,
  defineEntity,
  type EndpointContext,
  get,
  post,
  refuse,
  Refused,
  respond,
  type Service,
  type ServiceOptions,
} from '../../../host/embed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const Invoice = Type.Object({ id: Type.String(), cents: Type.Integer() });

const received: string[] = [];
const invoices = defineEndpoint({
  prefix: '/invoices',
  access: 'internet',
  routes: {
    one: get('/{id}', { reply: Invoice }, ({ parameters: { id }, header, caller }) => {
      received.push(
        `${caller} ${header('x-own') ?? ''} ${header('traceparent')?.slice(3, 35) ?? ''}`,
      );
      return id === 'none' ? refuse(`there is no invoice ${id}`, 'NOT_FOUND') : { id, cents: 990 };
    }),
    create: post(
      '',
      {
        body: Type.Object({ cents: Type.Integer() }),
        reply: Invoice,
        answers: [201],
      },
      ({ body, header }) => {
        received.push(`${header('content-type')} ${header('idempotency-key') ?? ''} ${body.cents}`);
        return respond({ id: 'new', ...body }, { status: 201 });
      },
    ),
  },
});

const order = defineEntity({
  component: 'order',
  state: { manifest: 'order-state', schema: Type.Object({}) },
  event: {
    manifest: 'order-event',
    schema: Type.Object({ type: Type.Literal('placed'), cents: Type.Integer() }),
  },
  empty: () => ({}),
  apply: (state) => state,
  commands: {
    place: {
      input: Type.Integer(),
      handle: (_state, cents, { persist }) => persist({ type: 'placed', cents }).thenReply(),
    },
  },
  queries: {},
});

async function serve(options: Partial<ServiceOptions>): Promise<Service> {
  const service = await createService({
    journal: 'memory',
    log: () => {},
    http: { port: 0 },
    ...options,
  } as ServiceOptions);
  onTestFinished(() => service.stop());
  return service;
}

/** Serves `billing`, and a service whose route answers with what `handle` returns. */
async function pair(
  handle: (context: EndpointContext) => unknown,
  more: Partial<ServiceOptions> = {},
) {
  received.length = 0;
  const observability = { local: true, runningFolder: temporaryFolder() };
  await serve({ name: 'billing', endpoints: [invoices], observability });
  const asked = defineEndpoint({
    prefix: '/asked',
    access: 'internet',
    routes: {
      asked: get('', { reply: 'text' }, async (_request, context) => {
        const answer = await handle(context);
        return answer instanceof Refused ? answer : JSON.stringify(answer ?? null);
      }),
    },
  });
  const caller = await serve({
    name: 'caller',
    endpoints: [asked],
    observability,
    ...more,
  });
  return async (headers: Record<string, string> = {}) => {
    const response = await caller.fetch('/asked', { headers });
    return [response.status, await response.json()] as const;
  };
}

describe('a handler', () => {
  test('gets the value of a schema, and the trace goes along', async () => {
    const ask = await pair(async ({ service }) => {
      const found = await service('billing')
        .withHeaders({ 'X-Own': 'yes' })
        .get('/invoices/i7', Invoice);
      return found.isOk ? found.value.cents : found;
    });
    const trace = 'a'.repeat(32);
    expect(await ask({ traceparent: `00-${trace}-00f067aa0ba902b7-01` })).toEqual([200, 990]);
    expect(received).toEqual([`local yes ${trace}`]);
  });

  test('sends JSON, and reads a response whatever its status', async () => {
    const ask = await pair(async ({ service }) => {
      const billing = service('billing');
      const made = await billing.post('/invoices', { cents: 7 }, Invoice);
      const raw = await billing.request('GET', '/invoices/none');
      const nobody = await service('nobody').request('GET', '/');
      return [
        made.isOk && made.value,
        raw.status,
        raw.isOk,
        raw.header('Content-Type'),
        raw.text(),
        nobody.status,
        nobody.header('x-svc-answered-by'),
      ];
    });
    expect(await ask()).toEqual([
      200,
      [
        { id: 'new', cents: 7 },
        404,
        false,
        'application/json',
        '{"status":404,"error":"there is no invoice none"}',
        503,
        'proxy',
      ],
    ]);
    expect(received[0]).toBe('application/json  7');
  });

  test('returns the refusal of a response that is no success', async () => {
    const ask = await pair(({ service }) => service('billing').get('/invoices/none', Invoice));
    expect(await ask()).toEqual([
      404,
      { status: 404, error: "service 'billing' answered 404: there is no invoice none" },
    ]);
  });

  test('fails with a response that does not fit, and with a request that is not sent', async () => {
    const problems: unknown[] = [];
    const ask = await pair(
      async ({ service }) => {
        const billing = service('billing');
        const unfit = billing.get('/invoices/i7', Type.Object({ id: Type.Integer() }));
        problems.push(await unfit.catch((error: unknown) => error));
        problems.push(await billing.request('GET', 'invoices').catch((error: unknown) => error));
        problems.push(
          await billing.post('/invoices', 'x'.repeat(1024)).catch((error: unknown) => error),
        );
      },
      { settings: { 'svc.calls.request-bytes-max': 1000 } },
    );
    expect(await ask()).toEqual([200, null]);
    expect(problems).toMatchObject([
      { name: 'CodecProblem' },
      { code: 'SVC_SERVICE_CALL_DENIED' },
      {
        code: 'SVC_SERVICE_CALL_DENIED',
        message: expect.stringContaining('svc.calls.request-bytes-max') as string,
      },
    ]);
  });

  test('makes several requests at the same time', async () => {
    const ask = await pair(async ({ service }) => {
      const found = await Promise.all(
        ['a', 'b', 'c'].map((id) => service('billing').get(`/invoices/${id}`, Invoice)),
      );
      return found.map((one) => (one.isOk ? one.value.id : one.message));
    });
    expect(await ask()).toEqual([200, ['a', 'b', 'c']]);
  });

  test('of a deployed service without an identity calls nobody', async () => {
    const ask = await pair(
      ({ service }) =>
        service('billing')
          .get('/invoices/i7', Invoice)
          .catch((error: unknown) => (error as Error).message),
      { deployed: true },
    );
    expect(await ask()).toEqual([200, expect.stringContaining('deployed without an identity')]);
  });
});

test('a consumer sends the event on, with a key of its own', async () => {
  received.length = 0;
  const observability = { local: true, runningFolder: temporaryFolder() };
  await serve({ name: 'billing', endpoints: [invoices], observability });
  const invoicing = defineConsumer({
    id: 'invoicing',
    start: 'beginning',
    on: [
      {
        entity: order,
        async handle({ cents }, { service, entityId, seq, done, retry }) {
          const key = { 'Idempotency-Key': `${entityId}-${seq}` };
          const made = await service('billing').withHeaders(key).post('/invoices', { cents });
          return made.isOk ? done() : retry(made.message);
        },
      },
    ],
  });
  const caller = await serve({
    name: 'caller',
    entities: [order],
    consumers: [invoicing],
    observability,
  });
  expect((await caller.call(order, 'o1').place(5)).isOk).toBe(true);
  await expect.poll(() => received).toEqual(['application/json o1-1 5']);
});
