// LayerContents: the decompressed bytes of the layers of an image, as a stream. A layer counts when its stream has ended: then every
// byte has had the digest and the size that manifest and config name.
import { createHash } from 'node:crypto';
import { type Duplex, pipeline, Readable } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import { type Chunks, type Digest, partsOf } from './digest.ts';
import { ImageError } from './image-error.ts';
import { type Descriptor, invalid } from './image-json.ts';
import { ZSTD_WINDOW_LOG_MAX } from './image-limits.ts';
import { type ImageSource, openLayer } from './image-source.ts';
import { type Compression, layerCompression } from './media-types.ts';

export interface LayerLimits {
  /** Maximum size of all layers as they are stored, in bytes. */
  readonly packedBytesMax: number;
  /** Maximum size of all layers when they are decompressed, in bytes. */
  readonly unpackedBytesMax: number;
  /** Maximum size of a layer as it is stored, in bytes. */
  readonly layerPackedBytesMax: number;
  /** Maximum size of a layer when it is decompressed, in bytes. */
  readonly layerUnpackedBytesMax: number;
  /** A sentence for messages that says what to do about a layer that is damaged. */
  readonly damagedAdvice: string;
  /** A sentence for messages that says what to do about an image that is too large. */
  readonly largeAdvice: string;
}

/** Refuses layers by what the manifest says of them, before one is loaded. Throws SVC_IMAGE_INVALID and SVC_IMAGE_TOO_LARGE. */
export function checkLayers(
  { name }: ImageSource,
  layers: readonly Descriptor[],
  { packedBytesMax, layerPackedBytesMax, largeAdvice }: LayerLimits,
): void {
  const strange = layers.find(({ mediaType }) => layerCompression(mediaType) === undefined);
  if (strange !== undefined)
    throw invalid(`a layer of ${name} has the media type '${strange.mediaType}'`);
  const packedBytes = layers.reduce((sum, { size }) => sum + size, 0);
  if (packedBytes > packedBytesMax)
    throw tooLarge(
      name,
      `has layers of ${packedBytes} bytes; at most ${packedBytesMax} are loaded`,
      largeAdvice,
    );
  const large = layers.find(({ size }) => size > layerPackedBytesMax);
  if (large !== undefined)
    throw tooLarge(
      name,
      `has a layer of ${large.size} bytes; at most ${layerPackedBytesMax} are loaded`,
      largeAdvice,
    );
}

export interface LayerContent {
  readonly chunks: Chunks;
  /** The layer as messages name it. */
  readonly where: string;
}

/** The layers of one image, which share the bound on what they may become. */
export class LayerContents {
  readonly #source: ImageSource;
  readonly #limits: LayerLimits;
  #unpackedBytes = 0;

  constructor(source: ImageSource, limits: LayerLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  /** Number of decompressed bytes of the layers that were read. */
  get unpackedBytes(): number {
    return this.#unpackedBytes;
  }

  /** Opens a layer. Reading it throws ImageError. `diffId`: digest of the decompressed bytes. */
  open(layer: Descriptor, diffId: Digest): LayerContent {
    const where = `layer ${layer.digest} of the image ${this.#source.name}`;
    return { chunks: this.#checked(layer, diffId, where), where };
  }

  async *#checked(
    layer: Descriptor,
    diffId: Digest,
    where: string,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const packed = openLayer(this.#source, layer);
    const { algorithm, hex } = partsOf(diffId);
    const hashing = createHash(algorithm);
    let ofLayer = 0;
    for await (const chunk of this.#decompressed(
      packed,
      layerCompression(layer.mediaType)!,
      where,
    )) {
      ofLayer += chunk.length;
      this.#count(chunk.length, ofLayer, where);
      hashing.update(chunk);
      yield chunk;
    }
    if (hashing.digest('hex') !== hex)
      throw new ImageError(
        'SVC_IMAGE_DIGEST_MISMATCH',
        `The decompressed ${where} does not have the digest ${diffId} that the config of the image names. ` +
          'Build the image again and push it.',
      );
    if (!packed.isComplete) throw this.#damaged(where, 'has bytes after its compressed content');
  }

  #count(bytes: number, ofLayer: number, where: string): void {
    this.#unpackedBytes += bytes;
    const { unpackedBytesMax, layerUnpackedBytesMax, largeAdvice } = this.#limits;
    const bytesMax =
      this.#unpackedBytes > unpackedBytesMax
        ? unpackedBytesMax
        : ofLayer > layerUnpackedBytesMax
          ? layerUnpackedBytesMax
          : undefined;
    if (bytesMax !== undefined)
      throw tooLarge(
        where,
        `becomes more than ${bytesMax} bytes when it is decompressed`,
        largeAdvice,
      );
  }

  async *#decompressed(
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
      throw this.#damaged(where, `cannot be decompressed as ${compression}`, error);
    }
  }

  #damaged(where: string, what: string, cause?: unknown): ImageError {
    return new ImageError(
      'SVC_IMAGE_LAYER_DAMAGED',
      `The ${where} ${what}. ${this.#limits.damagedAdvice}`,
      { cause },
    );
  }
}

function tooLarge(name: string, what: string, advice: string): ImageError {
  return new ImageError('SVC_IMAGE_TOO_LARGE', `The image ${name} ${what}. ${advice}`);
}
