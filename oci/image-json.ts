// ImageJson: parses the JSON of an image: descriptors, indexes, manifests and configs, which anybody may have written. What is
// returned has the right types and at most the numbers in image-limits.ts; fields that are not used are ignored.
import { type Digest, isDigest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { LAYERS_MAX, MANIFESTS_MAX } from './image-limits.ts';

/** Reference to a blob, as OCI defines it. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: Digest;
  /** Number of bytes. */
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Platform {
  readonly os: string;
  /** The architecture by the name that Go gives it, such as `amd64`. */
  readonly architecture: string;
}

export interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

export interface ImageConfig {
  /** Values of the labels that are text, by name. */
  readonly labels: ReadonlyMap<string, string>;
  /** Digests of the decompressed layers, in the order of the layers. */
  readonly diffIds: readonly Digest[];
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** Parses an index, and returns its manifests. Throws SVC_IMAGE_INVALID. `where`: the blob, for the message. */
export function parseIndex(bytes: Uint8Array, where: string): readonly Descriptor[] {
  const { manifests } = parseObject(bytes, where);
  return list(manifests, `'manifests' of ${where}`, MANIFESTS_MAX).map((one, at) =>
    descriptor(one, `manifest ${at} of ${where}`),
  );
}

/** Parses a manifest. Throws SVC_IMAGE_INVALID. */
export function parseManifest(
  bytes: Uint8Array,
  where: string,
  layersMax: number = LAYERS_MAX,
): Manifest {
  const { config, layers } = parseObject(bytes, where);
  return {
    config: descriptor(config, `'config' of ${where}`),
    layers: list(layers, `'layers' of ${where}`, layersMax).map((one, at) =>
      descriptor(one, `layer ${at} of ${where}`),
    ),
  };
}

/** Parses a config. Throws SVC_IMAGE_INVALID. */
export function parseConfig(bytes: Uint8Array, where: string): ImageConfig {
  const { config, rootfs } = parseObject(bytes, where);
  const labels = isObject(config) && isObject(config['Labels']) ? config['Labels'] : {};
  return {
    labels: new Map(
      Object.entries(labels).filter(
        (label): label is [string, string] => typeof label[1] === 'string',
      ),
    ),
    diffIds: parseDiffIds(rootfs, where),
  };
}

/** Parses the digests of the decompressed layers. Throws SVC_IMAGE_INVALID. `rootfs`: the field of the config. */
export function parseDiffIds(
  rootfs: unknown,
  where: string,
  layersMax: number = LAYERS_MAX,
): readonly Digest[] {
  const name = `'rootfs.diff_ids' of ${where}`;
  const diffIds = list(isObject(rootfs) ? rootfs['diff_ids'] : undefined, name, layersMax);
  return diffIds.map((one) => {
    if (!isDigest(one)) throw invalid(`${name} has a value that is no digest`);
    return one;
  });
}

/** Parses an object of JSON in UTF-8. Throws SVC_IMAGE_INVALID. */
export function parseObject(bytes: Uint8Array, where: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw invalid(`${where} is no JSON`, error);
  }
  if (!isObject(value)) throw invalid(`${where} is no object of JSON`);
  return value;
}

function descriptor(value: unknown, where: string): Descriptor {
  if (!isObject(value)) throw invalid(`${where} is no descriptor`);
  const { mediaType, digest, size, platform, annotations } = value;
  if (typeof mediaType !== 'string') throw invalid(`${where} has no media type`);
  if (!isDigest(digest)) throw invalid(`${where} has a digest that is none of SHA-256 or SHA-512`);
  if (!Number.isSafeInteger(size) || (size as number) < 0)
    throw invalid(`${where} has a size that is no number of bytes`);
  return {
    mediaType,
    digest,
    size: size as number,
    ...(isPlatform(platform)
      ? { platform: { os: platform.os, architecture: platform.architecture } }
      : {}),
    ...(isObject(annotations) ? { annotations: textsOf(annotations) } : {}),
  };
}

function textsOf(annotations: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(annotations).filter(
      (one): one is [string, string] => typeof one[1] === 'string',
    ),
  );
}

function isPlatform(value: unknown): value is Platform {
  return (
    isObject(value) && typeof value['os'] === 'string' && typeof value['architecture'] === 'string'
  );
}

function list(value: unknown, where: string, countMax: number): readonly unknown[] {
  if (!Array.isArray(value)) throw invalid(`${where} is no list`);
  if (value.length > countMax)
    throw new ImageError(
      'SVC_IMAGE_TOO_LARGE',
      `${where} has ${value.length} items; at most ${countMax} are read. Use a smaller image.`,
    );
  return value;
}

/** Whether a value is an object of JSON, and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Creates the failure for an image that is none. `what`: a clause that names the part and what is wrong with it. */
export function invalid(what: string, cause?: unknown): ImageError {
  const message = `${what[0]!.toUpperCase()}${what.slice(1)}. Build the image again.`;
  return new ImageError('SVC_IMAGE_INVALID', message, cause === undefined ? {} : { cause });
}
