// ControlPlaneSection: the settings svc.control-plane.* that are numbers, with their defaults and ranges, from which
// docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface ControlPlaneSection {
  /** Port of the API; 0 takes a free one. */
  readonly port: number;
  /** Requests of one caller in a minute; further ones are answered 429. 0: no limit. 600 is a good value for an API on the internet. */
  readonly requestsPerMinuteMax: number;
  /** Requests of one caller in a minute that change something, which also count as requests; further ones are answered 429. 0: no limit. 60 is a good value for an API on the internet. */
  readonly writesPerMinuteMax: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. */
  readonly stopTimeoutMs: number;
}

export const CONTROL_PLANE_DEFAULTS: {
  readonly [Key in keyof ControlPlaneSection]: ControlPlaneSection[Key];
} = { port: 7640, requestsPerMinuteMax: 0, writesPerMinuteMax: 0, stopTimeoutMs: 10_000 };

export const CONTROL_PLANE_RANGES: { readonly [Key in keyof ControlPlaneSection]: Range } = {
  port: [0, 65_535],
  requestsPerMinuteMax: [0, 1_000_000],
  writesPerMinuteMax: [0, 1_000_000],
  stopTimeoutMs: [0, 86_400_000],
};
