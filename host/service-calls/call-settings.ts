// CallSettings: every limit of the calls of other services, by name, with its default.
import { FORWARD_LIMITS } from '@svc/forward/forward-limits';

export interface CallSettings {
  /**
   * Time for a call of another service, from its beginning to the last byte of the response, in milliseconds; then the
   * module gets 504. A call also ends when the time of its handler is over.
   */
  readonly timeoutMs: number;
  /** Time for a connection to a service, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Time for which a connection to a service is idle and kept, in milliseconds. */
  readonly idleMsMax: number;
  /** Largest body of a request to another service, in bytes; a larger one is not sent. */
  readonly requestBytesMax: number;
  /** Largest body of a service's response, in bytes; for a larger one the module gets 502. */
  readonly responseBytesMax: number;
  /**
   * Responses of other services that are not complete, of all calls together, in bytes; for one with which they would be more the
   * module gets 502. Each call may hold 16 KiB.
   */
  readonly responseBytesTotalMax: number;
  /** Requests to other services that one request or one event may lead to; further ones are not sent. */
  readonly perHandlerMax: number;
  /** Requests to other services whose response is not there yet; further ones are not sent. */
  readonly inFlightMax: number;
}

export const CALL_SETTINGS_DEFAULT: CallSettings = {
  timeoutMs: 30_000,
  connectTimeoutMs: FORWARD_LIMITS.connectTimeoutMs,
  idleMsMax: FORWARD_LIMITS.idleMsMax,
  requestBytesMax: 1024 * 1024,
  responseBytesMax: 1024 * 1024,
  responseBytesTotalMax: 64 * 1024 * 1024,
  perHandlerMax: 100,
  inFlightMax: 256,
};

const TIMER_MS_MAX = 1_000_000_000;
const BYTES_MAX = 1024 * 1024 * 1024;
const COUNT_MAX = 1_000_000;

/** Minimum and maximum of each setting. */
export const CALL_SETTINGS_RANGE: Readonly<Record<keyof CallSettings, readonly [number, number]>> =
  {
    timeoutMs: [1, TIMER_MS_MAX],
    connectTimeoutMs: [1, TIMER_MS_MAX],
    idleMsMax: [1, TIMER_MS_MAX],
    requestBytesMax: [0, BYTES_MAX],
    responseBytesMax: [0, BYTES_MAX],
    responseBytesTotalMax: [64 * 1024, 1024 * BYTES_MAX],
    perHandlerMax: [0, COUNT_MAX],
    inFlightMax: [1, COUNT_MAX],
  };
