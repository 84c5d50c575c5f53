// GatewaySection: the settings svc.gateway.* that are numbers and switches, with their defaults and ranges, from which
// docs/reference/settings.md is generated. Those of forwarding are declared in @svc/forward.
import { FORWARD_LIMITS, type ForwardLimits } from '@svc/forward/forward-limits';
import { DEFAULT_MESSAGE_LIMITS, DEFAULT_SERVER_LIMITS, DEFAULT_SERVER_TIMES } from '@svc/http1';
import { CONNECTION_AGE } from '@svc/identity/connection-age';
import type { Range } from '@svc/kit/settings-reader';

export interface GatewaySection extends ForwardLimits {
  /** Port with TLS; 0 takes a free one. */
  readonly port: number;
  /** Port without TLS, which redirects to the one with TLS; 0: nothing listens without TLS. */
  readonly plainPort: number;
  /** Whether requests go to instances without mutual TLS if there is no identity, for development: instances then prove nothing. */
  readonly plainInstances: boolean;
  /** Requests of all services that are held while their services are replaced; further ones are answered 503. */
  readonly heldMax: number;
  /** Requests of one service that are held; further ones are answered 503. */
  readonly heldOfServiceMax: number;
  /** Time for which a request is held, in milliseconds; then it is answered 503. */
  readonly heldMs: number;
  /** Certificates of the folder that are used; further ones are left out. */
  readonly certificatesMax: number;
  /** Open connections to the port with TLS, unfinished handshakes included; further ones are closed. The plain port takes as many. */
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
  /** Age at which a connection to an instance is not used any more, in milliseconds, ± 10 %. */
  readonly connectionAgeMs: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. */
  readonly stopTimeoutMs: number;
  /** Time after SIGTERM for which a connection without a request may still send one, in milliseconds. */
  readonly stopIdleMs: number;
}

export const GATEWAY_DEFAULTS: { readonly [Key in keyof GatewaySection]: GatewaySection[Key] } = {
  port: 8443,
  plainPort: 8080,
  plainInstances: false,
  ...FORWARD_LIMITS,
  heldMax: 1000,
  heldOfServiceMax: 200,
  heldMs: 12_000,
  certificatesMax: 1000,
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
  stopIdleMs: DEFAULT_SERVER_TIMES.retiredIdleMs,
};

const PORT: Range = [0, 65_535];
const COUNT: Range = [1, 1_000_000];
/** A longer time would overflow a timer. */
const TIME: Range = [1, 1_000_000_000];

/** Minimum and maximum of each setting. */
export const GATEWAY_RANGES: {
  readonly [Key in Exclude<keyof GatewaySection, 'plainInstances'>]: Range;
} = {
  port: PORT,
  plainPort: PORT,
  requestsMax: COUNT,
  connectTimeoutMs: TIME,
  answerTimeoutMs: TIME,
  replayBytesMax: [0, 16 * 1024 * 1024],
  replayBytesTotalMax: [0, 1024 * 1024 * 1024],
  unrepeatableIdleMsMax: [0, 1_000_000_000],
  idleMsMax: TIME,
  heldMax: [0, 100_000],
  heldOfServiceMax: [0, 100_000],
  heldMs: TIME,
  certificatesMax: [1, 10_000],
  connectionsMax: COUNT,
  headBytesMax: [1024, 16 * 1024 * 1024],
  unfinishedHeadBytesMax: [1024, 1024 * 1024 * 1024],
  headersMax: COUNT,
  handshakeTimeoutMs: TIME,
  headTimeoutMs: TIME,
  bodyTimeoutMs: TIME,
  keepAliveTimeoutMs: TIME,
  halfClosedTimeoutMs: TIME,
  connectionAgeMs: TIME,
  stopTimeoutMs: [0, 1_000_000_000],
  stopIdleMs: [0, 1_000_000_000],
};
