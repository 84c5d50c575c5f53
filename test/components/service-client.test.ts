// A handler's client of another service: its requests, and its result for each response.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { HostCalls } from '../../model/guest.ts';
import type { CallingContext } from '../../components/calling-context.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEndpoint } from '../../components/endpoint-definition.ts';
import { get } from '../../components/route-definition.ts';
import type { ServiceRequest, ServiceResponse } from '../../model/service-call.ts';
import { WITHOUT_TIMERS } from '../support/without-timers.ts';
import { handledByRoute } from './support/one-route.ts';

const Invoice = Type.Object({ id: Type.String() });

const response = (status: number, text = ''): ServiceResponse => ({
  status,
  headers: [['x-a', '1']],
  body: Buffer.from(text),
});

/** Runs a handler whose requests get this response, and returns its requests and its result. */
async function handled(
  answer: ServiceResponse,
  handle: (given: CallingContext) => Promise<unknown>,
) {
  const sent: ServiceRequest[] = [];
  let result: unknown;
  const request: HostCalls['request'] = (given) => (sent.push(given), answer);
  await handledByRoute(
    {},
    async (given) => {
      result = await handle(given);
    },
    { request },
  );
  return { sent, result };
}

test('a route returns the value of a call', async () => {
  const routes = {
    invoice: get('/{id}/invoice', { reply: Invoice }, ({ parameters: { id } }, { service }) =>
      service('billing').get(`/invoices/${encodeURIComponent(id)}`, Invoice),
    ),
  };
  const endpoint = defineEndpoint({ prefix: '/orders', access: 'local', routes });
  const guest = createEmbeddedGuest({ endpoints: [endpoint] });
  const paths: string[] = [];
  const outcome = await guest.endpoints.handle(
    { nowMs: 5, seed: 7n, metadata: [] },
    {
      route: 0,
      parameters: ['ö/1'],
      query: '',
      headers: [],
      caller: 'local',
      body: { kind: 'none' },
    },
    {
      nowMs: () => 6,
      call: () => ({ kind: 'reply', json: 'null' }),
      readEvents: () => [],
      ...WITHOUT_TIMERS,
      request: ({ path }) => (paths.push(path), response(200, '{"id":"i7"}')),
    },
  );
  expect(paths).toEqual(['/invoices/%C3%B6%2F1']);
  expect(outcome).toMatchObject({ status: 200, body: { text: '{"id":"i7"}' } });
});

test('a request has the headers of its client, then its own', async () => {
  const { sent } = await handled(response(204), async ({ service }) => {
    const client = service('ledger.finance')
      .withHeaders({ a: '1', b: '1' })
      .withHeaders({ b: '2' });
    await client.put('/x', { ö: [1] });
    await client.request('OPTIONS', '/y', { headers: { c: '3' }, body: 'é' });
  });
  expect(sent).toEqual([
    {
      service: 'ledger.finance',
      method: 'PUT',
      path: '/x',
      headers: [
        ['a', '1'],
        ['b', '2'],
        ['content-type', 'application/json'],
      ],
      body: Buffer.from('{"ö":[1]}'),
    },
    {
      service: 'ledger.finance',
      method: 'OPTIONS',
      path: '/y',
      headers: [
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ],
      body: Buffer.from('é'),
    },
  ]);
});

test.each([
  [400, 'BAD_REQUEST', undefined],
  [404, 'NOT_FOUND', undefined],
  [409, 'CONFLICT', undefined],
  [302, 'OTHER', 'INTERNAL'],
  [500, 'OTHER', 'INTERNAL'],
  [503, 'OTHER', 'UNAVAILABLE'],
  [504, 'OTHER', 'TIMED_OUT'],
])('a response with the status %i is a refusal with %s', async (status, code, otherCode) => {
  const texts = ['{"error":"no"}', '{"error":7}', 'null', '<p>'];
  const messages = [];
  for (const text of texts) {
    const { result } = await handled(response(status, text), ({ service }) =>
      service('billing').delete('/x', Invoice),
    );
    expect(result).toMatchObject({ isOk: false, code, otherCode });
    messages.push((result as { readonly message: string }).message);
  }
  const plain = `service 'billing' answered ${status}`;
  expect(messages).toEqual([`${plain}: no`, plain, plain, plain]);
});

test('a body that does not fit its schema rejects', async () => {
  for (const text of ['{"id":1}', '[', '']) {
    const { result } = await handled(response(200, text), ({ service }) =>
      service('billing')
        .get('/x', Invoice)
        .catch((error: unknown) => error),
    );
    expect(result).toBeInstanceOf(TypeError);
    expect((result as Error).message).toMatch(
      /^the response of service 'billing' does not decode: /,
    );
  }
});
