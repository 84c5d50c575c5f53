// The login provider over HTTP: logins as the command line does them, and requests of others.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get, request as httpRequest } from 'node:http';
import { get as secureGet } from 'node:https';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  clientCredentialsGrant,
  ClientSecretBasic,
  type Configuration,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  randomPKCECodeVerifier,
  refreshTokenGrant,
} from 'openid-client';
import { expect, onTestFinished, test } from 'vitest';
import { keptKeys } from '../../login-provider/kept-keys.ts';
import { LOGIN_PROVIDER_DEFAULTS } from '../../login-provider/login-provider-section.ts';
import type { LoginProviderSettings } from '../../login-provider/login-provider-settings.ts';
import { LoginServer } from '../../login-provider/login-server.ts';
import { type Accounts, CLI_CLIENT } from '../../login-provider/people-file.ts';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { FormBrowser } from '../support/identity-provider/form-browser.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const AUDIENCE = 'https://api.svc.test';
/** A port of its own for each login of the command line. */
const CALLBACK = 'http://127.0.0.1:49321/callback';
const SCOPE = 'openid profile email offline_access';
const SECRET = '0123456789abcdef!';
const ACCOUNTS: Accounts = {
  people: new Map([
    ['ann', { name: 'Ann', email: 'ann@example.com', emailVerified: true, roles: ['admin'] }],
    ['<script>"&\'', { name: '<img src=x onerror=alert(1)>' }],
  ]),
  machines: new Map([['ci', { secret: SECRET, roles: ['deployer'], tenants: ['acme'] }]]),
};

async function started(
  folder = join(temporaryFolder(), 'keys'),
  changes: Partial<LoginProviderSettings> = {},
): Promise<LoginServer> {
  const server = await LoginServer.start({
    settings: {
      peopleFile: '',
      audience: AUDIENCE,
      issuer: undefined,
      dataFolder: folder,
      host: '127.0.0.1',
      tls: undefined,
      logFormat: 'json',
      section: { ...LOGIN_PROVIDER_DEFAULTS, port: 0 },
      ...changes,
    },
    accounts: ACCOUNTS,
    keys: keptKeys(folder),
    log: () => undefined,
  });
  onTestFinished(() => server.stop(0));
  return server;
}

async function client(
  { issuer }: LoginServer,
  id = CLI_CLIENT,
  authentication = None(),
): Promise<Configuration> {
  return discovery(new URL(issuer), id, undefined, authentication, {
    execute: [allowInsecureRequests],
  });
}

/** Begins a login, and returns the page on which a person is chosen. */
async function loginPageOf(
  configuration: Configuration,
  browser = new FormBrowser(CALLBACK),
  parameters: Readonly<Record<string, string>> = {},
) {
  const verifier = randomPKCECodeVerifier();
  const address = buildAuthorizationUrl(configuration, {
    redirect_uri: CALLBACK,
    scope: SCOPE,
    resource: AUDIENCE,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...parameters,
  });
  const page = await browser.go(address.href);
  return { browser, verifier, page, token: hidden(page.body, 'token') };
}

function hidden(body: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]+)"`).exec(body)?.[1] ?? '';
}

async function logIn(
  configuration: Configuration,
  as: string,
  browser = new FormBrowser(CALLBACK),
  parameters: Readonly<Record<string, string>> = {},
) {
  const { page, token, verifier } = await loginPageOf(configuration, browser, parameters);
  const arrived = await browser.go(page.url, { as, token });
  return authorizationCodeGrant(configuration, new URL(arrived.url), {
    pkceCodeVerifier: verifier,
  });
}

test('a person logs in with PKCE at a port of the command line, and the token has the claims of the file', async () => {
  const server = await started();
  const configuration = await client(server);
  const tokens = await logIn(configuration, 'ann', undefined, { prompt: 'consent' });
  const keys = createRemoteJWKSet(new URL(`${server.issuer}/jwks`));
  const { payload, protectedHeader } = await jwtVerify(tokens.access_token, keys, {
    issuer: server.issuer,
    audience: AUDIENCE,
  });
  expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' });
  expect(payload).toMatchObject({
    sub: 'ann',
    name: 'Ann',
    email: 'ann@example.com',
    email_verified: true,
    realm_access: { roles: ['admin'] },
  });
});

test('each login asks who the person is, also in the same browser', async () => {
  const configuration = await client(await started());
  const browser = new FormBrowser(CALLBACK);
  for (const person of ['ann', '<script>"&\'', 'ann'])
    expect(decodeJwt((await logIn(configuration, person, browser)).access_token).sub).toBe(person);
});

test('a refresh token is used once, and its second use ends all that followed from it', async () => {
  const configuration = await client(await started());
  const first = await logIn(configuration, 'ann');
  const parameters = { resource: AUDIENCE };
  const second = await refreshTokenGrant(configuration, first.refresh_token!, parameters);
  expect(decodeJwt(second.access_token)).toMatchObject({ sub: 'ann', aud: AUDIENCE });
  for (const { refresh_token: used } of [first, second])
    await expect(refreshTokenGrant(configuration, used!, parameters)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
});

test('a person logs in with the device flow, with the code in the address', async () => {
  const configuration = await client(await started());
  const begun = await initiateDeviceAuthorization(configuration, {
    scope: SCOPE,
    resource: AUDIENCE,
  });
  const browser = new FormBrowser(CALLBACK);
  const entry = await browser.go(begun.verification_uri_complete!);
  expect(hidden(entry.body, 'user_code')).toBe(begun.user_code);
  const form = { xsrf: hidden(entry.body, 'xsrf'), user_code: begun.user_code, confirm: 'yes' };
  const wrong = await browser.go(begun.verification_uri, { ...form, user_code: 'BBBB-BBBB' });
  expect(wrong.body).toContain('This code is not known');
  const login = await browser.go(begun.verification_uri, {
    ...form,
    xsrf: hidden(wrong.body, 'xsrf'),
  });
  const [tokens, end] = await Promise.all([
    pollDeviceAuthorizationGrant(configuration, { ...begun, interval: 0.05 }),
    browser.go(login.url, { as: 'ann', token: hidden(login.body, 'token') }),
  ]);
  expect(end.body).toContain('You are logged in');
  expect(decodeJwt(tokens.access_token)).toMatchObject({ sub: 'ann', aud: AUDIENCE });
});

test('a machine gets a token with its secret, and with no other', async () => {
  const server = await started();
  const machine = await client(server, 'ci', ClientSecretBasic(SECRET));
  const { access_token: token } = await clientCredentialsGrant(machine);
  expect(decodeJwt(token)).toMatchObject({
    sub: 'ci',
    aud: AUDIENCE,
    realm_access: { roles: ['deployer'] },
    tenants: ['acme'],
  });
  const other = await client(server, 'ci', ClientSecretBasic(`${SECRET}!`));
  await expect(clientCredentialsGrant(other)).rejects.toMatchObject({ status: 401 });
});

test('after a restart with the same folder, the keys are the same', async () => {
  const folder = join(temporaryFolder(), 'keys');
  const before = await started(folder);
  const { access_token: token } = await logIn(await client(before), 'ann');
  await before.stop(0);
  const after = await started(folder);
  const keys = createRemoteJWKSet(new URL(`${after.issuer}/jwks`));
  expect((await jwtVerify(token, keys)).payload.sub).toBe('ann');
});

test('a token for another audience is refused', async () => {
  const configuration = await client(await started());
  const browser = new FormBrowser(CALLBACK);
  const { page } = await loginPageOf(configuration, browser, { resource: 'https://other.test' });
  expect(new URL(page.url).searchParams.get('error')).toBe('invalid_target');
});

test.each([
  ['without PKCE', { code_challenge: '', code_challenge_method: '' }, /PKCE|code_challenge/],
  ['to another address', { redirect_uri: 'http://192.0.2.1/callback' }, /redirect_uri/],
  ['of an unknown client', { client_id: '<b>' }, /client/],
])('a login %s does not begin', async (_what, parameters, reason) => {
  const { page } = await loginPageOf(await client(await started()), undefined, parameters);
  expect(`${page.url} ${page.body}`).toMatch(reason);
  expect(page.body).not.toContain('Log in as');
  expect(page.body).not.toContain('<b>');
});

test('names of people are escaped, and no page has a script', async () => {
  const { page } = await loginPageOf(await client(await started()));
  expect(page.body).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(page.body).not.toMatch(/<script|<img|javascript:/i);
});

test('a form without the token of its page, of another browser, or for nobody is refused', async () => {
  const configuration = await client(await started());
  const { browser, page, token } = await loginPageOf(configuration);
  const other = await loginPageOf(configuration);
  for (const form of [
    { as: 'ann' },
    { as: 'ann', token: `${token}x` },
    { as: 'ann', token: other.token },
    { as: 'nobody', token },
    { token },
  ])
    expect((await browser.go(page.url, form as Record<string, string>)).body).toContain(
      'not the one of this login',
    );
  const stranger = await new FormBrowser(CALLBACK).go(page.url, { as: 'ann', token });
  expect(stranger.body).toContain('begun in another browser');
  expect((await browser.go(page.url, { as: 'ann', token })).url).toMatch(CALLBACK);
});

test('forms that are too large or of another type are refused', async () => {
  const { browser, page, token } = await loginPageOf(await client(await started()));
  const large = await browser.go(page.url, { as: 'x'.repeat(5000), token });
  expect(large.body).toContain('The request cannot be used');
  const json = await fetch(page.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"as":"ann"}',
  });
  expect(json.status).toBe(415);
});

test('every answer forbids scripts, frames and being stored', async () => {
  const { url } = await started();
  for (const path of ['/device', '/nothing', '/auth', '/interaction/none', '/jwks']) {
    const { headers } = await fetch(`${url}${path}`);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action .*; frame-ancestors 'none'/,
    );
    expect(headers.get('cache-control')).toContain('no-store');
  }
});

test.each(['evil.example', 'evil.example:80', '127.0.0.1', 'localhost'])(
  'a request for the host %s is refused, as a page with a name for this address would send it',
  async (host) => {
    const { url } = await started();
    const [response] = (await once(get(`${url}/jwks`, { headers: { host } }), 'response')) as [
      { readonly statusCode: number },
    ];
    expect(response.statusCode).toBe(421);
  },
);

test('forwarded headers of a client change no address in an answer', async () => {
  const { url, issuer } = await started();
  const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
  const response = await fetch(`${url}/.well-known/openid-configuration`, { headers });
  expect(await response.json()).toMatchObject({ issuer, token_endpoint: `${issuer}/token` });
});

test('with an issuer of its own it is asked under that name, too', async () => {
  const issuer = 'https://login.svc.test:8443';
  const { url } = await started(undefined, { issuer });
  for (const host of ['login.svc.test:8443', new URL(url).host]) {
    const request = get(`${url}/.well-known/openid-configuration`, { headers: { host } });
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream];
    const chunks = await Array.fromAsync(response as AsyncIterable<Buffer>);
    const found: unknown = JSON.parse(Buffer.concat(chunks).toString());
    expect(found).toMatchObject({ issuer, jwks_uri: `${issuer}/jwks` });
  }
});

test('with a certificate it is served with TLS', async () => {
  const authority = await CertificateAuthority.create('names');
  const issued = await authority.issue({ dnsNames: ['localhost'] });
  const folder = temporaryFolder();
  const tls = { certificate: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  writeFileSync(tls.certificate, issued.certificate);
  writeFileSync(tls.key, issued.key);
  const { url, issuer } = await started(join(folder, 'keys'), { host: 'localhost', tls });
  expect(url).toMatch(/^https:\/\/localhost:\d+$/);
  const request = secureGet(`${url}/.well-known/openid-configuration`, {
    ca: authority.certificate,
    agent: false,
  });
  const [response] = (await once(request, 'response')) as [AsyncIterable<Buffer>];
  const text = Buffer.concat(await Array.fromAsync(response)).toString();
  expect(JSON.parse(text)).toMatchObject({ issuer });
});

test('stopping cuts a request that does not end', async () => {
  const server = await started();
  const request = httpRequest(`${server.url}/token`, { method: 'POST' });
  const failed = once(request, 'error');
  request.write('grant_type=');
  await once(request, 'socket');
  await server.stop(50);
  expect((await failed)[0]).toMatchObject({ code: 'ECONNRESET' });
});
