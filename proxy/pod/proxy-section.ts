// ProxySection: the settings svc.proxy.* that are numbers and lists, with their defaults and ranges, from which
// docs/reference/settings.md is generated. Those of forwarding and of its ports are declared in @svc/forward.
import { CALLING_PORT, HTTP_PORT, PROCESS_PORT, READINESS_PORT } from '@svc/client';
import {
  PORT_RANGE,
  SERVER_DEFAULTS,
  SERVER_RANGES,
  type ServerSection,
  TIME_RANGE,
} from '@svc/forward/server-section';
import type { Range } from '@svc/kit/settings-reader';

export interface ProxySection extends ServerSection {
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
  /** Time for the process to accept a connection when the readiness port is asked, in milliseconds. */
  readonly readinessTimeoutMs: number;
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
  ...SERVER_DEFAULTS,
  readinessTimeoutMs: 900,
};

/** Minimum and maximum of each setting, for a list of the number of its entries. */
export const PROXY_RANGES: { readonly [Key in keyof ProxySection]: Range } = {
  port: PORT_RANGE,
  processPort: [1, 65_535],
  readinessPort: PORT_RANGE,
  callingPort: PORT_RANGE,
  mounts: [0, 100],
  nameServers: [0, 10],
  callers: [0, 100],
  hostnames: [0, 100],
  ...SERVER_RANGES,
  readinessTimeoutMs: TIME_RANGE,
};
