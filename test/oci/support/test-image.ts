// TestImage: images for tests, of any layers, in a layout whose files a test may change.
import { gzipSync } from 'node:zlib';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestOf } from '../../../oci/digest.ts';
import type { ImageError } from '../../../oci/image-error.ts';
import { type TarContent, tarArchive } from '../../../oci/tar-writer.ts';

/** The smallest module of WebAssembly. */
export const TINY_MODULE: Uint8Array = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
export const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';

export interface TestLayer {
  readonly mediaType: string;
  /** The bytes as they are stored. */
  readonly packed: Uint8Array;
  /** The decompressed bytes. */
  readonly unpacked: Uint8Array;
}

/** Contents of an image that a test may replace. */
export interface TestImage {
  readonly labels?: Readonly<Record<string, string>>;
  /** Further fields of the config, and of the object `config` in it. */
  readonly config?: object;
  readonly run?: object;
  readonly configType?: string;
  readonly manifestType?: string;
  /** Replaces the digests of the decompressed layers. */
  readonly diffIds?: readonly string[];
  /** Changes the descriptors of the layers. */
  readonly layerDescriptor?: (descriptor: object) => object;
}

export function file(path: string, content: Uint8Array = TINY_MODULE): TarContent {
  return { path, content, mode: 0o644, owner: 0 };
}

export function plainLayer(unpacked: Uint8Array): TestLayer {
  return { mediaType: LAYER, packed: unpacked, unpacked };
}

export function tarLayer(...contents: readonly TarContent[]): TestLayer {
  return plainLayer(tarArchive(contents));
}

export function gzipLayer(unpacked: Uint8Array): TestLayer {
  return { mediaType: `${LAYER}+gzip`, packed: gzipSync(unpacked), unpacked };
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Writes a layout with one manifest and returns its folder. */
export function writeLayout(
  folder: string,
  layers: readonly TestLayer[],
  {
    labels = {},
    config: fields = {},
    run = {},
    configType = CONFIG,
    manifestType = MANIFEST,
    diffIds = layers.map(({ unpacked }) => digestOf(unpacked)),
    layerDescriptor = (descriptor) => descriptor,
  }: TestImage = {},
): string {
  const write = (path: string, content: Uint8Array | string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const add = (mediaType: string, content: Uint8Array) => {
    const digest = digestOf(content);
    write(`blobs/sha256/${digest.slice('sha256:'.length)}`, content);
    return { mediaType, digest, size: content.length };
  };
  const config = add(
    configType,
    json({
      config: { Labels: labels, ...run },
      rootfs: { type: 'layers', diff_ids: diffIds },
      ...fields,
    }),
  );
  const descriptors = layers.map(({ mediaType, packed }) =>
    layerDescriptor(add(mediaType, packed)),
  );
  const manifest = add(manifestType, json({ schemaVersion: 2, config, layers: descriptors }));
  write('oci-layout', '{"imageLayoutVersion":"1.0.0"}');
  write('index.json', json({ schemaVersion: 2, manifests: [manifest] }));
  return folder;
}

/** Returns the code and the message with which a promise rejects. */
export async function failureOf(
  promise: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await promise;
  } catch (error) {
    const { code, message } = error as ImageError;
    return { code, message };
  }
  return { code: 'none', message: 'it did not fail' };
}
