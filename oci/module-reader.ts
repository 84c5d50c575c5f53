// ModuleReader: reads the module out of an image, from any source, and runs nothing of the image. The module is returned only
// after every byte of the image has had the digest and the size that its manifest names.
import { createHash } from 'node:crypto';
import { type Duplex, pipeline, Readable } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import { type Chunks, type Digest, digestOf, partsOf } from './digest.ts';
import { ImageError } from './image-error.ts';
import { type Descriptor, invalid, type Manifest } from './image-json.ts';
import { PACKED_BYTES_MAX, UNPACKED_BYTES_MAX, ZSTD_WINDOW_LOG_MAX } from './image-limits.ts';
import { type ImageSource, openLayer, readConfig, readPlatform } from './image-source.ts';
import { LayerFiles, type ModuleFile } from './layer-files.ts';
import { type Compression, layerCompression } from './media-types.ts';
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

/**
 * Reads the module. The image has exactly one file whose name ends in `.wasm`, and if it has the label, that file is what the
 * label says. `architecture`: which manifest of an index is read, such as `amd64`, if there is one for it. Throws ImageError.
 */
export async function readModule(
  source: ImageSource,
  architecture: string,
): Promise<ModuleOfImage> {
  const { manifest } = await readPlatform(source, architecture);
  checkLayers(source, manifest.layers);
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

/** Refuses layers by what the manifest says of them, before one is loaded. */
function checkLayers(source: ImageSource, layers: readonly Descriptor[]): void {
  const strange = layers.find(({ mediaType }) => layerCompression(mediaType) === undefined);
  if (strange !== undefined)
    throw invalid(`a layer of ${source.name} has the media type '${strange.mediaType}'`);
  const packedBytes = layers.reduce((sum, { size }) => sum + size, 0);
  if (packedBytes > PACKED_BYTES_MAX)
    throw tooLarge(
      source.name,
      `has layers of ${packedBytes} bytes; at most ${PACKED_BYTES_MAX} are loaded`,
    );
}

async function readLayers(
  source: ImageSource,
  { layers }: Manifest,
  diffIds: readonly Digest[],
): Promise<ModuleFile> {
  const files = new LayerFiles(source.name);
  const budget = { bytes: UNPACKED_BYTES_MAX };
  for (const [at, layer] of layers.entries()) {
    const where = `layer ${layer.digest} of the image ${source.name}`;
    const packed = openLayer(source, layer);
    const unpacked = decompressed(packed, layerCompression(layer.mediaType)!, where);
    const checked = checkedLayer(unpacked, diffIds[at]!, where, budget);
    for await (const entry of readTar(checked, `The ${where}`)) await files.take(entry, at);
    if (!packed.isComplete) throw damaged(where, 'has bytes after its compressed content');
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

/** Counts and hashes the decompressed bytes of a layer. `budget`: bytes that are left for all layers of the image. */
async function* checkedLayer(
  chunks: Chunks,
  diffId: Digest,
  where: string,
  budget: { bytes: number },
): AsyncGenerator<Uint8Array> {
  const { algorithm, hex } = partsOf(diffId);
  const hashing = createHash(algorithm);
  for await (const chunk of chunks) {
    budget.bytes -= chunk.length;
    if (budget.bytes < 0)
      throw tooLarge(
        where,
        `becomes more than ${UNPACKED_BYTES_MAX} bytes when it is decompressed`,
      );
    hashing.update(chunk);
    yield chunk;
  }
  if (hashing.digest('hex') !== hex)
    throw new ImageError(
      'SVC_IMAGE_DIGEST_MISMATCH',
      `The decompressed ${where} does not have the digest ${diffId} that the config of the image names. ` +
        'Build the image again and push it.',
    );
}

async function* decompressed(
  chunks: Chunks,
  compression: Compression,
  where: string,
): AsyncGenerator<Uint8Array> {
  if (compression === 'none') return yield* chunks;
  const output: Duplex =
    compression === 'gzip'
      ? createGunzip()
      : createZstdDecompress({
          params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
        });
  // A failure of the input ends the output with the same error, which the loop below throws.
  pipeline(Readable.from(chunks), output, () => {});
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof ImageError) throw error;
    throw damaged(where, `cannot be decompressed as ${compression}`, error);
  }
}

function damaged(where: string, what: string, cause?: unknown): ImageError {
  return new ImageError(
    'SVC_IMAGE_LAYER_DAMAGED',
    `The ${where} ${what}. Build the image again with svc image build.`,
    { cause },
  );
}

function tooLarge(name: string, what: string): ImageError {
  return new ImageError(
    'SVC_IMAGE_TOO_LARGE',
    `The image ${name} ${what}. Use an image that has the module alone.`,
  );
}
