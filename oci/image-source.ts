// ImageSource: an image where it is stored: a layout in a folder or an archive. A source gives bytes unchecked;
// readManifest, readConfig and readLayer check each digest and size, and nobody else reads from a source.
import { CheckedBlob, type Chunks, checkedBytes } from './digest.ts';
import {
  type Descriptor,
  type ImageConfig,
  invalid,
  type Manifest,
  parseConfig,
  parseIndex,
  parseManifest,
} from './image-json.ts';
import { MANIFEST_BYTES_MAX } from './image-limits.ts';
import { isConfigType, isIndexType, isManifestType } from './media-types.ts';

export interface ImageSource {
  /** The image as messages name it. */
  readonly name: string;
  /** Index or manifest of the image. It was resolved once, and everything else follows from its digest. */
  readonly root: Descriptor;
  /** Opens a blob; its bytes are not checked yet. `kind`: some stores keep manifests apart from other blobs. */
  open(descriptor: Descriptor, kind: 'manifest' | 'blob'): Chunks;
}

/** An image for one platform. */
export interface PlatformImage {
  readonly descriptor: Descriptor;
  readonly manifest: Manifest;
}

/**
 * Returns the descriptors of the manifests of an image for Linux; the root itself if it is a manifest. Entries of an index for
 * other platforms, such as attestations, are left out. Throws SVC_IMAGE_INVALID and the errors of checkedBytes.
 */
export async function manifestsOf(source: ImageSource): Promise<readonly Descriptor[]> {
  const { root, name } = source;
  if (isManifestType(root.mediaType)) return [root];
  if (!isIndexType(root.mediaType))
    throw invalid(`the image ${name} has the media type '${root.mediaType}', which is no image`);
  const bytes = await manifestBytes(source, root);
  const manifests = parseIndex(bytes, `the index of ${name}`).filter(
    ({ mediaType, platform }) =>
      isManifestType(mediaType) && (platform === undefined || platform.os === 'linux'),
  );
  if (manifests.length === 0) throw invalid(`the image ${name} has no manifest for Linux`);
  return manifests;
}

/**
 * Reads the manifest of an image for an architecture, such as `amd64`; of the first one if it has none for it, since modules
 * run everywhere.
 */
export async function readPlatform(
  source: ImageSource,
  architecture: string,
): Promise<PlatformImage> {
  const manifests = await manifestsOf(source);
  const descriptor =
    manifests.find(({ platform }) => platform?.architecture === architecture) ?? manifests[0]!;
  return { descriptor, manifest: await readManifest(source, descriptor) };
}

/** Reads a manifest. Throws SVC_IMAGE_INVALID and the errors of checkedBytes. */
export async function readManifest(
  source: ImageSource,
  descriptor: Descriptor,
  layersMax?: number,
): Promise<Manifest> {
  const bytes = await manifestBytes(source, descriptor);
  return parseManifest(bytes, `the manifest ${descriptor.digest} of ${source.name}`, layersMax);
}

/** Reads the bytes of an index or a manifest, checked. */
export function manifestBytes(source: ImageSource, descriptor: Descriptor): Promise<Uint8Array> {
  const chunks = source.open(descriptor, 'manifest');
  return checkedBytes(chunks, descriptor, source.name, MANIFEST_BYTES_MAX);
}

export async function readConfig(source: ImageSource, manifest: Manifest): Promise<ImageConfig> {
  return parseConfig(await configBytes(source, manifest), `the config of ${source.name}`);
}

/** Reads the bytes of a config, checked. */
export async function configBytes(source: ImageSource, { config }: Manifest): Promise<Uint8Array> {
  if (!isConfigType(config.mediaType))
    throw invalid(`the config of ${source.name} has the media type '${config.mediaType}'`);
  const chunks = source.open(config, 'blob');
  return await checkedBytes(chunks, config, source.name, MANIFEST_BYTES_MAX);
}

/** Opens a layer as it is stored. Its bytes count when they have all passed. */
export function openLayer(source: ImageSource, descriptor: Descriptor): CheckedBlob {
  return new CheckedBlob(source.open(descriptor, 'blob'), descriptor, source.name);
}
