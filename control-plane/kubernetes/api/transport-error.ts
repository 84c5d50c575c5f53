// TransportError: says as a KubeError why a connection to the API server has failed or broken.
import { printable } from '@svc/kit/printable';
import { KubeError } from './kube-error.ts';

/** Codes of answers that are broken rather than missing. */
const BROKEN: ReadonlySet<string> = new Set([
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_HEADERS_OVERFLOW',
]);

/** Codes of a server's certificate that cannot be verified, as Node has them. */
const UNTRUSTED =
  /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|ERR_TLS_CERT_|INVALID_CA$|INVALID_PURPOSE$|HOSTNAME_MISMATCH$)/;

/** Returns the error itself if it is a KubeError. */
export function transportError(error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  // All addresses of a name have failed; the first one has the reason.
  if (error instanceof AggregateError && error.errors.length > 0)
    return transportError(error.errors[0]);
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const message = error instanceof Error ? error.message : String(error);
  const words = printable(message.slice(0, 300).toWellFormed());
  if (code.startsWith('HPE_') || BROKEN.has(code))
    return new KubeError('invalid', `the answer of the API server cannot be read: ${words}`, {
      cause: error,
    });
  if (UNTRUSTED.test(code))
    return new KubeError(
      'untrusted',
      `the certificate of the API server cannot be verified: ${words} (${code})`,
      { cause: error },
    );
  return new KubeError(
    'unreachable',
    `the API server cannot be reached: ${words}${code === '' || words.includes(code) ? '' : ` (${code})`}`,
    { cause: error },
  );
}
