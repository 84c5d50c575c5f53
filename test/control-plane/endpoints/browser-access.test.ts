// Pages of other origins at the API: they read answers only if the operator allows their origin.
import { expect, test } from 'vitest';
import { browserAccess } from '../../../control-plane/endpoints/browser-access.ts';
import { ApiUnderTest } from './api-under-test.ts';

const CONSOLE = 'https://console.svc.test';

async function start(origins: readonly string[]): Promise<ApiUnderTest> {
  const host = { journal: 'memory', http: { port: 0 }, settings: browserAccess(origins) } as const;
  return await ApiUnderTest.start({}, host);
}

/** Sends what a browser sends before a page's PUT with a token. */
async function preflight(api: ApiUnderTest, origin: string): Promise<Response> {
  return await fetch(`${api.control.url}/services/web/cart`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  });
}

test('a page of an allowed origin may send tokens, and no cookies', async () => {
  await using api = await start([CONSOLE]);
  const { status, headers } = await preflight(api, CONSOLE);
  expect(status).toBe(204);
  expect(headers.get('access-control-allow-origin')).toBe(CONSOLE);
  expect(headers.get('access-control-allow-methods')).toBe('PUT');
  const allowed = headers.get('access-control-allow-headers')!.split(/, */);
  expect(allowed).toEqual(expect.arrayContaining(['authorization', 'idempotency-key']));
  expect(headers.get('access-control-allow-credentials')).toBe(null);
});

test('a page of an allowed origin reads answers and refusals, with their headers', async () => {
  await using api = await start([CONSOLE]);
  const headers = { origin: CONSOLE };
  const whoami = await api.send('GET /auth/whoami', { as: 'ann', headers });
  expect(whoami.headers.get('access-control-allow-origin')).toBe(CONSOLE);
  const refusal = await api.send('GET /auth/whoami', { headers });
  expect(refusal.status).toBe(401);
  expect(refusal.headers.get('access-control-allow-origin')).toBe(CONSOLE);
  expect(refusal.headers.get('access-control-expose-headers')).toContain('www-authenticate');
});

test.each([
  ['no origin is allowed', []],
  ['another origin is allowed', [CONSOLE]],
])('a page reads nothing where %s', async (_, origins) => {
  await using api = await start(origins);
  const origin = 'https://evil.test';
  const answers = [
    await preflight(api, origin),
    await api.send('GET /auth/whoami', { as: 'ann', headers: { origin } }),
  ];
  for (const { headers } of answers)
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
});
