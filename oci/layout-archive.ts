// LayoutArchive: an image in a tar archive with an OCI layout. Opening it notes where its files are; blobs are read from there.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type Chunks, partsOf } from './digest.ts';
import { ImageError } from './image-error.ts';
import { BLOBS_FOLDER, INDEX_FILE } from './image-files.ts';
import { ARCHIVE_BYTES_MAX } from './image-limits.ts';
import type { ImageSource } from './image-source.ts';
import { missing, rootOfLayout, type WantedImage } from './layout-index.ts';
import { readTar } from './tar-reader.ts';

interface Position {
  readonly offset: number;
  readonly size: number;
}

/** Opens an image of an archive. Throws ImageError. */
export async function openLayoutArchive(
  file: string,
  wanted: WantedImage = {},
): Promise<ImageSource> {
  await checkFile(file);
  const positions = await positionsIn(file);
  const root = await rootOfLayout(readFrom(file, positions, INDEX_FILE), wanted, file);
  return {
    name: file,
    root,
    open({ digest }) {
      const { algorithm, hex } = partsOf(digest);
      return readFrom(file, positions, `${BLOBS_FOLDER}/${algorithm}/${hex}`);
    },
  };
}

async function checkFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw missing(file, `cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  });
  if (!found.isFile()) throw missing(file, 'is no file');
  if (found.size > ARCHIVE_BYTES_MAX)
    throw new ImageError(
      'SVC_IMAGE_TOO_LARGE',
      `${file} has ${found.size} bytes; archives of at most ${ARCHIVE_BYTES_MAX} are read. Use a smaller image.`,
    );
}

async function positionsIn(file: string): Promise<ReadonlyMap<string, Position>> {
  const positions = new Map<string, Position>();
  for await (const { path: written, kind, offset, size } of readTar(readBytes(file), file)) {
    const path = written.replace(/^\.\//, '');
    if (kind === 'directory') continue;
    if (kind !== 'file' || positions.has(path))
      throw new ImageError(
        'SVC_IMAGE_LAYER_UNSAFE',
        `${file} has the entry ${JSON.stringify(written)} twice, or it is no file. Build the image again.`,
      );
    positions.set(path, { offset, size });
  }
  return positions;
}

async function* readFrom(
  file: string,
  positions: ReadonlyMap<string, Position>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const position = positions.get(path);
  if (position === undefined) throw missing(file, `has no file ${path}`);
  const { offset, size } = position;
  if (size > 0) yield* readBytes(file, { start: offset, end: offset + size - 1 });
}

/** Reads a file, or a range of it whose last byte is at `end`. */
async function* readBytes(
  file: string,
  range: { readonly start?: number; readonly end?: number } = {},
): Chunks & AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, range) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw missing(file, `cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
}
