// SenderLimits: what one attempt may take of time and memory.

export interface SenderLimits {
  /** Time for the name, the connection, TLS, the request and the head of the final response. Document 3, "Limits". */
  readonly attemptTimeoutMs: number;
  /** Size of the head of a response. */
  readonly headBytesMax: number;
  /** Number of bytes that are read of the body of a response, in the time of the attempt. */
  readonly bodyBytesMax: number;
  /** Time after which a connection that has nothing to do is closed. */
  readonly idleTimeoutMs: number;
  /** Addresses of a name to which a connection is tried. */
  readonly addressesMax: number;
}

export const SENDER_LIMITS_DEFAULT: SenderLimits = {
  attemptTimeoutMs: 5_000,
  headBytesMax: 16_384,
  bodyBytesMax: 65_536,
  idleTimeoutMs: 3_000,
  addressesMax: 8,
};
