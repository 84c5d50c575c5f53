// SecretWords: refusals of secrets without their values. The words of an API server reach logs and members, and an admission webhook may quote the
// object that it refuses.
import { KubeError } from './api/kube-error.ts';

/** PEM, cut off or not, and base64 that is longer than any name in a sentence. */
const VALUES = /-----BEGIN [\s\S]*?(?:-----END [^-]*-----|$)|[A-Za-z0-9+/_-]{64,}={0,2}/g;

/** Returns the error of a request with a secret, with `…` where its message may have a value. */
export function withoutValues(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const { kind, message, status, reason, retryAfterMs } = error;
  return new KubeError(kind, message.replaceAll(VALUES, '…'), { status, reason, retryAfterMs });
}
