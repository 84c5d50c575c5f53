// verifyWebhook: the shared vectors, in the headers of each kind of server; and mistakes of its caller.
import { createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  WEBHOOK_REFUSAL_REASONS,
  WEBHOOK_TOLERANCE_MS,
  type WebhookHeaders,
  type WebhookVerification,
  verifyWebhook,
} from '../../../client/index.ts';
import { contentOf, WEBHOOK_VECTORS } from '../../support/webhook-vectors.ts';

const SECRET = 'one-secret-of-the-tests';
const NOW_MS = Date.parse('2026-02-28T12:30:00.000Z');
const BODY = Buffer.from('{"id":"evt_01"}');

const sign = (timestamp: string, content: Uint8Array | string, secret = SECRET): string =>
  createHmac('sha256', secret).update(`${timestamp}.`).update(content).digest('base64');

function signedHeaders(nowMs = NOW_MS, content: Uint8Array | string = BODY) {
  const timestamp = new Date(nowMs).toISOString();
  return { 'x-hook-timestamp': timestamp, 'x-hook-signature': sign(timestamp, content) };
}

const outcomeOf = (found: WebhookVerification) =>
  found.kind === 'verified' ? found.kind : found.reason;

/** The headers as servers have them; Node 20 joins repeated ones, and keeps them in `headersDistinct`. */
const FORMS: Readonly<
  Record<string, (pairs: readonly (readonly [string, string])[]) => WebhookHeaders>
> = {
  pairs: (pairs) => pairs,
  'Headers of fetch': (pairs) => new Headers(pairs.map(([name, value]) => [name, value])),
  'headers of Node': (pairs) =>
    Object.fromEntries(
      Object.entries(Object.groupBy(pairs, ([name]) => name.toLowerCase())).map(([name, given]) => [
        name,
        given!.map(([, value]) => value).join(', '),
      ]),
    ),
  'headersDistinct of Node': (pairs) =>
    Object.fromEntries(
      Object.entries(Object.groupBy(pairs, ([name]) => name.toLowerCase())).map(([name, given]) => [
        name,
        given!.map(([, value]) => value),
      ]),
    ),
};

describe.each(Object.keys(FORMS))('with %s', (form) => {
  test.each(WEBHOOK_VECTORS)('$name: $outcome', async (vector) => {
    const { secrets, now, headers, outcome, path } = vector;
    const content = path === undefined ? { body: contentOf(vector) } : { path };
    const request = { headers: FORMS[form]!(headers), secrets, nowMs: Date.parse(now), ...content };
    expect(outcomeOf(await verifyWebhook(request))).toBe(outcome);
  });
});

test('the vectors have each outcome', () => {
  const outcomes = new Set(WEBHOOK_VECTORS.map(({ outcome }) => outcome));
  expect([...outcomes].toSorted()).toEqual(['verified', ...WEBHOOK_REFUSAL_REASONS].toSorted());
});

describe('the body', () => {
  test('may be of any length and content', async () => {
    for (const length of [0, 1, 63, 64, 65, 1_000_000]) {
      const body = randomBytes(length);
      const request = { headers: signedHeaders(NOW_MS, body), secrets: [SECRET], nowMs: NOW_MS };
      expect(await verifyWebhook({ ...request, body })).toEqual({ kind: 'verified' });
      const other = Buffer.concat([body, Buffer.of(0)]);
      expect(await verifyWebhook({ ...request, body: other })).toMatchObject({
        reason: 'wrong-signature',
      });
    }
  });

  test('may be a part of a buffer, or an ArrayBuffer', async () => {
    const request = { headers: signedHeaders(), secrets: [SECRET], nowMs: NOW_MS };
    const part = Buffer.concat([Buffer.from('before'), BODY, Buffer.from('after')]).subarray(
      6,
      6 + BODY.length,
    );
    expect(await verifyWebhook({ ...request, body: part })).toEqual({ kind: 'verified' });
    const whole = Uint8Array.from(BODY).buffer;
    expect(await verifyWebhook({ ...request, body: whole })).toEqual({ kind: 'verified' });
  });

  test('is copied before anything is awaited', async () => {
    const body = Buffer.from(BODY);
    const request = { headers: signedHeaders(), secrets: [SECRET, SECRET], nowMs: NOW_MS, body };
    const found = verifyWebhook(request);
    body.fill(0);
    expect(await found).toEqual({ kind: 'verified' });
  });
});

test('the time is that of the clock unless it is given', async () => {
  const request = { secrets: [SECRET], body: BODY };
  const headers = signedHeaders(Date.now());
  expect(await verifyWebhook({ ...request, headers })).toEqual({ kind: 'verified' });
  const old = signedHeaders(Date.now() - WEBHOOK_TOLERANCE_MS - 60_000);
  expect(await verifyWebhook({ ...request, headers: old })).toMatchObject({
    reason: 'stale-timestamp',
  });
});

test('the tolerance is what the receiver says', async () => {
  const request = { headers: signedHeaders(), secrets: [SECRET], body: BODY, toleranceMs: 1000 };
  expect(await verifyWebhook({ ...request, nowMs: NOW_MS + 1000 })).toEqual({ kind: 'verified' });
  expect(await verifyWebhook({ ...request, nowMs: NOW_MS - 1001 })).toMatchObject({
    reason: 'stale-timestamp',
    message: 'X-Hook-Timestamp is more than 1 s from the present time',
  });
});

test('a request is verified in a server of Node, by its body or its target', async () => {
  const found: WebhookVerification[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const { headers, url: path = '' } = request;
      const secrets = [SECRET];
      found.push(await verifyWebhook({ headers, secrets, body }));
      found.push(await verifyWebhook({ headers, secrets, path }));
      response.end();
    })();
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/h%C3%BCtte?x=1`;
  const nowMs = Date.now();
  const post = (headers: Record<string, string>) =>
    fetch(url, { method: 'POST', headers: { ...headers, connection: 'close' }, body: BODY });
  await post(signedHeaders(nowMs));
  await post(signedHeaders(nowMs, '/h%C3%BCtte'));
  const refused = expect.objectContaining({ reason: 'wrong-signature' });
  expect(found).toEqual([{ kind: 'verified' }, refused, refused, { kind: 'verified' }]);
});

describe('a stranger', () => {
  test('cannot make it throw, nor get anything verified', async () => {
    const values = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', ',', new Date(NOW_MS).toISOString(), `${'A'.repeat(43)}=`, '\ud800'),
    );
    const names = fc.constantFrom(
      'x-hook-signature',
      'X-HOOK-SIGNATURE',
      'x-hook-signature-previous',
      'x-hook-timestamp',
      '__proto__',
      'constructor',
      'get',
    );
    const headers = fc
      .array(fc.tuple(names, fc.oneof(values, fc.array(values))))
      .map((pairs) => Object.fromEntries(pairs));
    await fc.assert(
      fc.asyncProperty(headers, fc.uint8Array(), async (given, body) => {
        const found = await verifyWebhook({
          headers: given,
          secrets: [SECRET],
          body,
          nowMs: NOW_MS,
        });
        expect(found.kind).toBe('refused');
      }),
      { numRuns: 500 },
    );
  });
});

describe('its caller', () => {
  const request = { headers: signedHeaders(), secrets: [SECRET], nowMs: NOW_MS };
  const verify = (mistake: object) => verifyWebhook({ ...request, body: BODY, ...mistake });

  test.each([
    ['no secret', []],
    ['an empty secret', [SECRET, '']],
    ['a secret that is not in a list', SECRET],
    ['a secret that is not set', [undefined]],
    ['no list', undefined],
  ])('that gives %s learns it, whatever the request is', async (_, secrets) => {
    await expect(verify({ secrets, headers: {} })).rejects.toThrow(/needs the secrets/);
  });

  test.each([
    ['parsed JSON', { id: 'evt_01' }],
    ['text', BODY.toString()],
    ['null', null],
    ['a list of bytes', [...BODY]],
  ])('that gives %s as the body learns what to give', async (_, body) => {
    await expect(verify({ body })).rejects.toThrow(/not bytes: .* as it arrived/);
  });

  test.each([
    ['neither body nor path', { body: undefined }, /a body, or the path/],
    ['both', { path: '/' }, /a body, or the path/],
    ['a path that is not text', { body: undefined, path: new URL('http://a/') }, /path is not/],
    ['a time that is not a number', { nowMs: Number.NaN }, /nowMs/],
    ['a tolerance without an end', { toleranceMs: Number.POSITIVE_INFINITY }, /toleranceMs/],
    ['a negative tolerance', { toleranceMs: -1 }, /toleranceMs/],
  ])('that gives %s learns it', async (_, mistake, message) => {
    await expect(verify(mistake)).rejects.toThrow(message);
    await expect(verify(mistake)).rejects.toBeInstanceOf(TypeError);
  });
});
