// InstanceSpec: what an instance is, as it stands in its folder. It is written once, when the instance is made, so whoever finds
// the folder knows what runs there, and can run it again.
import type { ServiceDescriptor, ServiceKey } from '@svc/client';
import type { InstanceAddress } from './instance-addresses.ts';

export interface InstanceSpec extends InstanceAddress {
  readonly version: 1;
  /** `<service>-<generation>-<random>`. */
  readonly name: string;
  readonly key: ServiceKey;
  readonly incarnation: string;
  readonly generation: number;
  readonly descriptor: ServiceDescriptor;
  /** Digest of the image, `sha256:…`. */
  readonly imageDigest: string;
  /** File of the module; undefined if the service is a program. */
  readonly moduleFile?: string;
  /** Folder with the files of the image (sandbox/image-program.ts); undefined if the service is a module. */
  readonly imageFolder?: string;
  /** Version of svc in the label of the image, if it has one. Undefined in a spec of an earlier version. */
  readonly imageRuntime?: string;
  /** Milliseconds since 1970; later than that of each instance which the service had before, whatever the clock said. */
  readonly createdAtMs: number;
}

/** Returns the spec in a parsed file; undefined if it is none, such as one of a later version. */
export function specIn(value: unknown): InstanceSpec | undefined {
  if (!isRecord(value) || value['version'] !== 1) return undefined;
  const { name, key, incarnation, generation, descriptor, imageDigest } = value;
  const { moduleFile, imageFolder, imageRuntime, address, ports, createdAtMs } = value;
  const image = [imageDigest, moduleFile ?? imageFolder, imageRuntime ?? ''];
  const texts = [name, incarnation, ...image, address];
  if (!texts.every((text) => typeof text === 'string')) return undefined;
  if (typeof generation !== 'number' || typeof createdAtMs !== 'number') return undefined;
  if (!isRecord(key) || !isRecord(descriptor) || !isPorts(ports)) return undefined;
  if (typeof key['project'] !== 'string' || typeof key['service'] !== 'string') return undefined;
  return value as unknown as InstanceSpec;
}

function isPorts(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { http, management, remoting } = value;
  return [http ?? 1, management, remoting ?? 1].every((port) => Number.isInteger(port));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
