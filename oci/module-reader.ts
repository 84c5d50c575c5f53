// ModuleReader: reads the module out of an image, from any source, and runs nothing of the image. The module is returned only
// after every byte of the image has had the digest and the size that its manifest names.
import { type Digest, digestOf } from './digest.ts';
import { ImageError } from './image-error.ts';
import { invalid, type Manifest } from './image-json.ts';
import { PACKED_BYTES_MAX, UNPACKED_BYTES_MAX } from './image-limits.ts';
import { type ImageSource, readConfig, readPlatform } from './image-source.ts';
import { checkLayers, LayerContents, type LayerLimits } from './layer-contents.ts';
import { LayerFiles, type ModuleFile } from './layer-files.ts';
import { MODULE_LABEL, type ModuleLabel, parseLabel } from './module-label.ts';
import { readTar } from './tar-reader.ts';

/** A module that was read out of an image. */
export interface ModuleOfImage {
  /** Digest of the image: of its index, or of its manifest if it has no index. */
  readonly image: Digest;
  /** Path of the module in the image, without a leading slash. */
  readonly path: string;
  readonly digest: Digest;
  readonly bytes: Uint8Array;
  /** Undefined for an image without the label, as images/module.Dockerfile makes it. */
  readonly label: ModuleLabel | undefined;
}

/** The first bytes of modules and components. */
const MAGIC = Buffer.from('\0asm');
const LIMITS: LayerLimits = {
  packedBytesMax: PACKED_BYTES_MAX,
  unpackedBytesMax: UNPACKED_BYTES_MAX,
  layerPackedBytesMax: PACKED_BYTES_MAX,
  layerUnpackedBytesMax: UNPACKED_BYTES_MAX,
  damagedAdvice: 'Build the image again with svc image build.',
  largeAdvice: 'Use an image that has the module alone.',
};

/**
 * Reads the module. The image has exactly one file whose name ends in `.wasm`, and if it has the label, that file is what the
 * label says. `architecture`: which manifest of an index is read, such as `amd64`, if there is one for it. Throws ImageError.
 */
export async function readModule(
  source: ImageSource,
  architecture: string,
): Promise<ModuleOfImage> {
  const { manifest } = await readPlatform(source, architecture);
  checkLayers(source, manifest.layers, LIMITS);
  const { labels, diffIds } = await readConfig(source, manifest);
  const text = labels.get(MODULE_LABEL);
  const label = text === undefined ? undefined : parseLabel(text, source.name);
  if (diffIds.length !== manifest.layers.length)
    throw invalid(`the config of ${source.name} lists another number of layers than its manifest`);
  const { path, bytes } = await readLayers(source, manifest, diffIds);
  const digest = digestOf(bytes);
  if (label !== undefined && (label.path !== path || label.digest !== digest))
    throw new ImageError(
      'SVC_IMAGE_NOT_A_MODULE',
      `The label ${MODULE_LABEL} of ${source.name} names the module ${JSON.stringify(label.path)} with ${label.digest}, ` +
        `and the image has ${path} with ${digest}. Build the image again with svc image build.`,
    );
  return { image: source.root.digest, path, digest, bytes, label };
}

async function readLayers(
  source: ImageSource,
  { layers }: Manifest,
  diffIds: readonly Digest[],
): Promise<ModuleFile> {
  const files = new LayerFiles(source.name);
  const contents = new LayerContents(source, LIMITS);
  for (const [at, layer] of layers.entries()) {
    const { chunks, where } = contents.open(layer, diffIds[at]!);
    for await (const entry of readTar(chunks, `The ${where}`)) await files.take(entry, at);
  }
  const { module } = files;
  if (module === undefined || !MAGIC.equals(module.bytes.subarray(0, MAGIC.length)))
    throw new ImageError(
      'SVC_IMAGE_NOT_A_MODULE',
      module === undefined
        ? `The image ${source.name} has no file whose name ends in .wasm. Build it with svc image build MODULE.wasm.`
        : `The file ${module.path} of the image ${source.name} is no WebAssembly. Build the image with svc image build MODULE.wasm.`,
    );
  return module;
}
