// `svc run` with a module that asks for access tokens: a certified identity provider issues them, and the runtime verifies them before
// a handler runs.
import { writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { compileFixture } from '../support/compile-fixture.ts';
import { SvcProcess } from '../support/host-process.ts';
import { IdentityProvider } from '../support/identity-provider/identity-provider.ts';
import { temporaryFoldersOfFile } from '../support/temporary-folder.ts';

const newFolder = temporaryFoldersOfFile();

let provider: IdentityProvider;
let other: IdentityProvider;
let module: string;
let service: SvcProcess;
let url: string;
let dataFolder: string | undefined;

beforeAll(async () => {
  provider = await IdentityProvider.start();
  other = await IdentityProvider.start({ alg: 'RS256' });
  module = join(newFolder(), 'bearer.wasm');
  writeFileSync(module, await compileFixture('bearer'));
  service = run(
    `svc.auth.issuer=${provider.issuer},${other.issuer}`,
    `svc.auth.audience=${provider.audience}`,
  );
  url = await service.listening();
});
afterAll(async () => {
  service.child.kill('SIGTERM');
  await Promise.all([service.ended, provider.stop(), other.stop()]);
});

function run(...settings: readonly string[]): SvcProcess {
  const set = settings.flatMap((setting) => ['--set', setting]);
  const data = newFolder();
  dataFolder ??= data;
  return new SvcProcess(['run', module, '--port', '0', '--data', data, '--shards', '2', ...set]);
}

async function send(
  request: string,
  token?: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
) {
  const [method = '', path = ''] = request.split(' ');
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const content = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: answer.status,
    challenge: answer.headers.get('www-authenticate'),
    body: (isJson ? JSON.parse(content) : content) as Record<string, unknown>,
  };
}

const roles = (...names: readonly string[]) => ({ claims: { realm_access: { roles: names } } });

test('a handler sees who calls, and no token', async () => {
  const token = await provider.issue({
    subject: 'ada',
    email: 'ada@example.com',
    verified: true,
    claims: { name: 'Ada', scope: 'books:read  books:write', tenant: 'acme' },
  });
  const { status, body } = await send('GET /books/me', token);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    subject: 'ada',
    issuer: provider.issuer,
    name: 'Ada',
    email: 'ada@example.com',
    scopes: ['books:read', 'books:write'],
    tokens: ['x-svc-principal'],
    caller: 'local',
  });
  expect(JSON.parse(body['claims'] as string)).toMatchObject({ sub: 'ada', tenant: 'acme' });
});

test('tokens of each issuer that is named count, and its subjects are its own', async () => {
  const token = await other.issue({ subject: 'ada' });
  expect((await send('GET /books/me', token)).body).toMatchObject({ issuer: other.issuer });
  // A key of one issuer makes no token of another.
  const forged = await other.issue({ subject: 'ada', claims: { iss: provider.issuer } });
  expect((await send('GET /books/me', forged)).status).toBe(401);
});

describe('a request is answered', () => {
  test('401 without a token, also on the own machine', async () => {
    expect(await send('GET /books/me')).toEqual({
      status: 401,
      challenge: 'Bearer realm="svc"',
      body: { status: 401, error: expect.stringContaining('no access token') as string },
    });
  });

  test('401 with the reason for a bad token, and without a byte of it', async () => {
    const token = await provider.issue({ subject: 'ada', lifetimeS: -60 });
    const { status, challenge, body } = await send('GET /books/me', token);
    expect({ status, challenge }).toEqual({
      status: 401,
      challenge: expect.stringContaining('error="invalid_token"') as string,
    });
    expect(body['error']).toContain('expired');
  });

  test('404 and 405 first, and 403 by the access rule before a token is looked at', async () => {
    expect((await send('GET /books')).status).toBe(404);
    expect((await send('DELETE /books/me')).status).toBe(405);
  });

  test('403 without one of the roles, or all of them, or the scopes', async () => {
    const reader = await provider.issue({ subject: 'ada', ...roles('reader') });
    expect(await send('GET /books/shelves', reader)).toMatchObject({
      status: 403,
      body: { error: 'The caller needs one of the roles librarian, admin.' },
    });
    const librarian = await provider.issue({ subject: 'bob', ...roles('librarian') });
    expect((await send('GET /books/shelves', librarian)).status).toBe(200);
    expect(
      (await send('PUT /books/a', librarian, { 'content-type': 'text/plain' }, 'x')).body,
    ).toEqual({
      status: 403,
      error: 'The caller needs all of the roles librarian, admin.',
    });
    const both = { realm_access: { roles: ['librarian', 'admin'] } };
    const unscoped = await provider.issue({
      subject: 'eve',
      claims: { ...both, scope: 'books:read' },
    });
    expect(
      await send('PUT /books/a', unscoped, { 'content-type': 'text/plain' }, 'x'),
    ).toMatchObject({
      status: 403,
      challenge: expect.stringContaining(
        'error="insufficient_scope", scope="books:read books:write"',
      ) as string,
    });
    const scoped = await provider.issue({
      subject: 'eve',
      claims: { ...both, scope: ['books:write', 'books:read'] },
    });
    expect(await send('PUT /books/a', scoped, { 'content-type': 'text/plain' }, 'x')).toMatchObject(
      {
        status: 200,
        body: 'x',
      },
    );
  });
});

test('no request brings a principal, by any spelling of the header', async () => {
  const forged = JSON.stringify({ subject: 'root', roles: ['admin'] });
  const names = ['x-svc-principal', 'X-Svc-Principal', 'X-SVC-PRINCIPAL'];
  const { hostname, port } = new URL(url);
  for (const name of names) {
    const { body } = await send('GET /catalogue', undefined, { [name]: forged });
    expect(body).toMatchObject({ subject: '', tokens: [] });
  }
  const token = await provider.issue({ subject: 'ada' });
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.write(
    [
      'GET /books/me HTTP/1.1',
      'Host: books.test',
      `X-Svc-Principal: ${forged}`,
      `Authorization: Bearer ${token}`,
      `x-svc-principal: ${forged}`,
      'Connection: close, x-svc-principal, authorization',
      '',
      '',
    ].join('\r\n'),
  );
  const answer = await text(socket);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toContain('"subject":"ada"');
  expect(answer).toContain('"tokens":["x-svc-principal"]');
});

test('the token is for the handler that declares that it forwards it', async () => {
  const token = await provider.issue({ subject: 'ada', claims: { scope: 'books:read' } });
  expect((await send('GET /books/forwarded', token)).body).toMatchObject({
    tokens: ['authorization', 'x-svc-principal'],
  });
  // Where no rule asks for a token, the header is the handler's own business.
  expect((await send('GET /catalogue', 'key-of-the-module')).body).toMatchObject({
    tokens: ['authorization'],
    subject: '',
  });
});

async function lend(token: string): Promise<unknown> {
  const { body } = await send('POST /books/dune/loans', token, { 'idempotency-key': 'k1' });
  return body['count'];
}

test('an idempotency key belongs to its principal', async () => {
  const ada = await provider.issue({ subject: 'ada' });
  const adaAgain = await provider.issue({ subject: 'ada', lifetimeS: 600 });
  const adaOfOther = await other.issue({ subject: 'ada' });
  const bob = await provider.issue({ subject: 'bob' });
  expect([await lend(ada), await lend(bob), await lend(adaOfOther), await lend(adaAgain)]).toEqual([
    1, 2, 3, 1,
  ]);
});

function authorsOf(id: string): unknown[] {
  const journal = new DatabaseSync(join(dataFolder!, 'journal.sqlite'), { readOnly: true });
  const rows = journal
    .prepare('SELECT by FROM journal JOIN entity USING (eno) WHERE id = ? ORDER BY pos')
    .all(id);
  journal.close();
  return rows.map(({ by }) => by);
}

test('the journal keeps who has sent a command, whichever shard has done it', async () => {
  const token = await provider.issue({ subject: 'ada "l"' });
  const ofOther = await other.issue({ subject: 'ada "l"' });
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
    for (const one of [token, ofOther])
      expect((await send(`POST /books/${id}/loans`, one)).status).toBe(200);
    expect(authorsOf(id)).toEqual(
      [provider, other].map(({ issuer }) => JSON.stringify([issuer, 'ada "l"'])),
    );
  }
});

test('an author that a module gives itself is dropped, with a token and without', async () => {
  const token = await provider.issue({ subject: 'ada' });
  const ada = JSON.stringify([provider.issuer, 'ada']);
  for (const id of ['forged-a', 'forged-b', 'forged-c', 'forged-d']) {
    expect(await send(`POST /books/${id}/forged-loans`, token)).toMatchObject({ body: ada });
    expect(await send(`POST /catalogue/${id}/forged-loans`)).toMatchObject({ body: '' });
    expect(authorsOf(id)).toEqual([ada, null]);
  }
  const headers = { 'x-svc-by': '["https://login.example.com","root"]' };
  await send('POST /catalogue/by-header/forged-loans', undefined, headers);
  expect(authorsOf('by-header')).toEqual([null]);
});

test('claims of an attacker are text: names of JavaScript, half characters, numbers beyond all', async () => {
  const rest = Array.from({ length: 1_000 }, (_, at) => `r${at}`);
  const claims = {
    name: '\u001B[31mroot',
    email: 'mallory@example.com',
    email_verified: false,
    realm_access: { roles: [...rest, '\uD800', 7, null, { admin: true }, '__proto__'] },
    ['__proto__x']: 1,
    big: 1e300,
  };
  const token = await provider.issue({ subject: 'mallory', claims });
  const { status, body } = await send('GET /books/me', token);
  expect(status).toBe(200);
  expect(body).toMatchObject({ subject: 'mallory', name: null, email: null });
  expect(body['roles']).toEqual([...rest, '__proto__']);
  const many = Array.from({ length: 10_000 }, (_, at) => `r${at}`);
  const long = await provider.issue({ subject: 'mallory', ...roles(...many) });
  expect((await send('GET /books/me', long)).status).toBe(431);
});

test('while keys cannot be read a token is 503, and those that were read stay good', async () => {
  const away = await IdentityProvider.start();
  away.failures.set('discovery', 'resets');
  const lonely = run(`svc.auth.issuer=${away.issuer}`, `svc.auth.audience=${away.audience}`);
  onTestFinished(async () => {
    lonely.child.kill('SIGTERM');
    await lonely.ended;
  });
  const lonelyUrl = await lonely.listening();
  const get = (token: string) =>
    fetch(`${lonelyUrl}/books/me`, { headers: { authorization: `Bearer ${token}` } });
  const ada = await away.issue({ subject: 'ada' });
  const bob = await away.issue({ subject: 'bob' });
  const answer = await get(ada);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  await lonely.logged(/warn.*keys of the identity provider cannot be read/);
  away.recover();
  await vi.waitFor(async () => expect((await get(ada)).status).toBe(200), { timeout: 10_000 });
  await away.stop();
  expect((await get(bob)).status).toBe(200);
});

test('a module that asks for tokens is not served while nobody says whose tokens count', async () => {
  const { code, stderr } = await run().ended;
  expect(code).toBe(1);
  expect(stderr).toContain('SVC_SETTING_INVALID');
  expect(stderr).toContain("'BooksEndpoint' asks callers for an access token");
  expect(stderr).toContain('svc.auth.issuer');
});
