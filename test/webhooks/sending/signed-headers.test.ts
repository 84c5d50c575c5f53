// The headers of a delivery: receivers verify them, and placeholders are replaced literally.
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../client/webhooks/verify-webhook.ts';
import { type SignedDelivery, signedHeaders } from '../../../webhooks/sending/signed-headers.ts';

const NOW_MS = Date.parse('2026-02-28T12:30:00.007Z');
const SECRET = 'geheim-ß';
const BODY = Buffer.from('{"id":"evt","name":"Ünï"}');

function headersOf(changed: Partial<SignedDelivery>, path = '/'): Record<string, string> {
  const delivery: SignedDelivery = {
    eventType: 'dataset.completed',
    deliveryId: 'dlv_1',
    body: BODY,
    over: 'body',
    secret: SECRET,
    headers: {},
    ...changed,
  };
  return signedHeaders(delivery, path, NOW_MS);
}

test('a delivery has the headers of the contract', () => {
  const { 'X-Hook-Signature': signature, ...others } = headersOf({});
  expect(others).toEqual({
    'Content-Type': 'application/json',
    'X-Hook-Event': 'dataset.completed',
    'X-Hook-Delivery': 'dlv_1',
    'X-Hook-Timestamp': '2026-02-28T12:30:00.007Z',
  });
  expect(Buffer.from(signature!, 'base64')).toHaveLength(32);
});

test('W12: a receiver verifies the bytes of the body', async () => {
  const headers = headersOf({});
  const verified = { headers, secrets: [SECRET], nowMs: NOW_MS };
  expect(await verifyWebhook({ ...verified, body: BODY })).toEqual({ kind: 'verified' });
  expect(await verifyWebhook({ ...verified, body: BODY.subarray(1) })).toMatchObject({
    kind: 'refused',
  });
  expect(await verifyWebhook({ ...verified, path: '/' })).toMatchObject({ kind: 'refused' });
});

test('a receiver verifies the path of a subscription that signs it', async () => {
  const headers = headersOf({ over: 'path' }, '/a%20b/c');
  const verified = { headers, secrets: [SECRET], nowMs: NOW_MS };
  expect(await verifyWebhook({ ...verified, path: '/a%20b/c?q=1' })).toEqual({ kind: 'verified' });
  expect(await verifyWebhook({ ...verified, path: '/a b/c' })).toMatchObject({ kind: 'refused' });
});

test('during the grace period of a rotation, a receiver with either secret verifies it', async () => {
  const headers = headersOf({ secret: 'new', previousSecret: SECRET });
  for (const secret of ['new', SECRET])
    expect(await verifyWebhook({ headers, secrets: [secret], nowMs: NOW_MS, body: BODY })).toEqual({
      kind: 'verified',
    });
  expect(headersOf({})).not.toHaveProperty('X-Hook-Signature-Previous');
});

test('W13: placeholders are replaced wherever they stand, once, and nothing else is', () => {
  const headers = headersOf({
    headers: {
      Authorization: 'HMAC {hmac_signature}:{hmac_timestamp}:{hmac_signature}',
      'X-Nested': '{{hmac_timestamp}}',
      'X-Replacement': "$& $1 $' {hmac_timestamp} $`",
      'X-Other': '{hmac_secret} {HMAC_SIGNATURE} {hmac_signature',
    },
  });
  const signature = headers['X-Hook-Signature'];
  const timestamp = headers['X-Hook-Timestamp'];
  expect(headers).toMatchObject({
    Authorization: `HMAC ${signature}:${timestamp}:${signature}`,
    'X-Nested': `{${timestamp}}`,
    'X-Replacement': `$& $1 $' ${timestamp} $\``,
    'X-Other': '{hmac_secret} {HMAC_SIGNATURE} {hmac_signature',
  });
});

test('a header of a subscription does not replace one of the delivery', () => {
  const reserved = ['x-hook-event', 'content-type', 'Host', 'CONNECTION', 'Expect', 'Proxy-X'];
  const headers = headersOf({
    headers: Object.fromEntries(reserved.map((name) => [name, 'other'])),
  });
  expect(Object.values(headers)).not.toContain('other');
  expect(headers).toMatchObject({
    'X-Hook-Event': 'dataset.completed',
    'Content-Type': 'application/json',
  });
});
