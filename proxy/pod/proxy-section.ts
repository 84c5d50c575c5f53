// ProxySection: the settings svc.proxy.* that are numbers and lists, with their defaults and ranges, from which
// docs/reference/settings.md is generated. Those of forwarding are declared in @svc/forward.
import { CALLING_PORT, HTTP_PORT, PROCESS_PORT, READINESS_PORT } from '@svc/client';
import { FORWARD_LIMITS, type ForwardLimits } from '@svc/forward/forward-limits';
import { DEFAULT_MESSAGE_LIMITS, DEFAULT_SERVER_LIMITS, DEFAULT_SERVER_TIMES } from '@svc/http1';
import { CONNECTION_AGE } from '@svc/identity/connection-age';
import type { Range } from '@svc/kit/settings-reader';

export interface ProxySection extends ForwardLimits {
  /** Port on which the proxy takes requests by mutual TLS; 0 takes a free one. */
  readonly port: number;
  /** Port of 127.0.0.1 on which the process listens. */
  readonly processPort: number;
  /** Port for `GET /ready`, without TLS; 0 takes a free one. */
  readonly readinessPort: number;
  /** Port of 127.0.0.1 at which the process calls other services; 0 takes a free one. */
  readonly callingPort: number;
  /** Mounts, each `PATH=SERVICE`: `/cart=cart`. A comma in a path is written `%2C`. */
  readonly mounts: readonly string[];
  /** Name servers that are asked for services, each an address or `ADDRESS:PORT`; none: those of the system. */
  readonly nameServers: readonly string[];
  /** Services that may call this one: `billing` in the same project, `ledger.finance` in another. */
  readonly callers: readonly string[];
  /** Custom hostnames of the service, in lower case. If there are any, a request of the internet with another `Host` counts as one at the derived hostname. */
  readonly hostnames: readonly string[];
  /** Open connections to the service port, unfinished handshakes included; further ones are closed. The calling port may have as many. */
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
  /** Age at which a connection closes after its current response, in milliseconds, ± 10 %. */
  readonly connectionAgeMs: number;
  /** Time for the process to accept a connection when the readiness port is asked, in milliseconds. */
  readonly readinessTimeoutMs: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. */
  readonly stopTimeoutMs: number;
}

export const PROXY_DEFAULTS: { readonly [Key in keyof ProxySection]: ProxySection[Key] } = {
  port: HTTP_PORT,
  processPort: PROCESS_PORT,
  readinessPort: READINESS_PORT,
  callingPort: CALLING_PORT,
  mounts: [],
  nameServers: [],
  callers: [],
  hostnames: [],
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
  readinessTimeoutMs: 900,
  stopTimeoutMs: 10_000,
};

const PORT: Range = [0, 65_535];
const COUNT: Range = [1, 1_000_000];
/** A longer time would overflow a timer. */
const TIME: Range = [1, 1_000_000_000];

/** Minimum and maximum of each setting, for a list of the number of its entries. */
export const PROXY_RANGES: { readonly [Key in keyof ProxySection]: Range } = {
  port: PORT,
  processPort: [1, 65_535],
  readinessPort: PORT,
  callingPort: PORT,
  mounts: [0, 100],
  nameServers: [0, 10],
  callers: [0, 100],
  hostnames: [0, 100],
  requestsMax: COUNT,
  connectTimeoutMs: TIME,
  answerTimeoutMs: TIME,
  replayBytesMax: [0, 16 * 1024 * 1024],
  replayBytesTotalMax: [0, 1024 * 1024 * 1024],
  unrepeatableIdleMsMax: [0, 1_000_000_000],
  idleMsMax: TIME,
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
  readinessTimeoutMs: TIME,
  stopTimeoutMs: [0, 1_000_000_000],
};
