// SignedHeaders: the headers of a delivery, with its signatures (document 3, "Delivery request" and "Authentication").
//
// Invariant: what is signed are the bytes that are sent: the body, or the path of the request line.
import { createHmac } from 'node:crypto';
import {
  WEBHOOK_DELIVERY_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_PREVIOUS_SIGNATURE_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
} from '@svc/client';

export interface SignedDelivery {
  readonly eventType: string;
  readonly deliveryId: string;
  readonly body: Uint8Array;
  /** The part that is signed: the body, or the path, which does not authenticate the payload. */
  readonly over: 'body' | 'path';
  readonly secret: string;
  /** The secret before it was rotated, during its grace period. */
  readonly previousSecret?: string | undefined;
  /** Headers of the subscription, whose values may have placeholders. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers that are the sender's, or of the connection, in any spelling; a subscription that names one is refused. */
const RESERVED =
  /^(host|expect|connection|keep-alive|upgrade|te|trailer|transfer-encoding|proxy-.*|content-.*|x-hook-.*)$/i;
const PLACEHOLDER = /\{hmac_(signature|timestamp)\}/g;

/** Returns whether subscriptions may not have the header. */
export function isReservedHeader(name: string): boolean {
  return RESERVED.test(name);
}

/** `path`: of the request line, without the query. `nowMs`: time of the attempt, in milliseconds since 1970. */
export function signedHeaders(
  delivery: SignedDelivery,
  path: string,
  nowMs: number,
): Record<string, string> {
  const { over, body, secret, previousSecret } = delivery;
  const timestamp = new Date(nowMs).toISOString();
  const signed = over === 'body' ? body : path;
  const signature = signatureOf(secret, timestamp, signed);
  const allowed = Object.entries(delivery.headers).filter(([name]) => !isReservedHeader(name));
  const own = allowed.map(([name, value]) => [
    name,
    value.replace(PLACEHOLDER, (_all, word) => (word === 'signature' ? signature : timestamp)),
  ]);
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    'Content-Type': 'application/json',
    [WEBHOOK_EVENT_HEADER]: delivery.eventType,
    [WEBHOOK_DELIVERY_HEADER]: delivery.deliveryId,
    [WEBHOOK_TIMESTAMP_HEADER]: timestamp,
    [WEBHOOK_SIGNATURE_HEADER]: signature,
    ...(previousSecret !== undefined && {
      [WEBHOOK_PREVIOUS_SIGNATURE_HEADER]: signatureOf(previousSecret, timestamp, signed),
    }),
  };
}

function signatureOf(secret: string, timestamp: string, signed: Uint8Array | string): string {
  return createHmac('sha256', secret).update(`${timestamp}.`).update(signed).digest('base64');
}
