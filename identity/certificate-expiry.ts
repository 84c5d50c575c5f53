// CertificateExpiry: when an operator is warned that a certificate in use has not been renewed. The first warning comes when a
// fifth of its lifetime is left, and another each time the rest has halved; the last notice is that it has expired.
import type { X509Certificate } from 'node:crypto';
import type { LogEntry } from '@svc/kit/log-entry';

const FIRST_PART = 1 / 5;
const WARNINGS_MAX = 6;
const HOUR_MS = 3_600_000;

/** Warnings that are due at `nowMs` for a certificate: from 0 to 6; 7 when it has expired. */
export function expiryStage(
  { validFromDate, validToDate }: Pick<X509Certificate, 'validFromDate' | 'validToDate'>,
  nowMs: number,
): number {
  const leftMs = validToDate.getTime() - nowMs;
  if (leftMs <= 0) return WARNINGS_MAX + 1;
  const part = leftMs / (validToDate.getTime() - validFromDate.getTime());
  if (part > FIRST_PART) return 0;
  return Math.min(1 + Math.floor(Math.log2(FIRST_PART / part)), WARNINGS_MAX);
}

/** Returns the line for a certificate that expires, or has expired, without a successor. */
export function expiryEntry(
  { validToDate }: Pick<X509Certificate, 'validToDate'>,
  location: { readonly folder: string } | { readonly file: string },
  nowMs: number,
): LogEntry {
  const leftMs = validToDate.getTime() - nowMs;
  const fields = { ...location, expiresAt: validToDate.toISOString() };
  if (leftMs <= 0)
    return {
      level: 'error',
      message:
        'The certificate in use has expired: others refuse its connections. Renew the certificate and its key.',
      fields,
    };
  return {
    level: 'warn',
    message: `The certificate in use expires in ${durationText(leftMs)}, and no other one is there. Renew the certificate and its key.`,
    fields,
  };
}

function durationText(ms: number): string {
  const hours = Math.floor(ms / HOUR_MS);
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  if (hours >= 2) return `${hours} hours`;
  return `${Math.ceil(ms / 60_000)} minutes`;
}
