// ImageFiles: writes a built image as an OCI layout, into a folder or an archive. Equal images give equal files. A layout appears
// as a whole: it is written beside its target and renamed, and replaces only a layout.
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { partsOf } from './digest.ts';
import { ImageError } from './image-error.ts';
import { INDEX_TYPE } from './media-types.ts';
import type { BuiltImage } from './module-image.ts';
import { tarArchive } from './tar-writer.ts';

/** The annotation of a descriptor in `index.json` that has the tag. */
export const TAG_ANNOTATION = 'org.opencontainers.image.ref.name';
export const LAYOUT_FILE = 'oci-layout';
export const INDEX_FILE = 'index.json';
export const BLOBS_FOLDER = 'blobs';
const LAYOUT_VERSION = '1.0.0';

interface LayoutFile {
  readonly path: string;
  readonly content: Uint8Array;
}

function layoutFiles({ root, blobs }: BuiltImage, tag: string): readonly LayoutFile[] {
  const manifests = [{ ...root, annotations: { [TAG_ANNOTATION]: tag } }];
  return [
    { path: LAYOUT_FILE, content: json({ imageLayoutVersion: LAYOUT_VERSION }) },
    {
      path: INDEX_FILE,
      content: json({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }),
    },
    ...[...blobs]
      .map(([digest, content]) => ({
        path: `${BLOBS_FOLDER}/${partsOf(digest).algorithm}/${partsOf(digest).hex}`,
        content,
      }))
      .toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  ];
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** Returns the layout as a tar archive. */
export function layoutArchive(image: BuiltImage, tag: string): Uint8Array {
  const files = layoutFiles(image, tag).map((file) => ({ ...file, mode: 0o644, owner: 0 }));
  const folders = [BLOBS_FOLDER, `${BLOBS_FOLDER}/sha256`];
  return tarArchive([...folders.map((path) => ({ path, mode: 0o755, owner: 0 })), ...files]);
}

/** Writes the layout as an archive. Throws SVC_IMAGE_UNWRITABLE. */
export async function writeLayoutArchive(
  image: BuiltImage,
  tag: string,
  file: string,
): Promise<void> {
  const beside = temporaryBeside(file);
  try {
    const handle = await open(beside, 'wx');
    try {
      await handle.writeFile(layoutArchive(image, tag));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw unwritable(file, error);
  }
}

/** Writes the layout into a folder that is new, empty or a layout, which it replaces. Throws SVC_IMAGE_UNWRITABLE. */
export async function writeLayoutFolder(
  image: BuiltImage,
  tag: string,
  folder: string,
): Promise<void> {
  await refuseOther(folder);
  const beside = temporaryBeside(folder);
  try {
    await mkdir(join(beside, BLOBS_FOLDER, 'sha256'), { recursive: true });
    for (const { path, content } of layoutFiles(image, tag))
      await writeFile(join(beside, path), content);
    await rm(folder, { recursive: true, force: true });
    await rename(beside, folder);
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => {});
    throw unwritable(folder, error);
  }
}

/** Throws SVC_IMAGE_UNWRITABLE if the path is a file, or a folder with anything but a layout. */
async function refuseOther(folder: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw unwritable(folder, error);
  }
  const ofLayout = new Set([LAYOUT_FILE, INDEX_FILE, BLOBS_FOLDER]);
  const isLayout = names.includes(LAYOUT_FILE) && names.every((name) => ofLayout.has(name));
  if (names.length > 0 && !isLayout)
    throw new ImageError(
      'SVC_IMAGE_UNWRITABLE',
      `The folder ${folder} has other files than those of an image. Name another folder, which svc creates.`,
    );
}

function temporaryBeside(path: string): string {
  const whole = resolve(path);
  return join(dirname(whole), `.${basename(whole).slice(0, 64)}.${crypto.randomUUID()}.part`);
}

function unwritable(path: string, cause: unknown): ImageError {
  if (cause instanceof ImageError) return cause;
  const { code = String(cause) } = cause as NodeJS.ErrnoException;
  return new ImageError(
    'SVC_IMAGE_UNWRITABLE',
    `The image cannot be written to ${path} (${code}). Name a path in a folder that exists.`,
    { cause },
  );
}
