// WebhookVectors: the requests of client/webhooks/test-vectors.json, each with what a receiver has to find.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const WEBHOOK_VECTORS_FILE = join(
  import.meta.dirname,
  '../../client/webhooks/test-vectors.json',
);

export interface WebhookVector {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly now: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Text of the body. There is one of `body`, `bodyBase64` and `path`. */
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly path?: string;
  /** `verified`, or the reason of the refusal. */
  readonly outcome: string;
}

export const WEBHOOK_VECTORS = JSON.parse(
  readFileSync(WEBHOOK_VECTORS_FILE, 'utf8'),
) as readonly WebhookVector[];

/** Returns the body of a vector that has one. */
export function contentOf({ body, bodyBase64 }: WebhookVector): Buffer {
  return bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64');
}
