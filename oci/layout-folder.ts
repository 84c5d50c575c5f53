// LayoutFolder: an image in a folder with an OCI layout. Paths of blobs are made of checked digests, so they stay in the folder.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chunks, partsOf } from './digest.ts';
import { BLOBS_FOLDER, INDEX_FILE } from './image-files.ts';
import type { ImageSource } from './image-source.ts';
import { missing, rootOfLayout, type WantedImage } from './layout-index.ts';

/** Opens an image of a layout. `shown`: how messages name the layout. Throws ImageError. */
export async function openLayoutFolder(
  folder: string,
  wanted: WantedImage = {},
  shown = folder,
): Promise<ImageSource> {
  const open = (path: string) => readFileOf(join(folder, path), path, shown);
  const root = await rootOfLayout(open(INDEX_FILE), wanted, shown);
  return {
    name: wanted.tag === undefined ? shown : `${shown}:${wanted.tag}`,
    root,
    open({ digest }) {
      const { algorithm, hex } = partsOf(digest);
      return open(join(BLOBS_FOLDER, algorithm, hex));
    },
  };
}

async function* readFileOf(
  file: string,
  path: string,
  layout: string,
): Chunks & AsyncGenerator<Uint8Array> {
  try {
    // Opening a pipe would wait for a writer.
    if (!(await stat(file)).isFile()) throw missing(layout, `has no file ${path}`);
    yield* createReadStream(file) as AsyncIterable<Uint8Array>;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code?.startsWith('SVC_') === true) throw error;
    throw missing(layout, `has no readable file ${path} (${code})`, error);
  }
}
