// RegistrySection: the settings svc.registry.* that are numbers, with their defaults and ranges, from which
// docs/reference/settings.md is generated.
import type { Range } from '@svc/kit/settings-reader';

export interface RegistrySection {
  /** Port of the registry; 0 takes a free one. */
  readonly port: number;
  /** Bytes of all images of a project together, and of its unfinished uploads. */
  readonly projectBytesMax: number;
  /** Manifests of a project. */
  readonly projectManifestsMax: number;
  /** Bytes of a blob: a layer or a config. */
  readonly blobBytesMax: number;
  /** Unfinished uploads of a project; further ones are refused until one ends or expires. */
  readonly projectUploadsMax: number;
  /** Time after which an upload is deleted that nothing is added to, in milliseconds. */
  readonly uploadExpiryMs: number;
  /** Time that a blob is kept to which no manifest refers, in milliseconds. */
  readonly unreferencedMs: number;
  /** Time that a manifest is kept to which neither a tag nor an index refers, in hours. */
  readonly untaggedHours: number;
  /** Interval at which blobs, manifests and uploads are looked for whose time is over, in milliseconds. */
  readonly sweepIntervalMs: number;
  /** Requests of one client address in a minute; further ones are refused. */
  readonly requestsPerMinute: number;
  /** Open connections; further ones are closed. */
  readonly connectionsMax: number;
  /** Time for a whole request to arrive, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Time after which a connection is closed on which nothing happens, in milliseconds. */
  readonly idleTimeoutMs: number;
  /** Time for the control plane to say whether a caller may use a project, in milliseconds. */
  readonly accessTimeoutMs: number;
  /** Time for requests in flight to finish after SIGTERM, in milliseconds. */
  readonly stopTimeoutMs: number;
}

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;

export const REGISTRY_DEFAULTS: { readonly [Key in keyof RegistrySection]: RegistrySection[Key] } =
  {
    port: 7642,
    projectBytesMax: 5 * 1024 * MIB,
    projectManifestsMax: 3000,
    blobBytesMax: 1024 * MIB,
    projectUploadsMax: 20,
    uploadExpiryMs: HOUR_MS,
    unreferencedMs: 24 * HOUR_MS,
    untaggedHours: 2160,
    sweepIntervalMs: HOUR_MS,
    requestsPerMinute: 1200,
    connectionsMax: 500,
    requestTimeoutMs: 600_000,
    idleTimeoutMs: 30_000,
    accessTimeoutMs: 5000,
    stopTimeoutMs: 10_000,
  };

export const REGISTRY_RANGES: { readonly [Key in keyof RegistrySection]: Range } = {
  port: [0, 65_535],
  projectBytesMax: [1, 1_000_000_000_000_000],
  projectManifestsMax: [1, 1_000_000],
  blobBytesMax: [1, 1_000_000_000_000],
  projectUploadsMax: [1, 10_000],
  uploadExpiryMs: [1, 2_592_000_000],
  unreferencedMs: [1, 31_536_000_000],
  untaggedHours: [1, 876_000],
  sweepIntervalMs: [10, 86_400_000],
  requestsPerMinute: [1, 10_000_000],
  connectionsMax: [1, 100_000],
  requestTimeoutMs: [100, 86_400_000],
  idleTimeoutMs: [100, 3_600_000],
  accessTimeoutMs: [1, 600_000],
  stopTimeoutMs: [0, 600_000],
};
