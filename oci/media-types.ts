// MediaTypes: the media types of the parts of an image, those of OCI and those with which Docker pushes.

export const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
export const CONFIG_TYPE = 'application/vnd.oci.image.config.v1+json';
export const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar';

const INDEX_TYPES: ReadonlySet<string> = new Set([
  INDEX_TYPE,
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const MANIFEST_TYPES: ReadonlySet<string> = new Set([
  MANIFEST_TYPE,
  'application/vnd.docker.distribution.manifest.v2+json',
]);
const CONFIG_TYPES: ReadonlySet<string> = new Set([
  CONFIG_TYPE,
  'application/vnd.docker.container.image.v1+json',
]);
/** The media types that a reader accepts for what a tag names. */
export const ROOT_TYPES: readonly string[] = [...INDEX_TYPES, ...MANIFEST_TYPES];

export type Compression = 'none' | 'gzip' | 'zstd';

const LAYER_COMPRESSIONS: Readonly<Record<string, Compression>> = {
  [LAYER_TYPE]: 'none',
  [`${LAYER_TYPE}+gzip`]: 'gzip',
  [`${LAYER_TYPE}+zstd`]: 'zstd',
  'application/vnd.docker.image.rootfs.diff.tar': 'none',
  'application/vnd.docker.image.rootfs.diff.tar.gzip': 'gzip',
  'application/vnd.docker.image.rootfs.diff.tar.zstd': 'zstd',
};

export function isIndexType(mediaType: string): boolean {
  return INDEX_TYPES.has(mediaType);
}

export function isManifestType(mediaType: string): boolean {
  return MANIFEST_TYPES.has(mediaType);
}

export function isConfigType(mediaType: string): boolean {
  return CONFIG_TYPES.has(mediaType);
}

/** Returns how a layer of the media type is compressed; undefined if it is no media type of a layer that is read. */
export function layerCompression(mediaType: string): Compression | undefined {
  return Object.hasOwn(LAYER_COMPRESSIONS, mediaType) ? LAYER_COMPRESSIONS[mediaType] : undefined;
}
