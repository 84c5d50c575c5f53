// AttemptError: why an attempt got no answer of the receiver that counts, in the closed vocabulary of the delivery log.

export const ATTEMPT_ERRORS = [
  'timeout',
  'dns',
  'connect_refused',
  'connection_reset',
  'tls',
  'blocked_address',
  'redirect',
  'protocol',
  'interrupted',
] as const;

export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** Ends an attempt for a reason that is known where it is thrown. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly reason: AttemptError;

  constructor(reason: AttemptError) {
    super(`The attempt failed: ${reason}`);
    this.reason = reason;
  }
}

const REASONS: ReadonlyMap<string, AttemptError> = new Map([
  ['ECONNREFUSED', 'connect_refused'],
  // No way to the address: nothing listens there, as far as anybody can see.
  ['EHOSTUNREACH', 'connect_refused'],
  ['ENETUNREACH', 'connect_refused'],
  ['ENETDOWN', 'connect_refused'],
  ['EHOSTDOWN', 'connect_refused'],
  ['EADDRNOTAVAIL', 'connect_refused'],
  ['EACCES', 'connect_refused'],
  ['EPERM', 'connect_refused'],
  ['ECONNRESET', 'connection_reset'],
  ['EPIPE', 'connection_reset'],
  ['UND_ERR_SOCKET', 'connection_reset'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['EPROTO', 'tls'],
  // Of OpenSSL, for keys and digests that are too weak.
  ['UNSPECIFIED', 'tls'],
  // The sender stops, or this machine has no socket left: not the receiver's fault.
  ['UND_ERR_DESTROYED', 'interrupted'],
  ['UND_ERR_CLOSED', 'interrupted'],
  ['EMFILE', 'interrupted'],
  ['ENFILE', 'interrupted'],
]);
/** The codes of Node's TLS, and those of OpenSSL for certificates. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_CERT_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH)/;
/** Message of undici for a 101 that nobody asked for; its code is that of a closed connection. */
const BAD_UPGRADE = 'bad upgrade';

/** `error`: an error of undici or Node, or an AttemptFailure. An error of no other kind is a response that cannot be read. */
export function attemptErrorOf(error: unknown): AttemptError {
  if (error instanceof AttemptFailure) return error.reason;
  // All addresses of a name have failed. Each had its reason, and the first one is the one preferred.
  if (error instanceof AggregateError && error.errors.length > 0)
    return attemptErrorOf(error.errors[0]);
  if (!(error instanceof Error) || error.message === BAD_UPGRADE) return 'protocol';
  const { code = '' } = error as NodeJS.ErrnoException;
  return REASONS.get(code) ?? (TLS_CODE.test(code) ? 'tls' : 'protocol');
}
