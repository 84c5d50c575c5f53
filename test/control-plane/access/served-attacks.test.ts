// Bad input that concerns tokens, over HTTP: each answer has its status and a sentence, says nothing of the token, and others are
// served meanwhile.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  IdentityProvider,
  type ProviderFailure,
} from '../../support/identity-provider/identity-provider.ts';
import { ServedTokens } from './served-tokens.ts';

const READ_TIMEOUT_MS = 2000;

let provider: IdentityProvider;
let api: ServedTokens;

beforeAll(async () => {
  provider = await IdentityProvider.start();
});
beforeEach(async () => {
  provider.recover();
  api = await ServedTokens.start(provider, { readTimeoutMs: READ_TIMEOUT_MS });
});
afterAll(() => provider.stop());

/** Sends a request as it stands, and returns the answer. */
async function raw(lines: readonly string[]): Promise<{ readonly head: string; body: unknown }> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(api.url).port) });
  await once(socket, 'connect');
  socket.write([...lines, 'Connection: close', '', ''].join('\r\n'));
  const [head, body] = (await text(socket)).split('\r\n\r\n') as [string, string];
  return { head, body: JSON.parse(body) };
}

function base64(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

describe('401 is answered to', () => {
  test('two Authorization headers, even if both are good', async () => {
    const token = await provider.issue({ subject: 'ada' });
    const header = `Authorization: Bearer ${token}`;
    for (const second of [header, 'Authorization: Bearer x', 'authorization: Basic YTpi']) {
      const { head, body } = await raw([
        'GET /auth/whoami HTTP/1.1',
        'Host: api.test',
        header,
        second,
      ]);
      expect(head).toMatch(/^HTTP\/1\.1 401 /);
      expect(head).toMatch(/^www-authenticate: Bearer realm="svc", error="/im);
      expect(body).toEqual({ status: 401, error: expect.any(String) as string });
    }
  });

  test.each(['none', 'None', 'NONE', 'nOnE', 'HS256'])('the algorithm %s', async (alg) => {
    const { kid } = provider.keys[0]!;
    const [, claims] = (await provider.issue({ subject: 'ada' })).split('.');
    const input = `${base64({ alg, kid, typ: 'at+jwt' })}.${claims}`;
    const secret = JSON.stringify(provider.keys[0]);
    const signature =
      alg === 'HS256' ? createHmac('sha256', secret).update(input).digest('base64url') : '';
    expect(await api.statusFor(`${input}.${signature}`)).toBe(401);
  });

  test.each([
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject that is a number', { sub: 7 }],
    ['a subject of 300 characters', { sub: 'a'.repeat(300) }],
    ['another issuer', { iss: 'https://id.example.org' }],
    ['another audience', { aud: 'https://api.example.org' }],
    ['no end', { exp: undefined }],
  ])('a token with %s', async (_what, claims) => {
    const token = await provider.issue({ subject: 'ada', claims });
    const { status, headers, body } = await api.send('GET /auth/whoami', token);
    expect({ status, body }).toEqual({
      status: 401,
      body: { status: 401, error: expect.stringMatching(/^.{10,300}$/) as string },
    });
    expect(headers.get('www-authenticate')).toContain('error="invalid_token"');
  });
});

test('a subject with a bar and a slash is itself, and named percent-encoded in a path', async () => {
  const subject = 'auth0|a/b';
  const owner = await provider.issue({ subject, email: 'ada@example.com', verified: true });
  await api.send('POST /organizations/acme', owner, { name: 'Acme' });
  const role = '/organizations/acme/members/auth0%7Ca%2Fb/role';
  // It is the last owner.
  expect((await api.send(`PUT ${role}`, owner, { role: 'member' })).status).toBe(409);
});

test('headers of 16 KiB are 431, whatever they are', async () => {
  const { head, body } = await raw([
    'GET /auth/whoami HTTP/1.1',
    'Host: api.test',
    `Authorization: Bearer ${'a'.repeat(16 * 1024)}`,
  ]);
  expect(head).toMatch(/^HTTP\/1\.1 431 /);
  expect(body).toMatchObject({ status: 431, error: expect.any(String) as string });
  expect(await api.statusFor('a'.repeat(15 * 1024))).toBe(401);
});

/** A document that is larger than what is read of one. */
const HUGE = `{"keys":[${'0,'.repeat(25 * 1024 * 1024)}0]}`;
const FAILURES: readonly (readonly [string, ProviderFailure])[] = [
  ['hangs', 'hangs'],
  ['resets connections', 'resets'],
  ['answers 500', { status: 500 }],
  ['redirects', { status: 302, location: 'http://127.0.0.1:1/' }],
  ['sends garbage', { status: 200, body: '\0\u{1}{{{' }],
  ['sends HTML', { status: 200, body: '<!doctype html><title>Login</title>' }],
  ['sends 50 MB', { status: 200, body: HUGE }],
  ['is another issuer', { status: 200, body: '{"issuer":"https://id.example.org"}' }],
];

test.each(FAILURES)(
  'a provider that %s makes 503, and no request hangs',
  async (_what, failure) => {
    const token = await provider.issue({ subject: 'ada' });
    provider.fail(failure);
    const { discovery } = provider.reads;
    const asked = Promise.all([1, 2, 3].map(() => api.send('GET /auth/whoami', token)));
    await expect.poll(() => provider.reads.discovery).toBeGreaterThan(discovery);
    await api.clock.advance(READ_TIMEOUT_MS);
    const answers = await asked;
    for (const { status, headers, body } of answers) {
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toBe('5');
      expect(body).toEqual({ status: 503, error: expect.any(String) as string });
    }
    expect((await api.send('GET /auth')).status).toBe(200);
    provider.recover();
    await api.clock.advance(5000);
    expect(await api.statusFor(token)).toBe(200);
  },
);
