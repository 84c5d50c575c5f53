// Logins of the command line, with a real identity provider, a real control plane and real processes.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ApiUnderTest } from '../../control-plane/endpoints/api-under-test.ts';
import { visitLogin } from '../../support/identity-provider/logins.ts';
import { PlatformUser } from '../../support/platform-user.ts';

let api: ApiUnderTest;

beforeAll(async () => {
  api = await ApiUnderTest.start();
  api.provider.people.set('ann', { name: 'Ann', email: 'ann@example.com', verified: true });
  api.provider.people.set('ben', { name: 'Ben' });
});
afterAll(() => api[Symbol.asyncDispose]());

async function newUser(): Promise<PlatformUser> {
  const user = new PlatformUser();
  const set = await user.svc(['context', 'set', 'test', '--url', api.control.url]);
  expect(set).toMatchObject({ code: 0, stdout: '' });
  return user;
}

test('a login stores tokens that only its user can read, and shows none; commands use them', async () => {
  const user = await newUser();
  const { login, page } = await user.startLogin();
  const answer = await visitLogin(page, 'ann');
  const ended = await login.ended;
  expect(ended).toMatchObject({ code: 0, stdout: '' });
  expect(ended.stderr).toContain(`Logged in to ${api.control.url} as Ann.`);
  expect(answer).toContain('You are logged in');
  expect(answer).not.toContain('<script');

  const me = await user.svc(['whoami', '-o', 'json']);
  expect(me).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(me.stdout)).toMatchObject({ subject: 'ann', email: 'ann@example.com' });
  const shared = Object.entries(user.modes()).filter(([, mode]) => !/^[67]00$/.test(mode));
  expect(shared.map(([path]) => path)).toEqual([]);
  const { accessToken, refreshToken } = user.login;
  for (const token of [accessToken, refreshToken] as string[])
    expect(JSON.stringify([ended, me, login.child.spawnargs])).not.toContain(token);
});

test('commands that find an expired token at the same time renew it once', async () => {
  const user = await newUser();
  await user.logIn('ann');
  const before = user.login;
  user.changeLogin({ expiresAtMs: 0 });
  const all = await Promise.all(Array.from({ length: 4 }, () => user.svc(['whoami'])));
  expect(all.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    all.map(() => ({ code: 0, stderr: expect.stringContaining('no organization') as string })),
  );
  expect(user.login['refreshToken']).not.toBe(before['refreshToken']);
  // The family of refresh tokens is not revoked: none was used twice.
  user.changeLogin({ expiresAtMs: 0 });
  expect((await user.svc(['whoami'])).code).toBe(0);
});

test('programs use tokens and secrets of the environment, which go to the URL beside them alone', async () => {
  const user = await newUser();
  const SVC_TOKEN = await api.provider.issue({ subject: 'robot' });
  const SVC_URL = api.control.url;
  expect((await user.svc(['whoami'], { SVC_TOKEN, SVC_URL })).stdout).toMatch(/^subject +robot$/m);
  expect((await user.svc(['whoami'], { SVC_TOKEN, SVC_CONTEXT: 'test' })).code).toBe(0);
  const current = await user.svc(['whoami'], { SVC_TOKEN });
  expect(current.code).toBe(2);
  expect(current.stderr).not.toContain(SVC_TOKEN);

  const { secret } = api.provider.machines.get('ci')!;
  const machine = { SVC_CLIENT_ID: 'ci', SVC_CLIENT_SECRET: secret, SVC_URL };
  expect((await user.svc(['whoami'], machine)).stdout).toMatch(/^subject +ci$/m);
  const wrong = await user.svc(['whoami'], { ...machine, SVC_CLIENT_SECRET: 'wrong' });
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('does not take SVC_CLIENT_ID');
  expect((await user.svc(['whoami'], { SVC_TOKEN: 'not a token', SVC_URL })).code).toBe(2);
  const refused = await user.svc(['whoami'], { SVC_TOKEN: 'refused', SVC_URL });
  expect(refused.code).toBe(3);
});

test('no redirect is followed, so that a token reaches no other server', async () => {
  const reached: (string | undefined)[] = [];
  const other = createServer(({ headers }, response) => {
    reached.push(headers.authorization);
    response.end('{}');
  });
  await listen(other);
  const moved = createServer((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${port(other)}/` }).end();
  });
  await listen(moved);
  onTestFinished(() => {
    other.close();
    moved.close();
  });
  const ended = await new PlatformUser().svc(['whoami'], {
    SVC_TOKEN: 'secret',
    SVC_URL: `http://127.0.0.1:${port(moved)}`,
  });
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(/the base URL redirects.*\[SVC_API_UNAVAILABLE\]\n$/);
  expect(reached).toEqual([]);
});

async function listen(server: Server): Promise<void> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

function port(server: Server): number {
  return (server.address() as AddressInfo).port;
}
