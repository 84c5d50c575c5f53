// signWebhook: signs a delivery as the webhook service does, for tests of receivers.
import { hmacKey, signedText, type SignedPart } from './verify-webhook.ts';
import { WEBHOOK_SIGNATURE_HEADER, WEBHOOK_TIMESTAMP_HEADER } from './webhook-headers.ts';

export type WebhookSigning = SignedPart & {
  readonly secret: string;
  /** Time of the signature in milliseconds since 1970; `Date.now()` by default. */
  readonly nowMs?: number;
};

/** Returns the two headers of the signature. Throws TypeError for an empty secret, or a body that is not bytes. */
export async function signWebhook(
  signing: WebhookSigning,
): Promise<
  Readonly<Record<typeof WEBHOOK_SIGNATURE_HEADER | typeof WEBHOOK_TIMESTAMP_HEADER, string>>
> {
  const { secret, nowMs = Date.now() } = signing;
  if (secret === '') throw new TypeError('signWebhook needs the secret of the subscription');
  const timestamp = new Date(nowMs).toISOString();
  const key = await hmacKey(secret, 'sign');
  const signature = await crypto.subtle.sign('HMAC', key, signedText(timestamp, signing));
  return {
    [WEBHOOK_TIMESTAMP_HEADER]: timestamp,
    [WEBHOOK_SIGNATURE_HEADER]: btoa(String.fromCharCode(...new Uint8Array(signature))),
  };
}
