// ServerSection: the settings that every program has whose ports take requests to be forwarded, with their defaults and ranges, and what they
// mean for the connections of a port. A program adds its own to them.
import {
  DEFAULT_MESSAGE_LIMITS,
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  type ServerLimits,
  type ServerTimes,
} from '@svc/http1';
import { CONNECTION_AGE } from '@svc/identity/connection-age';
import type { Range } from '@svc/kit/settings-reader';
import { FORWARD_LIMITS, type ForwardLimits } from './forward-limits.ts';

export interface ServerSection extends ForwardLimits {
  /** Open connections to a port, unfinished handshakes included; further ones are closed. */
  readonly connectionsMax: number;
  /** Size of the request line and the headers together, in bytes; a larger head is answered 431. */
  readonly headBytesMax: number;
  /** Bytes of the unfinished heads of all connections to a port together; a request with which they would be more is answered 503. */
  readonly unfinishedHeadBytesMax: number;
  /** Header lines of a request, each repetition of a name counted; more are answered 431. */
  readonly headersMax: number;
  /** Time for a TLS handshake, in milliseconds. */
  readonly handshakeTimeoutMs: number;
  /** Time for the request line and the headers to arrive, in milliseconds; a later request is answered 408. */
  readonly headTimeoutMs: number;
  /** Time without a byte of a request's body, in milliseconds; then the request is answered 408. */
  readonly bodyTimeoutMs: number;
  /** Time for which a connection may be idle between two requests, in milliseconds. */
  readonly keepAliveTimeoutMs: number;
  /** Time without a byte to a client that has ended its side: then it is sent a response 102, or counts as gone if its response has begun. In milliseconds. */
  readonly halfClosedTimeoutMs: number;
  /** Age at which a connection with mutual TLS is not used any more, in milliseconds, ± 10 %. */
  readonly connectionAgeMs: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. */
  readonly stopTimeoutMs: number;
}

export const SERVER_DEFAULTS: ServerSection = {
  ...FORWARD_LIMITS,
  connectionsMax: DEFAULT_SERVER_LIMITS.connectionsMax,
  headBytesMax: DEFAULT_MESSAGE_LIMITS.headBytesMax,
  unfinishedHeadBytesMax: DEFAULT_SERVER_LIMITS.unfinishedHeadBytesMax,
  headersMax: DEFAULT_MESSAGE_LIMITS.fieldsMax,
  handshakeTimeoutMs: 10_000,
  headTimeoutMs: DEFAULT_SERVER_TIMES.headMs,
  bodyTimeoutMs: DEFAULT_SERVER_TIMES.bodyMs,
  keepAliveTimeoutMs: DEFAULT_SERVER_TIMES.idleMs,
  halfClosedTimeoutMs: DEFAULT_SERVER_TIMES.halfClosedMs,
  connectionAgeMs: CONNECTION_AGE.ageMs,
  stopTimeoutMs: 10_000,
};

/** The range of a port; 0 takes a free one, or means that there is none. */
export const PORT_RANGE: Range = [0, 65_535];
const COUNT: Range = [1, 1_000_000];
/** The range of a time in milliseconds. A longer one would overflow a timer. */
export const TIME_RANGE: Range = [1, 1_000_000_000];

/** Minimum and maximum of each setting. */
export const SERVER_RANGES: { readonly [Key in keyof ServerSection]: Range } = {
  requestsMax: COUNT,
  connectTimeoutMs: TIME_RANGE,
  answerTimeoutMs: TIME_RANGE,
  replayBytesMax: [0, 16 * 1024 * 1024],
  replayBytesTotalMax: [0, 1024 * 1024 * 1024],
  unrepeatableIdleMsMax: [0, 1_000_000_000],
  idleMsMax: TIME_RANGE,
  heldMax: [0, 100_000],
  heldOfServiceMax: [0, 100_000],
  heldMs: TIME_RANGE,
  connectionsMax: COUNT,
  headBytesMax: [1024, 16 * 1024 * 1024],
  unfinishedHeadBytesMax: [1024, 1024 * 1024 * 1024],
  headersMax: COUNT,
  handshakeTimeoutMs: TIME_RANGE,
  headTimeoutMs: TIME_RANGE,
  bodyTimeoutMs: TIME_RANGE,
  keepAliveTimeoutMs: TIME_RANGE,
  halfClosedTimeoutMs: TIME_RANGE,
  connectionAgeMs: TIME_RANGE,
  stopTimeoutMs: [0, 1_000_000_000],
};

export function serverLimits({
  connectionsMax,
  requestsMax,
  headBytesMax,
  headersMax,
  unfinishedHeadBytesMax,
}: ServerSection): ServerLimits {
  return {
    ...DEFAULT_SERVER_LIMITS,
    message: { ...DEFAULT_MESSAGE_LIMITS, headBytesMax, fieldsMax: headersMax },
    connectionsMax,
    requestsMax,
    unfinishedHeadBytesMax,
  };
}

export function serverTimes({
  headTimeoutMs,
  bodyTimeoutMs,
  keepAliveTimeoutMs,
  halfClosedTimeoutMs,
}: ServerSection): ServerTimes {
  return {
    ...DEFAULT_SERVER_TIMES,
    headMs: headTimeoutMs,
    bodyMs: bodyTimeoutMs,
    idleMs: keepAliveTimeoutMs,
    halfClosedMs: halfClosedTimeoutMs,
  };
}
