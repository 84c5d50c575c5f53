// Webhooks in a module: HMAC-SHA256 against Node's, and the vectors that all receivers share.
import { createHmac, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { testEndpoints, testModule } from '@svc/guest-sdk/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileFixture, compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';
import { WEBHOOK_VECTORS, type WebhookVector, contentOf } from '../support/webhook-vectors.ts';

const FIXTURE = 'webhook-receiver';
const [BODY, PATH, HMAC] = [0, 2, 3];
const UNAUTHENTICATED = 1;
const NOW = '2026-02-28T12:30:00.000Z';
const SECRET = 'one-secret-of-the-tests';

let nowMs = 0n;
let guest: CoreGuest;

beforeAll(async () => {
  const module = new WebAssembly.Module(await compileFixtureCore(FIXTURE));
  guest = new CoreGuest(module, { nowMs: () => nowMs });
});

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Returns the HMAC that the module computes. */
function hmacOf(key: Uint8Array, message: Uint8Array): string {
  const body = { bytes: Buffer.concat([key, message]) };
  const result = guest.handle({ route: HMAC, query: `keyBytes=${key.length}`, body });
  if (!('ok' in result)) throw new Error(result.refused.message);
  return result.ok.body.content;
}

const ofNode = (key: Uint8Array, message: Uint8Array): string =>
  createHmac('sha256', key).update(message).digest('hex');

describe('HMAC-SHA256', () => {
  test.each([
    [
      hex('0b'.repeat(20)),
      'Hi There',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      hex('aa'.repeat(20)),
      hex('dd'.repeat(50)),
      '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
    ],
    [
      hex('0102030405060708090a0b0c0d0e0f10111213141516171819'),
      hex('cd'.repeat(50)),
      '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    ],
    [hex('0c'.repeat(20)), 'Test With Truncation', 'a3b6167473100ee06e0c796c2955552b'],
    [
      hex('aa'.repeat(131)),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
    [
      hex('aa'.repeat(131)),
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
      '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
    ],
  ])('is that of RFC 4231 (case %#)', (key, message, digest) => {
    expect(hmacOf(key, Buffer.from(message as string)).slice(0, digest.length)).toBe(digest);
  });

  test('is that of Node for each length of two blocks and more, and keys of every kind', () => {
    for (const keyBytes of [1, 31, 32, 33, 63, 64, 65, 128, 200])
      for (let length = 0; length <= 200; length++) {
        const [key, message] = [randomBytes(keyBytes), randomBytes(length)];
        expect({ keyBytes, length, digest: hmacOf(key, message) }).toEqual({
          keyBytes,
          length,
          digest: ofNode(key, message),
        });
      }
  });

  test('is that of Node for long messages', () => {
    for (const length of [4095, 65_536, 1_000_001]) {
      const [key, message] = [randomBytes(32), randomBytes(length)];
      expect(hmacOf(key, message)).toBe(ofNode(key, message));
    }
  });
});

/** Returns `verified` or the reason of the refusal. */
function outcomeOf(vector: WebhookVector): string {
  nowMs = BigInt(Date.parse(vector.now));
  const query = vector.secrets.map((secret) => `secrets=${encodeURIComponent(secret)}`).join('&');
  const headers = vector.headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  const { path } = vector;
  const result =
    path === undefined
      ? guest.handle({ route: BODY, query, headers, body: { bytes: contentOf(vector) } })
      : guest.handle({ route: PATH, query: `${query}&path=${encodeURIComponent(path)}`, headers });
  if ('ok' in result) return 'verified';
  expect(result.refused.code).toBe(UNAUTHENTICATED);
  return (JSON.parse(result.refused.details!) as { reason: string }).reason;
}

describe('the shared vectors', () => {
  test.each(WEBHOOK_VECTORS)('$name: $outcome', (vector) => {
    expect(outcomeOf(vector)).toBe(vector.outcome);
  });
});

test('no header of a stranger aborts the module, or is verified', () => {
  const values = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary-ascii', maxLength: 200 }),
    fc.constantFrom('', ',', NOW, ` ${NOW}`, `${'A'.repeat(43)}=`),
  );
  const names = fc.constantFrom(
    'x-hook-signature',
    'x-hook-signature-previous',
    'x-hook-timestamp',
    'x-other',
  );
  nowMs = BigInt(Date.parse(NOW));
  fc.assert(
    fc.property(fc.array(fc.tuple(names, values)), fc.uint8Array(), (headers, bytes) => {
      const query = `secrets=${SECRET}`;
      expect(guest.handle({ route: BODY, query, headers, body: { bytes } })).toMatchObject({
        refused: { code: UNAUTHENTICATED },
      });
    }),
    { numRuns: 500 },
  );
});

const sign = (body: Uint8Array | string, timestamp = NOW): Record<string, string> => ({
  'content-type': 'application/json',
  'x-hook-timestamp': timestamp,
  'x-hook-signature': createHmac('sha256', SECRET)
    .update(`${timestamp}.`)
    .update(body)
    .digest('base64'),
});
const endpoints = async () =>
  testEndpoints(await testModule(await compileFixture(FIXTURE)), { nowMs: NOW });
const target = (name: string) => `/hooks/${name}?secrets=${SECRET}`;

describe('in the runtime', () => {
  test('a verified body is read as JSON, whatever its media type is', async () => {
    const api = await endpoints();
    const body = Buffer.from('{"id":"Übung","unknown":1}');
    const answer = await api.post(target('json'), body, { headers: sign(body) });
    expect(answer.json).toEqual({ id: 'Übung' });
    const other = Buffer.from('{"id":5}');
    const refused = await api.post(target('json'), other, { headers: sign(other) });
    expect(refused.json).toMatchObject({
      status: 400,
      error: expect.stringMatching(/^id: /),
    });
  });

  test('another body is 401 with the reason', async () => {
    const api = await endpoints();
    const body = Buffer.from('{}');
    const answer = await api.post(target('body'), body, { headers: sign('{ }') });
    expect(answer.status).toBe(401);
    expect(answer.json).toMatchObject({
      error: 'no secret gives the x-hook-signature of the request',
      details: { reason: 'wrong-signature' },
    });
  });

  test('the largest body that the runtime takes is verified within the fuel of a handler', async () => {
    const api = await endpoints();
    const body = Buffer.alloc(1_048_576, 'a');
    const answer = await api.post(target('body'), body, { headers: sign(body) });
    expect([answer.status, answer.text.length]).toEqual([200, body.length]);
  });

  test.each(['', '&secrets='])('a module without a secret fails (%j)', async (given) => {
    const api = await endpoints();
    const body = Buffer.from('{}');
    const path = given === '' ? '/hooks/body' : `${target('body')}${given}`;
    const answer = await api.post(path, body, { headers: sign(body) });
    expect(answer.status).toBe(500);
  });
});
