// GatewaySection: the settings svc.gateway.* that are numbers and switches, with their defaults and ranges, from which
// docs/reference/settings.md is generated. Those of forwarding and of its ports are declared in @svc/forward.
import {
  PORT_RANGE,
  SERVER_DEFAULTS,
  SERVER_RANGES,
  type ServerSection,
} from '@svc/forward/server-section';
import { DEFAULT_SERVER_TIMES } from '@svc/http1';
import type { Range } from '@svc/kit/settings-reader';

export interface GatewaySection extends ServerSection {
  /** Port with TLS; 0 takes a free one. */
  readonly port: number;
  /** Port without TLS, which redirects to the one with TLS; 0: nothing listens without TLS. */
  readonly plainPort: number;
  /** Whether requests go to instances without mutual TLS if there is no identity, for development: instances then prove nothing. */
  readonly plainInstances: boolean;
  /** Time at the start in which the gateway waits for the routes of a running orchestrator, in milliseconds; then it uses those on disk. */
  readonly routesWaitMs: number;
  /** Certificates of the folder that are used; further ones are left out. */
  readonly certificatesMax: number;
  /** Time after SIGTERM for which a connection without a request may still send one, in milliseconds. */
  readonly stopIdleMs: number;
}

export const GATEWAY_DEFAULTS: { readonly [Key in keyof GatewaySection]: GatewaySection[Key] } = {
  port: 8443,
  plainPort: 8080,
  plainInstances: false,
  routesWaitMs: 1000,
  certificatesMax: 1000,
  ...SERVER_DEFAULTS,
  stopIdleMs: DEFAULT_SERVER_TIMES.retiredIdleMs,
};

/** Minimum and maximum of each setting. */
export const GATEWAY_RANGES: {
  readonly [Key in Exclude<keyof GatewaySection, 'plainInstances'>]: Range;
} = {
  port: PORT_RANGE,
  plainPort: PORT_RANGE,
  routesWaitMs: [0, 60_000],
  certificatesMax: [1, 10_000],
  ...SERVER_RANGES,
  stopIdleMs: [0, 1_000_000_000],
};
