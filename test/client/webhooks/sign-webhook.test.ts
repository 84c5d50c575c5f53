// signWebhook: the same signatures as the vectors, which verifiers of every language take.
import { expect, test } from 'vitest';
import { signWebhook, verifyWebhook } from '../../../client/index.ts';
import { contentOf, WEBHOOK_VECTORS } from '../../support/webhook-vectors.ts';

const signed = WEBHOOK_VECTORS.filter(
  ({ outcome, headers, secrets, path }) =>
    outcome === 'verified' && path === undefined && secrets.length === 1 && headers.length === 2,
);

test('it signs bodies as the vectors are signed', async () => {
  expect(signed.length).toBeGreaterThan(3);
  for (const vector of signed) {
    const headers = Object.fromEntries(
      vector.headers.map(([name, value]) => [name.toLowerCase(), value]),
    );
    const body = new Uint8Array(contentOf(vector));
    const nowMs = Date.parse(headers['x-hook-timestamp']!);
    const made = await signWebhook({ secret: vector.secrets[0]!, body, nowMs });
    expect(made['X-Hook-Signature']).toBe(headers['x-hook-signature']);
    expect(made['X-Hook-Timestamp']).toBe(headers['x-hook-timestamp']);
  }
});

test('the example of docs/how-to/receiving-webhooks.md signs what a receiver verifies', async () => {
  const secret = 'a secret';
  const body = new TextEncoder().encode('{"id":"evt_1","type":"dataset.completed"}');
  const headers = await signWebhook({ secret, body });
  const verified = await verifyWebhook({ headers, body, secrets: [secret] });
  expect(verified).toEqual({ kind: 'verified' });
});

test('a signed path is verified without its query, and by its secret alone', async () => {
  const headers = await signWebhook({ secret: 'a', path: '/hooks?x=1' });
  const verified = await verifyWebhook({ headers, path: '/hooks?y=2', secrets: ['a'] });
  expect(verified).toEqual({ kind: 'verified' });
  const refused = await verifyWebhook({ headers, path: '/hooks', secrets: ['b'] });
  expect(refused).toMatchObject({ reason: 'wrong-signature' });
});

test('an empty secret, with which anybody could sign, is a mistake', async () => {
  await expect(signWebhook({ secret: '', path: '/' })).rejects.toThrow(TypeError);
});
