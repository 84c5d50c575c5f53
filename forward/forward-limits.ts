// ForwardLimits: every limit of forwarding, by name, with its default. The proxy's settings have the same names.
import { DEFAULT_SERVER_TIMES } from '@svc/http1';

export interface ForwardLimits {
  /** Requests that have arrived and whose response is not finished; further ones are answered 503. */
  readonly requestsMax: number;
  /** Time for a connection to the process or to a service, in milliseconds. */
  readonly connectTimeoutMs: number;
  /**
   * Time for the process or a service to begin its final response, in milliseconds, counted from the last byte of the
   * request that it took; a later one is 504.
   */
  readonly answerTimeoutMs: number;
  /** Bytes of a body of GET or HEAD that are kept, so that the request can be sent once more. */
  readonly replayBytesMax: number;
  /** Bytes of all these bodies together; a request with which they would be more is not sent once more. */
  readonly replayBytesTotalMax: number;
  /** Time for which a connection to the process is idle and may carry a request that is not sent twice, in milliseconds. */
  readonly unrepeatableIdleMsMax: number;
  /** Time for which a connection is idle and kept, in milliseconds. */
  readonly idleMsMax: number;
  /** Requests of all services that are held while their services are replaced; further ones are answered 503. */
  readonly heldMax: number;
  /** Requests of one service that are held; further ones are answered 503. */
  readonly heldOfServiceMax: number;
  /** Time for which a request is held, in milliseconds; then it is answered 503. */
  readonly heldMs: number;
}

export const FORWARD_LIMITS: ForwardLimits = {
  requestsMax: 10_000,
  connectTimeoutMs: 5000,
  answerTimeoutMs: 60_000,
  replayBytesMax: 64 * 1024,
  replayBytesTotalMax: 64 * 1024 * 1024,
  unrepeatableIdleMsMax: 1000,
  idleMsMax: 30_000,
  heldMax: 1000,
  heldOfServiceMax: 200,
  heldMs: 12_000,
};

/**
 * Time for which a mark in the file of services holds a service, in milliseconds, from when it is first seen. A control plane that has ended
 * leaves its marks.
 */
export const HOLD_MARK_MS_MAX = 15_000;

/**
 * Time for which a connection to a service is idle and may carry a request that is not sent twice, in milliseconds. It is shorter than
 * the time for which a service that ends a connection waits for one more request, so that the request does not meet the end.
 */
export const UNREPEATABLE_IDLE_MS_MAX = DEFAULT_SERVER_TIMES.retiredIdleMs / 2;
