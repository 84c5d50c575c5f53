// The client of the webhook service against a real HTTP server: what it sends, what it takes, and what it does not send.
import { describe, expect, test } from 'vitest';
import {
  ApiError,
  InvalidRequestError,
  NoAnswerError,
  WEBHOOK_ROUTES,
  createWebhooksClient,
  successOf,
  type DatasetReport,
  type Route,
  type WebhookRouteName,
  type WebhooksClient,
} from '../../../client/index.ts';
import { ScriptedServer, answer, type Script } from '../support/scripted-server.ts';

const TENANT = { tenantId: 'acme/eu' };
const REPORT: DatasetReport = {
  name: 'Monday',
  model: 'routing',
  modelVersion: '4',
  tags: ['nightly'],
  status: 'SOLVING_COMPLETED',
  score: '0hard/-12soft',
  seq: 7,
  parentId: null,
  originId: null,
  supersededBy: null,
  runLink: 'https://platform.example/runs/1',
  outputLink: 'https://platform.example/runs/1/output',
};

const never: Script = (response) => answer(response, 500, { status: 500, error: 'sent' });

/** Runs a test with a client of a server that answers by a script. */
async function withServer(
  script: Script,
  run: (client: WebhooksClient, server: ScriptedServer) => Promise<void>,
): Promise<void> {
  await using server = await ScriptedServer.start(script);
  await run(
    createWebhooksClient({ baseUrl: server.url, token: 't0ken', retries: { pauseMs: 1 } }),
    server,
  );
}

const withLink =
  (link?: string): Script =>
  (response) =>
    answer(response, 200, [], link === undefined ? {} : { Link: link });

describe('the client of the webhook service', () => {
  const bodies: Partial<Record<WebhookRouteName, object>> = {
    createWebhook: { url: 'https://receiver.example/hook', headers: { 'X-Key': 'abc' } },
    replaceWebhook: { url: 'https://receiver.example/hook', events: ['dataset.*'] },
    changeWebhook: { filters: null },
    rotateSecret: { gracePeriodSeconds: 0 },
    reportDataset: REPORT,
  };
  const values: Readonly<Record<string, string>> = {
    tenantId: 'acme/eu',
    webhookId: 'wh_1',
    deliveryId: 'd1',
    datasetId: 'ds?1',
  };

  test.each(Object.entries<Route<string>>(WEBHOOK_ROUTES) as [WebhookRouteName, Route<string>][])(
    '%s sends its route',
    async (name, route) => {
      const isList = route.answer?.['type'] === 'array';
      const value = isList ? [{ id: 1 }] : { id: 1 };
      const body = bodies[name];
      await withServer(
        (response) =>
          answer(response, successOf(route), route.answer === undefined ? undefined : value),
        async (client, { requests }) => {
          const call = client[name] as (given: object) => Promise<unknown>;
          const result = await call({ ...values, ...(body === undefined ? {} : { body }) });
          expect(result).toEqual(
            name === 'listDeliveries'
              ? { entries: value, cursor: undefined }
              : route.answer === undefined
                ? undefined
                : value,
          );
          const [{ method, target, headers, body: sent }] = requests as [(typeof requests)[number]];
          expect(requests).toHaveLength(1);
          expect(`${method} ${target}`).toBe(
            `${route.method} ${route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(values[parameter]!))}`,
          );
          expect(sent).toBe(body === undefined ? '' : JSON.stringify(body));
          expect(headers.authorization).toBe('Bearer t0ken');
          expect(headers['idempotency-key'] ?? '').toMatch(
            route.method === 'GET' ? /^$/ : /^[0-9a-f]{32}$/,
          );
        },
      );
    },
  );

  test.each([
    ['<?limit=50&cursor=a%2Bb%3D>; rel="next"', 'a+b='],
    ['<https://a.example/log?cursor=c1>; rel=next', 'c1'],
    ['</log?cursor=old>; rel="prev", </log?cursor=new>; rel="next"', 'new'],
    ['<?cursor=c1>; rel="prev"', undefined],
    ['</log>; rel="next"', undefined],
    ['next', undefined],
    [undefined, undefined],
  ])('finds in the link %s the cursor %s', async (link, cursor) => {
    await withServer(withLink(link), async (client) => {
      expect(await client.listDeliveries(TENANT)).toEqual({ entries: [], cursor });
    });
  });

  test('sends the filters and the cursor of a page', async () => {
    await withServer(withLink(), async (client, { requests }) => {
      await client.listDeliveries({
        ...TENANT,
        outcome: 'pending',
        subscription: 'wh_1',
        limit: 9,
        cursor: 'a+b=',
      });
      expect(requests[0]?.target).toBe(
        '/api/platform/v1/tenants/acme%2Feu/webhooks/deliveries?outcome=pending&subscription=wh_1&limit=9&cursor=a%2Bb%3D',
      );
    });
  });

  test('does not send an invalid request, and names every problem of it', async () => {
    await withServer(never, async (client, { requests }) => {
      const call = client.createWebhook({
        tenantId: '',
        body: { url: '', events: ['dataset.completed', 'dataset.gone' as 'dataset.*'] },
      });
      const error = await call.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(InvalidRequestError);
      expect((error as InvalidRequestError).problems.map(({ path }) => path)).toEqual([
        '/events/1',
        '/tenantId',
        '/url',
      ]);
      expect(requests).toHaveLength(0);
    });
  });

  test('creates with one key, however often a request is sent', async () => {
    let count = 0;
    await withServer(
      (response) => {
        count += 1;
        if (count === 1) answer(response, 503, { status: 503, error: 'later' });
        else answer(response, 201, { id: 'wh_1', secret: 's' });
      },
      async (client, { requests }) => {
        const created = await client.createWebhook({
          ...TENANT,
          body: { url: 'https://receiver.example/hook' },
        });
        expect(created.secret).toBe('s');
        const keys = requests.map(({ headers }) => headers['idempotency-key']);
        expect(keys).toHaveLength(2);
        expect(new Set(keys).size).toBe(1);
      },
    );
  });

  test('says which route was refused, and that an answer is not one of a webhook service', async () => {
    await withServer(
      (response) => answer(response, 409, { status: 409, error: 'as many as it may' }),
      async (client) => {
        const error = await client.retryDelivery({ ...TENANT, deliveryId: 'd1' }).catch(String);
        expect(error).toBe('ApiError: retryDelivery was refused with 409: as many as it may');
        await expect(client.listWebhooks(TENANT)).rejects.toBeInstanceOf(ApiError);
      },
    );
    await withServer(
      (response) => answer(response, 200, { isPage: true }),
      async (client) => {
        const call = client.listWebhooks(TENANT);
        await expect(call).rejects.toBeInstanceOf(NoAnswerError);
        await expect(call).rejects.toThrow('not one of a webhook service: check the base URL');
      },
    );
  });
});
