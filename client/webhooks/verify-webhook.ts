// verifyWebhook: decides whether a request is a delivery of a webhook, signed with a secret of its receiver a short time ago.
//
// Invariants:
// - Nothing in a request makes it throw. It throws a TypeError for a mistake of the receiver: no secret, or a body that is not bytes.
// - Signatures are compared in constant time by WebCrypto, which servers of every kind have, so the package needs nothing of Node.
import {
  WEBHOOK_PREVIOUS_SIGNATURE_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  type WebhookHeaders,
  headerValues,
} from './webhook-headers.ts';

/** Maximum difference between the timestamp of a delivery and the time of its receiver, either way. */
export const WEBHOOK_TOLERANCE_MS = 300_000;

interface Verification {
  readonly headers: WebhookHeaders;
  /** Secrets of the subscription: one, or the new and the former one while it is being rotated. */
  readonly secrets: readonly string[];
  /** Present time in milliseconds since 1970; `Date.now()` by default. */
  readonly nowMs?: number;
  /** `WEBHOOK_TOLERANCE_MS` by default. */
  readonly toleranceMs?: number;
}

/** The part of a request that is signed: its body or, for a subscription that signs the path, its path. */
export type SignedPart =
  | {
      /** The bytes of the body as they are sent, before anything has parsed them. */
      readonly body: Uint8Array | ArrayBuffer;
      readonly path?: undefined;
    }
  | {
      /** The request target as it is sent, such as `request.url` of Node. Its query is not signed. */
      readonly path: string;
      readonly body?: undefined;
    };

export type WebhookRequest = Verification & SignedPart;

/** The reasons of refusals, in the order of the checks. */
export const WEBHOOK_REFUSAL_REASONS = [
  'missing-signature',
  'missing-timestamp',
  'repeated-header',
  'malformed-timestamp',
  'stale-timestamp',
  'wrong-signature',
] as const;

export type WebhookRefusalReason = (typeof WEBHOOK_REFUSAL_REASONS)[number];

export type WebhookVerification =
  | { readonly kind: 'verified' }
  | {
      readonly kind: 'refused';
      readonly reason: WebhookRefusalReason;
      /** The reason in a sentence, for a log. */
      readonly message: string;
    };

const ALGORITHM = { name: 'HMAC', hash: 'SHA-256' };
/** Base64 of 32 bytes in its only canonical form: the last letter stands for four bits. */
const SIGNATURE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;
const TIMESTAMP_LENGTH = '2026-02-28T12:30:00.000Z'.length;

/** Verifies a request. Its body may be parsed only if the result is `verified`. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookVerification> {
  const { headers, secrets } = request;
  expectSecrets(secrets);
  const nowMs = milliseconds(request.nowMs ?? Date.now(), 'nowMs');
  const toleranceMs = milliseconds(request.toleranceMs ?? WEBHOOK_TOLERANCE_MS, 'toleranceMs');
  // A mistake of the receiver is found whatever arrives.
  signedContent(request);

  const [signature, ...otherSignatures] = headerValues(headers, WEBHOOK_SIGNATURE_HEADER);
  const [timestamp, ...otherTimestamps] = headerValues(headers, WEBHOOK_TIMESTAMP_HEADER);
  const [previous, ...otherPrevious] = headerValues(headers, WEBHOOK_PREVIOUS_SIGNATURE_HEADER);
  if (signature === undefined)
    return refused('missing-signature', `the request has no ${WEBHOOK_SIGNATURE_HEADER}`);
  if (timestamp === undefined)
    return refused('missing-timestamp', `the request has no ${WEBHOOK_TIMESTAMP_HEADER}`);
  if (otherSignatures.length + otherTimestamps.length + otherPrevious.length > 0)
    return refused('repeated-header', 'a header of the signature occurs more than once');

  const signedMs = timestampMs(timestamp);
  if (signedMs === undefined)
    return refused(
      'malformed-timestamp',
      `${WEBHOOK_TIMESTAMP_HEADER} is not a time in UTC with milliseconds, such as 2026-02-28T12:30:00.000Z`,
    );
  if (Math.abs(nowMs - signedMs) > toleranceMs)
    return refused(
      'stale-timestamp',
      `${WEBHOOK_TIMESTAMP_HEADER} is more than ${toleranceMs / 1000} s from the present time`,
    );

  const signed = signedText(timestamp, request);
  const signatures = [signature, previous].flatMap((text) => signatureBytes(text) ?? []);
  for (const secret of secrets)
    if (await isSignedWith(secret, signatures, signed)) return { kind: 'verified' };
  return refused(
    'wrong-signature',
    `no secret gives the ${WEBHOOK_SIGNATURE_HEADER} of the request`,
  );
}

function refused(reason: WebhookRefusalReason, message: string): WebhookVerification {
  return { kind: 'refused', reason, message };
}

async function isSignedWith(
  secret: string,
  signatures: readonly Bytes[],
  signed: Bytes,
): Promise<boolean> {
  const key = await hmacKey(secret, 'verify');
  for (const signature of signatures)
    if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true;
  return false;
}

export async function hmacKey(secret: string, usage: 'sign' | 'verify'): Promise<CryptoKey> {
  const bytes = new TextEncoder().encode(secret);
  return await crypto.subtle.importKey('raw', bytes, ALGORITHM, false, [usage]);
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the bytes of which a signature is made (document 3, "Authentication"). Throws TypeError for a body that is not bytes. */
export function signedText(timestamp: string, part: SignedPart): Bytes {
  return joined(new TextEncoder().encode(`${timestamp}.`), signedContent(part));
}

function joined(first: Uint8Array, second: Uint8Array): Bytes {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

/** Returns undefined for a text that is not the canonical Base64 of 32 bytes. */
function signatureBytes(text: string | undefined): Bytes | undefined {
  if (text === undefined || !SIGNATURE.test(text)) return undefined;
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Returns undefined for a text that differs from how JavaScript writes its time, or has a year of more than four digits. */
function timestampMs(text: string): number | undefined {
  if (text.length !== TIMESTAMP_LENGTH) return undefined;
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toISOString() === text ? ms : undefined;
}

function signedContent({ body, path }: SignedPart): Uint8Array {
  if ((body === undefined) === (path === undefined))
    throw new TypeError('verifyWebhook takes a body, or the path if the subscription signs it');
  if (typeof path === 'string') return new TextEncoder().encode(path.split('?', 1)[0] || '/');
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError(
    path === undefined
      ? 'the body is not bytes: give verifyWebhook the body as it arrived, such as a Buffer of express.raw() or await request.arrayBuffer(), and parse it afterwards'
      : 'the path is not text',
  );
}

function expectSecrets(secrets: readonly string[]): void {
  const isGood = Array.isArray(secrets) && secrets.length > 0;
  if (!isGood || secrets.some((secret: unknown) => typeof secret !== 'string' || secret === ''))
    throw new TypeError(
      'verifyWebhook needs the secrets of the subscription, as a list of texts that are not empty: anybody could sign without one',
    );
}

function milliseconds(value: number, name: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new TypeError(`${name} is not a number of milliseconds`);
}
