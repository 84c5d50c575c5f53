// InstanceSpec: what an instance is, as it stands in its folder. It is written once, when the instance is made, so whoever finds
// the folder knows what runs there, and can run it again.
import type { ServiceDescriptor, ServiceKey } from '@svc/client';

export interface InstanceSpec {
  readonly version: 1;
  /** `<service>-<generation>-<random>`. */
  readonly name: string;
  readonly key: ServiceKey;
  readonly incarnation: string;
  readonly generation: number;
  readonly descriptor: ServiceDescriptor;
  /** Digest of the image, `sha256:…`. */
  readonly imageDigest: string;
  /** File of the module. */
  readonly moduleFile: string;
  /** Loopback address of the instance alone. */
  readonly address: string;
  readonly createdAtMs: number;
}

/** The last run of an instance, and what was counted over its runs. */
export interface InstanceRun {
  readonly version: 1;
  readonly pid: number;
  readonly startTime: number | null;
  readonly bootId: string | null;
  readonly startedAtMs: number;
  /** Runs before this one. */
  readonly restarts: number;
  /** Ends by itself since it was last ready for a while. */
  readonly failures: number;
}

/** Returns the spec in a parsed file; undefined if it is none, such as one of a later version. */
export function specIn(value: unknown): InstanceSpec | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { name, key, incarnation, generation, descriptor, imageDigest } = value;
  const { moduleFile, address, createdAtMs } = value;
  const texts = [name, incarnation, imageDigest, moduleFile, address];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  if (typeof generation !== 'number' || typeof createdAtMs !== 'number') return undefined;
  if (!isRecord(key) || !isRecord(descriptor)) return undefined;
  if (typeof key['project'] !== 'string' || typeof key['service'] !== 'string') return undefined;
  return value as unknown as InstanceSpec;
}

/** Returns the run in a parsed file; undefined if it is none. */
export function runIn(value: unknown): InstanceRun | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { pid, startTime, bootId, startedAtMs, restarts, failures } = value;
  const numbers = [pid, startedAtMs, restarts, failures];
  if (!numbers.every((number) => typeof number === 'number')) return undefined;
  if (startTime !== null && typeof startTime !== 'number') return undefined;
  if (bootId !== null && typeof bootId !== 'string') return undefined;
  return value as unknown as InstanceRun;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
