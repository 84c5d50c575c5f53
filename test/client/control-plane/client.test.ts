// The client of the control plane against a real HTTP server: what it sends, what it takes, and what it does not send.
import { assert, asyncProperty, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ApiError,
  InvalidRequestError,
  NoAnswerError,
  ROUTES,
  createClient,
  parametersOf,
  successOf,
  type Client,
  type ClientOptions,
  type Route,
  type RouteName,
  type ServiceDescriptor,
} from '../../../client/index.ts';
import { STATUS, ScriptedServer, answer, type Script } from '../support/scripted-server.ts';

const CART: ServiceDescriptor = { name: 'cart', image: 'cart:1' };
const CART_KEY = { projectId: 'shop', name: 'cart' };

const never: Script = (response) => answer(response, 500, { status: 500, error: 'sent' });

/** Runs a test with a client of a server that answers by a script. */
async function withServer(
  script: Script,
  run: (client: Client, server: ScriptedServer) => Promise<void>,
  options: Partial<ClientOptions> = {},
): Promise<void> {
  await using server = await ScriptedServer.start(script);
  await run(
    createClient({ baseUrl: server.url, token: 't0ken', retries: { pauseMs: 1 }, ...options }),
    server,
  );
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => expect.unreachable('it should have been refused'),
    (error: unknown) => error,
  );
}

describe('a function of the client', () => {
  const bodies: Partial<Record<RouteName, object>> = {
    createOrganization: { name: 'Acme', owner: { subject: 'auth0|ann', email: 'ann@example.com' } },
    renameOrganization: { name: 'Acme' },
    inviteMember: { email: 'bob@example.com', role: 'owner' },
    setMemberRole: { role: 'member' },
    createProject: { name: 'Shop', organizationId: 'acme' },
    renameProject: { name: 'Shop' },
    applyService: CART,
  };
  const values = {
    organizationId: 'acme',
    projectId: 'shop',
    name: 'cart',
    subject: 'auth0|a/b',
    email: 'ann@example.com',
  };

  test.each(Object.entries(ROUTES) as [RouteName, Route][])(
    '%s sends its route',
    async (name, route) => {
      const value = route.answer?.['type'] === 'array' ? [{ id: 1 }] : { id: 1 };
      const body = bodies[name];
      const input = {
        ...Object.fromEntries(
          parametersOf(route).map((parameter) => [parameter, values[parameter]]),
        ),
        ...(body === undefined ? {} : { body }),
      };
      await withServer(
        (response) =>
          answer(response, successOf(route), route.answer === undefined ? undefined : value),
        async (client, { requests }) => {
          const call = client[name] as (given: object) => Promise<unknown>;
          expect(await call(input)).toEqual(route.answer === undefined ? undefined : value);
          expect(requests).toHaveLength(1);
          const [{ method, target, headers, body: sent }] = requests as [(typeof requests)[number]];
          expect({ method, target }).toEqual({
            method: route.method,
            target: route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: keyof typeof values) =>
              encodeURIComponent(values[parameter]),
            ),
          });
          expect(sent).toBe(body === undefined ? '' : JSON.stringify(body));
          expect(headers['content-type']).toBe(body === undefined ? undefined : 'application/json');
          expect(headers.authorization).toBe(route.who === 'anyone' ? undefined : 'Bearer t0ken');
          expect(headers['idempotency-key'] ?? '').toMatch(
            route.method === 'GET' ? /^$/ : /^[0-9a-f]{32}$/,
          );
        },
      );
    },
  );

  test('encodes each path parameter as one segment', async () => {
    await withServer(
      (response) => answer(response, 204),
      async (client, { requests }) => {
        await assert(
          asyncProperty(string({ unit: 'grapheme', minLength: 1 }), async (subject) => {
            if (subject === '.' || subject === '..') return;
            await client.removeMember({ organizationId: 'acme', subject });
            const target = requests.at(-1)?.target ?? '';
            expect(target).toMatch(/^\/organizations\/acme\/members\/[^/?#]+$/);
            expect(decodeURIComponent(target.slice(target.lastIndexOf('/') + 1))).toBe(subject);
          }),
          { numRuns: 50 },
        );
      },
    );
  });

  test('sends query parameters, and flags if they are true', async () => {
    await withServer(
      (response) => answer(response, 200, { instances: [] }),
      async (client, { requests }) => {
        await client.getServiceLogs({ ...CART_KEY, previous: true, tail: 0, instance: 'a b&c' });
        await client.getServiceLogs({ ...CART_KEY, previous: false });
        expect(requests.map(({ target }) => target)).toEqual([
          '/services/shop/cart/logs?instance=a+b%26c&previous=true&tail=0',
          '/services/shop/cart/logs',
        ]);
      },
    );
  });

  test('takes a base URL with a path, and a token that a function returns', async () => {
    await using server = await ScriptedServer.start((response) => answer(response, 200, []));
    const tokens = ['first', 'second'];
    const client = createClient({
      baseUrl: `${server.url}/platform/api//`,
      token: async () => await Promise.resolve(tokens.shift()),
    });
    for (let count = 0; count < 3; count += 1) await client.listProjects();
    expect(server.requests.map(({ target }) => target)).toEqual(
      Array.from({ length: 3 }, () => '/platform/api/projects'),
    );
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first',
      'Bearer second',
      undefined,
    ]);
  });

  test('takes unknown fields and unknown words in an answer', async () => {
    const later = { ...STATUS, lifecycle: 'hibernating', region: 'north', hosting: 'native' };
    await withServer(
      (response) => answer(response, 200, later),
      async (client) => {
        expect(await client.getService(CART_KEY)).toEqual(later);
      },
    );
  });
});

describe('an invalid request is not sent', () => {
  test.each<[string, (client: Client) => Promise<unknown>, readonly string[]]>([
    [
      'a descriptor with problems',
      (client) =>
        client.applyService({ ...CART_KEY, body: { ...CART, name: 'Cart', instances: 0 } }),
      ['/instances', '/name', '/name'],
    ],
    [
      'a descriptor of another name',
      (client) => client.applyService({ projectId: 'shop', name: 'basket', body: CART }),
      ['/name'],
    ],
    [
      'a body with unknown fields and wrong values',
      (client) =>
        client.inviteMember({
          organizationId: 'acme',
          body: { email: '"a b"@x', role: 'admin', extra: 1 } as never,
        }),
      ['', '/email', '/role'],
    ],
    [
      'a body inside of a body',
      (client) =>
        client.createOrganization({
          organizationId: 'acme',
          body: { name: 'a\u0007', owner: { subject: '', role: 'x' } as never },
        }),
      ['/name', '/owner', '/owner/subject'],
    ],
    [
      'a body that is missing',
      (client) => client.renameProject({ projectId: 'shop' } as never),
      [''],
    ],
    [
      'a body where none is taken',
      (client) => client.pauseService({ ...CART_KEY, body: {} } as never),
      [''],
    ],
    [
      'a query parameter out of range',
      (client) =>
        client.getServiceLogs({ ...CART_KEY, tail: -1, since: 1.5, previous: 1 as never }),
      ['/previous', '/since', '/tail'],
    ],
    ...['.', '..', '', '\ud800', undefined].map(
      (subject): [string, (client: Client) => Promise<unknown>, readonly string[]] => [
        `the subject ${JSON.stringify(subject)}`,
        (client) => client.removeMember({ organizationId: 'acme', subject: subject as string }),
        ['/subject'],
      ],
    ),
  ])('%s', async (_title, call, paths) => {
    await withServer(never, async (client, { requests }) => {
      const error = await failureOf(call(client));
      expect(error).toBeInstanceOf(InvalidRequestError);
      expect((error as InvalidRequestError).problems.map(({ path }) => path)).toEqual(paths);
      expect(requests).toEqual([]);
    });
  });

  test('and an invalid token is in no error', async () => {
    await withServer(
      never,
      async (client, { requests }) => {
        const error = await failureOf(client.whoami());
        expect(String(error)).toContain('the token is empty, or has a character that no token has');
        expect(String(error)).not.toContain('secret');
        expect(requests).toEqual([]);
      },
      { token: 'secret\r\nx: y' },
    );
  });

  test.each(['', 'a b', 'a\nb', 'é', 'x'.repeat(256)])(
    'and one with the key %j is none',
    async (idempotencyKey) => {
      await withServer(never, async (client, { requests }) => {
        const error = await failureOf(client.pauseService(CART_KEY, { idempotencyKey }));
        expect(String(error)).toMatch(/^TypeError: idempotencyKey /);
        expect(requests).toEqual([]);
      });
    },
  );

  test('and a time has to be more than 0, and may have no end', async () => {
    expect(() => createClient({ baseUrl: 'http://127.0.0.1', timeoutMs: 0 })).toThrow(
      /^timeoutMs /,
    );
    await withServer(
      (response) => answer(response, 200, []),
      async (client) => expect(await client.listProjects()).toEqual([]),
      { timeoutMs: Infinity },
    );
  });

  test.each(['', 'api.example.com', 'ftp://x', 'https://a:b@x', 'https://x/?q', 'https://x/#f'])(
    'to the base URL %j',
    (baseUrl) => {
      expect(() => createClient({ baseUrl })).toThrow(/^baseUrl /);
    },
  );
});

describe('a refusal', () => {
  test('has status, reason and the seconds after which to come again', async () => {
    await withServer(
      (response) =>
        answer(response, 429, { status: 429, error: 'too many' }, { 'Retry-After': '7' }),
      async (client, { requests }) => {
        const error = await failureOf(client.deleteService(CART_KEY));
        expect(error).toBeInstanceOf(ApiError);
        expect(error).toMatchObject({
          name: 'ApiError',
          route: 'deleteService',
          status: 429,
          reason: 'too many',
          retryAfterS: 7,
          message: 'deleteService was refused with 429: too many',
        });
        expect(requests).toHaveLength(1);
      },
    );
  });

  test.each([
    ['<html>Bad Gateway</html>', 502],
    ['', 404],
    ['{"error":5}', 400],
    ['[]', 403],
  ])('of another server has its status: %j', async (text, status) => {
    await withServer(
      (response) => response.writeHead(status).end(text),
      async (client) => {
        const error = await failureOf(client.whoami());
        expect(error).toMatchObject({ status, reason: expect.stringContaining(`HTTP ${status}`) });
      },
    );
  });
});

describe('an answer that cannot be used', () => {
  test.each<[string, Script, NoAnswerError['kind']]>([
    ['no JSON', (response) => response.writeHead(200).end('<html>'), 'foreign'],
    ['a list instead of an object', (response) => answer(response, 200, []), 'foreign'],
    ['another success', (response) => answer(response, 202, STATUS), 'foreign'],
    [
      'a redirect, which is not followed',
      (response) => answer(response, 307, {}, { Location: '/elsewhere' }),
      'foreign',
    ],
    ['too many bytes', (response) => answer(response, 200, { x: 'x'.repeat(2000) }), 'too-large'],
    [
      'a refusal of too many bytes',
      (response) => answer(response, 400, { status: 400, error: 'x'.repeat(2000) }),
      'too-large',
    ],
  ])('is %s', async (_title, script, kind) => {
    await withServer(
      script,
      async (client, { requests }) => {
        const error = await failureOf(client.getService(CART_KEY));
        expect(error).toBeInstanceOf(NoAnswerError);
        expect(error).toMatchObject({ kind, route: 'getService' });
        expect(requests).toHaveLength(1);
      },
      { answerBytesMax: 1000 },
    );
  });

  test('is one without an end, of which no more than the limit is read', async () => {
    await withServer(
      (response) => {
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(' '.repeat(1000)));
        };
        response.on('drain', more);
        more();
      },
      async (client) => {
        expect(await failureOf(client.whoami())).toMatchObject({ kind: 'too-large' });
      },
      { answerBytesMax: 100_000 },
    );
  });
});
