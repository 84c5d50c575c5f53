// Requests that the page sends as a caller: the console makes the token, for a service of this user that takes development tokens.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AUTH_DEFAULTS } from '../../../tokens/auth-section.ts';
import { DEVELOPMENT_ISSUER, developmentProvider } from '../../../tokens/development-tokens.ts';
import { PrincipalVerifier } from '../../../tokens/principal-verifier.ts';
import type { ListedSockets, SocketReader } from '../../../console/server/socket-tables.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { ConsoleUnderTest } from '../support/console-under-test.ts';
import { anotherUser, listening } from '../support/listed-socket.ts';
import { route, StandInService, type StandInOptions } from '../support/stand-in-service.ts';

const ADA = { subject: 'ada', roles: ['librarian', 'admin'], scopes: ['books:read'] };
const NOBODY = 65_534;
const GUARDED = { ...route('GET', '/'), bearer: true as const };

async function started(options: Partial<StandInOptions> = {}, sockets?: SocketReader) {
  const keyFile = join(temporaryFolder(), 'key.json');
  const served = await ConsoleUnderTest.start({
    developmentKeyFile: () => keyFile,
    ...(sockets && { sockets }),
  });
  const service = await StandInService.start({
    folder: served.folder,
    pid: process.pid,
    described: { developmentTokens: true, routes: [GUARDED] },
    ...options,
  });
  const received = () => service.heard.filter(({ url }) => !url.startsWith('/observability/'));
  return { keyFile, served, service, received };
}

test('a request that is sent as somebody has a token that says so, and the page gets none', async () => {
  const { keyFile, served, service, received } = await started();
  const got = await served.call(service.instanceId, { path: '/', sendAs: ADA });
  expect(got.json).toMatchObject({ status: 200 });
  const [{ headers }] = received() as [ReturnType<typeof received>[0]];
  const provider = developmentProvider(keyFile);
  const verifier = new PrincipalVerifier({
    issuers: [DEVELOPMENT_ISSUER],
    section: AUTH_DEFAULTS,
    log: () => {},
    fetchOf: () => provider,
  });
  expect(await verifier.verify([headers.authorization!])).toMatchObject({
    kind: 'known',
    caller: ADA,
  });
  expect(got.text).not.toContain(headers.authorization!.slice('Bearer '.length));
  const claims = JSON.parse(
    Buffer.from(headers.authorization!.split('.')[1]!, 'base64url').toString(),
  ) as { readonly iat: number; readonly exp: number };
  expect(claims.exp - claims.iat).toBe(60);
});

test('no token is made for a service at whose address nobody listens any more', async () => {
  const { keyFile, served, service } = await started({
    described: {
      developmentTokens: true,
      routes: [GUARDED],
      instances: [{ address: 'http://127.0.0.1:1', shards: 1 }],
    },
  });
  const got = await served.call(service.instanceId, { path: '/', sendAs: ADA });
  expect(got.status).toBe(409);
  expect(got.json).toMatchObject({
    error: expect.stringMatching(/^Nobody listens.*Nothing was sent to it/) as string,
  });
  expect(existsSync(keyFile)).toBe(false);
});

/** Starts a console for which the system lists the sockets of `listed`. `read`: number of the read; the first is for the page's connection. */
async function withSockets(
  listed: (service: StandInService, read: number) => ListedSockets,
  options: Partial<StandInOptions> = {},
) {
  let reads = 0;
  const made = await started(options, async () => listed(made.service, ++reads));
  const send = async () => {
    const got = await made.served.call(made.service.instanceId, { path: '/', sendAs: ADA });
    const { error } = got.json as { readonly error?: string };
    return { status: got.status, error, reads };
  };
  return { ...made, send };
}

function addresses(service: StandInService): readonly [introspection: string, http: string] {
  return [service.observabilityAddress, service.description().instances[0]!.address!];
}

test.each([
  ['introspection', 0],
  ['HTTP', 1],
])(
  'no token is made for a service at whose address of %s another user listens',
  async (_of, at) => {
    const { keyFile, received, send } = await withSockets((service) => [
      ...addresses(service).map((address) => listening(address)),
      listening(addresses(service)[at]!, anotherUser()),
    ]);
    const { status, error } = await send();
    expect(status).toBe(409);
    expect(error).toMatch(/^Another user of this machine listens.*Nothing was sent to it/);
    expect(received()).toEqual([]);
    expect(existsSync(keyFile)).toBe(false);
  },
);

test('a service that listens again after a moment gets its token', async () => {
  // Each address is looked up three times before the pause.
  const { received, send } = await withSockets((service, read) => {
    const [introspection, http] = addresses(service).map((address) => listening(address));
    return read < 6 ? [introspection!] : [introspection!, http!];
  });
  expect(await send()).toEqual({ status: 200, error: undefined, reads: 6 });
  expect(received()).toHaveLength(1);
});

test('before a second attempt the console looks again who listens', async () => {
  const { send } = await withSockets(
    (service, read) => {
      const [introspection, http] = addresses(service);
      return [listening(introspection), listening(http, read < 4 ? undefined : anotherUser())];
    },
    {
      described: {
        developmentTokens: true,
        routes: [GUARDED],
        instances: [{ address: 'http://127.0.0.1:1', shards: 1 }],
      },
    },
  );
  const { status, error, reads } = await send();
  expect([status, reads]).toEqual([409, 4]);
  expect(error).toMatch(/^Another user of this machine listens/);
});

test('no token is made if nobody can read who listens, and no user is accused', async () => {
  const { keyFile, received, send } = await withSockets((_service, read) =>
    read === 1 ? [] : 'unreadable',
  );
  const { status, error, reads } = await send();
  expect([status, reads]).toEqual([409, 4]);
  expect(error).toMatch(/^The console cannot read which user listens.*Nothing was sent to it/);
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
});

test('no token is made if nobody can read who asks', async () => {
  const { keyFile, received, send } = await withSockets(() => 'unreadable');
  const { status, error, reads } = await send();
  expect([status, reads]).toEqual([503, 3]);
  expect(error).toContain('cannot read which user has asked');
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
});

test('a request without a caller has no token', async () => {
  const { keyFile, served, service, received } = await started();
  await served.call(service.instanceId, { path: '/' });
  expect(received()).toHaveLength(1);
  expect(received()[0]!.headers).not.toHaveProperty('authorization');
  expect(existsSync(keyFile)).toBe(false);
});

test.each([
  ['takes no development tokens', { described: {} }],
  ['is no running process of this user', { pid: 2 ** 30 }],
])('no token is made for a service that %s', async (_what, options) => {
  const { keyFile, served, service, received } = await started(options);
  const got = await served.call(service.instanceId, { path: '/', sendAs: ADA });
  expect(got.status).toBe(409);
  expect(got.json).toMatchObject({ error: expect.stringContaining('Nothing was sent') as string });
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
});

test('no token is made for a path that a route without a rule may take', async () => {
  const routes = [{ ...GUARDED, path: '/books/{id}' }, route('GET', '/books/me')];
  const { keyFile, served, service, received } = await started({
    described: { developmentTokens: true, routes },
  });
  const got = await served.call(service.instanceId, { path: '/books/me', sendAs: ADA });
  expect(got.status).toBe(409);
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
  const other = await served.call(service.instanceId, { path: '/books/1', sendAs: ADA });
  expect(other.json).toMatchObject({ status: 200 });
});

test('a token goes to declared routes alone', async () => {
  const { keyFile, served, service, received } = await started();
  const got = await served.call(service.instanceId, { path: '/other', sendAs: ADA });
  expect(got.status).toBe(404);
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
});

test.each([
  ['no object', 'ada'],
  ['null', null],
  ['no subject', { ...ADA, subject: '' }],
  ['a control character', { ...ADA, subject: 'a\u0000' }],
  ['a lone surrogate', { ...ADA, subject: '\ud800' }],
  ['a long subject', { ...ADA, subject: 'a'.repeat(256) }],
  ['roles as a text', { ...ADA, roles: 'admin' }],
  ['a role with a blank', { ...ADA, roles: ['a b'] }],
  ['a scope that is a number', { ...ADA, scopes: [1] }],
  ['too many roles', { ...ADA, roles: Array.from({ length: 33 }, (_, at) => `r${at}`) }],
])('a caller that cannot be is refused: %s', async (_what, sendAs) => {
  const { served, service, received } = await started();
  const got = await served.call(service.instanceId, { path: '/', sendAs });
  expect(got.status).toBe(400);
  expect(received()).toEqual([]);
});

test('a request has either a typed authorization or a caller', async () => {
  const { served, service, received } = await started();
  const headers = [['Authorization', 'Bearer x']];
  const got = await served.call(service.instanceId, { path: '/', headers, sendAs: ADA });
  expect(got.status).toBe(400);
  expect(received()).toEqual([]);
});

test('a key that cannot be used is named, and nothing is sent', async () => {
  const served = await ConsoleUnderTest.start({ developmentKeyFile: () => '/dev/null/key.json' });
  const service = await StandInService.start({
    folder: served.folder,
    pid: process.pid,
    described: { developmentTokens: true, routes: [GUARDED] },
  });
  const got = await served.call(service.instanceId, { path: '/', sendAs: ADA });
  expect(got.status).toBe(409);
  expect(got.json).toMatchObject({
    error: expect.stringMatching(/key of development tokens.*Nothing was sent/) as string,
  });
  expect(served.bugs).toEqual([]);
});

test('another page can have no token made', async () => {
  const { keyFile, served, service, received } = await started();
  for (const headers of [{ origin: 'https://example.com' }, { 'x-svc-console': '' }])
    expect(
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await served.call(service.instanceId, { path: '/', sendAs: ADA }, headers),
    ).toMatchObject({ status: 403 });
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
});

test('another user of the machine can have no token made', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux lists connections with their users');
  skip(process.getuid!() !== 0, 'only root can start a program as another user');
  const { keyFile, served, service, received } = await started();
  const call = { method: 'GET', path: '/', headers: [], body: null, bodyIsBase64: false };
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-console': '1' },
    body: JSON.stringify({ ...call, sendAs: ADA }),
  };
  const url = `${served.url}/api/services/${service.instanceId}/call`;
  const program = `process.setgid(${NOBODY}); process.setuid(${NOBODY});
    fetch('${url}', ${JSON.stringify(init)}).then((answer) => process.stdout.write(String(answer.status)))`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  let status = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (status += text));
  await once(child, 'close');
  expect(status).toBe('403');
  expect(received()).toEqual([]);
  expect(existsSync(keyFile)).toBe(false);
});
