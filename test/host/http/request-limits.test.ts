// Routes with limits: which requests are counted together, in which order a request is judged, and what its answer says.
import { describe, expect, test } from 'vitest';
import type { EndpointDescriptor, LimitRule, ModuleDescriptor } from '@svc/contract';
import { INTERNET } from '../../../host/http/access.ts';
import type { RequestPrincipal, RequestTokens } from '../../../host/http/bearer.ts';
import { RequestLimits } from '../../../host/http/request-limits.ts';
import { RouteTable } from '../../../host/http/route-table.ts';
import { sharedLimits } from '../../../model/declared-limits.ts';
import { descriptorOf, JSON_BODY, ok, start, type StartOptions } from './http-harness.ts';

/** The token of a request is its subject, with an issuer before a slash. */
const TOKENS: RequestTokens = {
  verify: ([value = '']) => {
    const [issuer = '', subject] = value.replace('Bearer ', '').split('/');
    if (subject === undefined)
      return { kind: 'refused', error: 'invalid_token', reason: 'It is bad.' };
    return { kind: 'known', caller: principal(subject, issuer) };
  },
};

function principal(subject: string, issuer: string): RequestPrincipal {
  const roles = subject === 'eve' ? [] : ['reader'];
  return { subject, issuer, roles, scopes: [], text: '{}' };
}

const limit = (count: number, by: LimitRule['by'], per: LimitRule['per'] = 'minute') => ({
  count,
  per,
  by,
});

function module(
  routes: Parameters<typeof descriptorOf>[0],
  more: Partial<EndpointDescriptor> = {},
): ModuleDescriptor {
  const descriptor = descriptorOf(routes);
  return { ...descriptor, endpoints: [{ ...descriptor.endpoints[0]!, ...more }] };
}

/** Starts a server whose time is set by the test, and returns what sends it requests. */
async function serve(descriptor: ModuleDescriptor, options: Partial<StartOptions> = {}) {
  const time = { nowMs: 5_000 };
  const { url } = await start({
    descriptor,
    caller: INTERNET,
    project: 'shop',
    tokens: TOKENS,
    limits: { nowMs: () => time.nowMs },
    ...options,
  });
  const send = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
    fetch(`${url}${path}`, { method, headers, ...(method === 'POST' && { body: 'no JSON' }) });
  const from = (path: string, address: string) => send(path, { 'x-forwarded-for': address });
  const as = (path: string, who: string) => send(path, { authorization: `Bearer ${who}` });
  return { time, send, from, as };
}

/** A clock that stands still. */
const ONE_SECOND = () => 1_000;

const statuses = (answers: readonly Response[]) => answers.map(({ status }) => status);

async function inTurn(sends: readonly (() => Promise<Response>)[]): Promise<readonly number[]> {
  const answers: Response[] = [];
  for (const send of sends) answers.push(await send());
  return statuses(answers);
}

describe('the requests of', () => {
  test('an address are counted, those of another one are not', async () => {
    const { from } = await serve(module([['GET', '/a', { limits: [limit(2, 'address')] }]]));
    const to = (address: string) => () => from('/a', address);
    expect(
      await inTurn(['10.0.0.1', '10.0.0.1', '10.0.0.2', '10.0.0.1', '10.0.0.2'].map(to)),
    ).toEqual([200, 200, 200, 429, 200]);
  });

  test('a subject are counted, and the same subject of another issuer is somebody else', async () => {
    const { as } = await serve(
      module([['GET', '/a', { bearer: {}, limits: [limit(1, 'subject')] }]]),
    );
    const by = (who: string) => () => as('/a', who);
    expect(await inTurn(['x/ada', 'x/bob', 'x/ada', 'y/ada', 'x/bob'].map(by))).toEqual([
      200, 200, 429, 200, 429,
    ]);
  });

  test('all callers of a route are counted, and those of another route are not', async () => {
    const { from } = await serve(
      module(
        [
          ['GET', '/a'],
          ['GET', '/b'],
        ],
        { limits: [limit(1, 'route')] },
      ),
    );
    expect(
      await inTurn([
        () => from('/a', '10.0.0.1'),
        () => from('/a', '10.0.0.2'),
        () => from('/b', '10.0.0.2'),
        () => from('/b', '10.0.0.1'),
      ]),
    ).toEqual([200, 429, 200, 429]);
  });

  test('a caller to all routes of an endpoint are counted together', async () => {
    const { from } = await serve(
      module(
        [
          ['GET', '/a'],
          ['GET', '/b'],
        ],
        { limits: [limit(2, 'address')] },
      ),
    );
    const to = (path: string) => () => from(path, '10.0.0.1');
    expect(await inTurn(['/a', '/b', '/a'].map(to))).toEqual([200, 200, 429]);
  });

  test('HEAD are counted as those of GET, and OPTIONS is answered anyway', async () => {
    const { send } = await serve(module([['GET', '/a', { limits: [limit(1, 'route')] }]]));
    expect(
      await inTurn([
        () => send('/a', {}, 'OPTIONS'),
        () => send('/a', {}, 'HEAD'),
        () => send('/a'),
        () => send('/a', {}, 'OPTIONS'),
      ]),
    ).toEqual([204, 200, 429, 204]);
  });
});

describe('an answer says', () => {
  test('what is left, and when a refused request may be sent again', async () => {
    const { time, send } = await serve(module([['GET', '/a', { limits: [limit(2, 'route')] }]]));
    const headers = async () => {
      const answer = await send('/a');
      const names = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
      return [answer.status, ...names.map((name) => answer.headers.get(name))];
    };
    expect(await headers()).toEqual([200, null, '2', '1', '30']);
    expect(await headers()).toEqual([200, null, '2', '0', '60']);
    time.nowMs += 100;
    expect(await headers()).toEqual([429, '30', '2', '0', '30']);
    time.nowMs += 29_000;
    expect(await headers()).toEqual([429, '1', '2', '0', '1']);
    time.nowMs += 900;
    expect(await headers()).toEqual([200, null, '2', '0', '60']);
  });

  test('in words whose requests are too many', async () => {
    const { as } = await serve(
      module([['GET', '/a', { bearer: {}, limits: [limit(1, 'subject', 'hour')] }]]),
    );
    await as('/a', 'x/ada');
    expect(await (await as('/a', 'x/ada')).json()).toEqual({
      status: 429,
      error: 'This caller may send 1 request an hour here. Send the request again in 3600 s.',
    });
  });

  test('nothing of a limit where there is none, and no limit that the handler makes up', async () => {
    const { send } = await serve(
      module([
        ['GET', '/a'],
        ['GET', '/b', { limits: [limit(9, 'route')] }],
      ]),
      { handle: () => ok('ok', [['ratelimit-limit', '1000']]) },
    );
    expect((await send('/a')).headers.get('ratelimit-limit')).toBe('1000');
    expect((await send('/b')).headers.get('ratelimit-limit')).toBe('9');
  });
});

describe('a request is judged in this order:', () => {
  test('token, role, limit, media type: who is refused before takes nothing, and nobody else loses by it', async () => {
    const { send, as } = await serve(
      module([
        [
          'POST',
          '/a',
          {
            ...JSON_BODY,
            bearer: { roles: { match: 'any', names: ['reader'] } },
            limits: [limit(1, 'route')],
          },
        ],
      ]),
    );
    const post = (who?: string) => () =>
      send('/a', { 'content-type': 'text/plain', ...(who && { authorization: who }) }, 'POST');
    expect(
      await inTurn([
        post(),
        post('Bearer bad'),
        post('Bearer x/eve'),
        () => as('/a', 'x/ada'),
        post('Bearer x/ada'),
        post('Bearer x/ada'),
      ]),
    ).toEqual([401, 401, 403, 405, 415, 429]);
  });

  test('access, limit', async () => {
    const limits = [limit(1, 'route')];
    const { send } = await serve(
      module([['GET', '/a', { access: { allow: 'services' }, limits }]]),
    );
    expect(await inTurn([() => send('/a'), () => send('/a')])).toEqual([403, 403]);
  });
});

describe('of several limits', () => {
  const both = module([
    ['GET', '/a', { limits: [limit(1, 'address'), limit(3, 'route', 'hour')] }],
  ]);

  test('each lets the request through, and one that refuses it takes nothing from the others', async () => {
    const { time, from } = await serve(both);
    expect(
      await inTurn([
        () => from('/a', '10.0.0.1'),
        () => from('/a', '10.0.0.1'),
        () => from('/a', '10.0.0.1'),
        () => from('/a', '10.0.0.2'),
        () => from('/a', '10.0.0.3'),
        () => from('/a', '10.0.0.4'),
      ]),
    ).toEqual([200, 429, 429, 200, 200, 429]);
    // The limit of the route refused the last one, so its address has its token.
    time.nowMs += 1_200_000;
    expect(await inTurn([() => from('/a', '10.0.0.4')])).toEqual([200]);
  });

  test('the answer is about the one with the least left, or the longest wait', async () => {
    const { from } = await serve(both);
    const first = await from('/a', '10.0.0.1');
    expect(first.headers.get('ratelimit-limit')).toBe('1');
    await from('/a', '10.0.0.2');
    await from('/a', '10.0.0.3');
    const refused = await from('/a', '10.0.0.3');
    expect(refused.headers.get('retry-after')).toBe('1200');
    expect(refused.headers.get('ratelimit-limit')).toBe('3');
  });
});

test('servers with the same buckets count together', async () => {
  const descriptor = module([['GET', '/a', { limits: [limit(3, 'address')] }]]);
  const shared = sharedLimits(descriptor, 64, 'secret');
  const limits = { nowMs: ONE_SECOND, shared };
  const [one, other] = [
    await serve(descriptor, { limits }),
    await serve(descriptor, { limits }),
  ] as const;
  expect(
    await inTurn([
      () => one.from('/a', '10.0.0.1'),
      () => other.from('/a', '10.0.0.1'),
      () => one.from('/a', '10.0.0.1'),
      () => other.from('/a', '10.0.0.1'),
      () => one.from('/a', '10.0.0.1'),
    ]),
  ).toEqual([200, 200, 200, 429, 429]);
});

test('of 100,000 subjects and addresses each has its limit, or shares one with all for whom there is no bucket', () => {
  const bucketsMax = 1_024;
  for (const by of ['subject', 'address'] as const) {
    const rules = { bearer: {}, limits: [limit(1, by)] };
    const { limits } = new RouteTable(module([['GET', '/a', rules]]));
    let crowded = 0;
    const onCrowded = () => (crowded += 1);
    const requests = RequestLimits.of(limits, { bucketsMax, nowMs: ONE_SECOND, onCrowded })!;
    const admit = (caller: number) =>
      requests.admit(limits.ofRoutes[0]!, {
        principal: principal(`user-${caller}`, 'https://id.test'),
        address: `10.${caller >> 16}.${(caller >> 8) & 255}.${caller & 255}`,
      });
    let passes = 0;
    for (let caller = 0; caller < 100_000; caller++) if (!('status' in admit(caller))) passes += 1;
    expect([passes, crowded]).toEqual([bucketsMax + 1, 100_000 - bucketsMax]);
    // Those who came first have their buckets, so they gain nothing by the flood.
    expect(admit(0)).toMatchObject({ status: 429 });
  }
});
