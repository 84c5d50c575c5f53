// More logins of the command line: hostile callbacks, devices, and logins that can no longer be used.
import { chmodSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiUnderTest } from '../../control-plane/endpoints/api-under-test.ts';
import { enterCode, visitLogin } from '../../support/identity-provider/logins.ts';
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

async function statusOf(
  url: URL,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<number> {
  return await new Promise((resolve, reject) => {
    const sent = request(url, { ...options, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject).end();
  });
}

test('requests that are not the end of this login are refused, and do not disturb it', async () => {
  const user = await newUser();
  const { login, page } = await user.startLogin();
  const { searchParams } = new URL(page);
  const callback = new URL(searchParams.get('redirect_uri')!);
  expect(callback.hostname).toBe('127.0.0.1');
  const good = `?code=stolen&state=${searchParams.get('state')}`;
  const at = (path: string) => new URL(path, callback);
  expect(await statusOf(at('/callback?code=stolen&state=wrong'))).toBe(400);
  expect(await statusOf(at('/callback?code=stolen'))).toBe(400);
  expect(await statusOf(at(`/callback${good}&state=twice`))).toBe(400);
  expect(await statusOf(at(`/${good}`))).toBe(404);
  expect(await statusOf(at(`/callback${good}`), { method: 'POST' })).toBe(405);
  expect(await statusOf(at(`/callback${good}`), { headers: { host: 'evil.example' } })).toBe(421);
  await visitLogin(page, 'ben');
  expect(await login.ended).toMatchObject({ code: 0 });
  expect((await user.svc(['whoami'])).stdout).toMatch(/^subject +ben$/m);
});

test('a code of another login ends this one with the reason, and stores nothing', async () => {
  const user = await newUser();
  const { login, page } = await user.startLogin();
  const { searchParams } = new URL(page);
  const callback = new URL(searchParams.get('redirect_uri')!);
  const { issuer } = api.provider;
  callback.search = new URLSearchParams({
    code: 'stolen',
    state: searchParams.get('state')!,
    iss: issuer,
  }).toString();
  const shown = await (await fetch(callback)).text();
  expect(shown).toContain('The login has failed');
  const ended = await login.ended;
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/has refused: invalid_grant.* \[SVC_LOGIN_FAILED\]\n$/);
  expect((await user.svc(['whoami'])).code).toBe(3);
});

test('of two logins at the same time each ends with its own person, and the last one is used', async () => {
  const user = await newUser();
  const [first, second] = await Promise.all([user.startLogin(), user.startLogin()]);
  await visitLogin(second.page, 'ben');
  expect(await second.login.ended).toMatchObject({ code: 0 });
  await visitLogin(first.page, 'ann');
  expect(await first.login.ended).toMatchObject({ code: 0 });
  expect((await user.svc(['whoami'])).stdout).toMatch(/^subject +ann$/m);

  const both = await Promise.all([user.startLogin(), user.startLogin()]);
  await Promise.all(both.map(({ page }, index) => visitLogin(page, ['ann', 'ben'][index]!)));
  const ends = await Promise.all(both.map(({ login }) => login.ended));
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  expect((await user.svc(['whoami'])).stdout).toMatch(/^subject +(ann|ben)$/m);
});

test('a device login waits until the code is entered in any browser', async () => {
  const user = await newUser();
  const login = user.start(['login', '--device']);
  await login.logged(/enter the code \S+\n/);
  const [, page, code] = /^Open (\S+) in .* code (\S+)\n/m.exec(login.stderr)!;
  await enterCode(page!, code!, 'ann');
  expect(await login.ended).toMatchObject({ code: 0 });
  expect((await user.svc(['whoami'])).stdout).toMatch(/^name +Ann$/m);
});

test('a token that the control plane refuses is renewed, although it is not expired', async () => {
  const user = await newUser();
  await user.logIn('ann');
  user.changeLogin({ accessToken: 'withdrawn' });
  expect(await user.svc(['whoami'])).toMatchObject({ code: 0 });
  expect(user.login['accessToken']).not.toBe('withdrawn');
});

test('a login that the provider has ended is deleted, and the command exits with 3', async () => {
  const user = await newUser();
  await user.logIn('ann');
  user.changeLogin({ expiresAtMs: 0, refreshToken: 'used-before' });
  const ended = await user.svc(['whoami']);
  expect(ended).toMatchObject({ code: 3, stdout: '' });
  expect(ended.stderr).toMatch(/Log in again with svc login\. \[SVC_NOT_LOGGED_IN\]\n$/);
  expect(user.loginPath).toBeUndefined();
});

test('a login that others can read, or one of another URL, is not used', async () => {
  const user = await newUser();
  await user.logIn('ann');
  const elsewhere = await user.svc(['whoami'], {
    SVC_URL: api.control.url.replace('127.0.0.1', 'localhost'),
  });
  expect(elsewhere).toMatchObject({ code: 3 });
  chmodSync(user.loginPath!, 0o644);
  const shared = await user.svc(['whoami']);
  expect(shared.code).toBe(3);
  expect(shared.stderr).toContain('Others than you may read');
});

test('a logout deletes the login', async () => {
  const user = await newUser();
  await user.logIn('ann');
  expect(await user.svc(['logout'])).toMatchObject({ code: 0, stdout: '' });
  expect(user.loginPath).toBeUndefined();
  expect((await user.svc(['whoami'])).code).toBe(3);
});
