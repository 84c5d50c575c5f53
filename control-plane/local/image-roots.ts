// ImageRoots: finds the image that a descriptor names, unpacks it for a sandbox, and keeps it under its project and digest, as
// `<hex>/root` and `<hex>/config.json`. Nothing of an image is run.
//
// Invariants
// - A tag is resolved once for each call. The folder is that of the digest which the call returns, and has all of the image.
// - An image is unpacked once at a time, and services of one project with the same image share its folder. Another project has a folder of
//   its own: whoever knows a manifest could serve it without its layers, and get the files of others.
// - A service gets a folder only if it may read the image where it names it, now or when it got the folder before.
// - All folders together take at most the space of the setting.
import { existsSync, readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { ImageError } from '@svc/oci/image-error';
import { readUnpacked, unpackImage } from '@svc/oci/image-root';
import type { ImageSource as OpenImage } from '@svc/oci/image-source';
import { removeFolder } from '@svc/oci/removed-folder';
import { ROOT_LIMITS_DEFAULT } from '@svc/oci/root-limits';
import type { ImageResult, ImageWish } from './local-machine.ts';
import type { LocalSection } from './local-section.ts';
import {
  ARCHITECTURE,
  failedImage,
  NamedImages,
  type NamedImagesOptions,
  wantedReference,
} from './named-images.ts';

const KEPT = /^[0-9a-f]{64}$/;
const UNFINISHED = /^[0-9a-f]{64}\.[0-9a-f]+\.new$/;

export interface ImageRootsOptions extends NamedImagesOptions {
  /** Folder of the unpacked images. */
  readonly folder: string;
  readonly section: NamedImagesOptions['section'] & Pick<LocalSection, 'imagesBytesMax'>;
}

export interface RootImage {
  /** Digest, `sha256:…`. */
  readonly digest: string;
  /** Folder with `root` and `config.json`. */
  readonly imageFolder: string;
  /** The image as the descriptor has named it. */
  readonly name: string;
}

export type RootImageResult =
  | { readonly kind: 'found'; readonly image: RootImage }
  | Extract<ImageResult, { readonly kind: 'failed' }>;

export interface RootImageWish extends Omit<ImageWish, 'former'> {
  /** The image that the service had before. */
  readonly former?:
    | { readonly digest: string; readonly name?: string; readonly imageFolder?: string }
    | undefined;
}

interface Unpacking {
  /** Resolves when it has ended, whether the image is there or not. */
  readonly done: Promise<void>;
  /** Room that is kept for it. */
  readonly bytes: number;
}

export class ImageRoots {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #images: NamedImages;
  /** The images that are being unpacked, by folder. */
  readonly #unpacking = new Map<string, Unpacking>();

  constructor({ folder, ...options }: ImageRootsOptions) {
    this.#folder = folder;
    this.#bytesMax = options.section.imagesBytesMax;
    this.#images = new NamedImages(options);
  }

  /** Whether what was found before is still on disk, so that nobody has to be asked for it. */
  isKept({ imageFolder }: { readonly imageFolder?: string | undefined }): boolean {
    return imageFolder !== undefined && existsSync(imageFolder);
  }

  /** Finds which image the service names now, and has it unpacked on disk. Rejects only when the signal is aborted. */
  async resolve(
    { key, descriptor, digest, former }: RootImageWish,
    signal: AbortSignal,
  ): Promise<RootImageResult> {
    const { image: name } = descriptor;
    try {
      const reference = wantedReference(name, digest);
      // A name with a digest always means the same image.
      const isFormer = former?.name === name && former.digest === reference.digest;
      const { project } = key;
      if (isFormer && this.isKept(former)) return this.#found(project, former.digest, name);
      return await this.#images.read(reference, project, {
        signal,
        read: async (source) => {
          await this.#keep(source, this.#folderOf(project, source.root.digest), signal);
          return this.#found(project, source.root.digest, name);
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      return failedImage(name, error);
    }
  }

  #found(project: string, digest: string, name: string): RootImageResult {
    return { kind: 'found', image: { digest, imageFolder: this.#folderOf(project, digest), name } };
  }

  #folderOf(project: string, digest: string): string {
    return join(this.#folder, createHash('sha256').update(`${project}\0${digest}`).digest('hex'));
  }

  /** Has the image on disk. One that another service has unpacked in the meantime is not unpacked again. */
  async #keep(source: OpenImage, folder: string, signal: AbortSignal): Promise<void> {
    const other = this.#unpacking.get(folder);
    if (other !== undefined) {
      await endOf(other.done, signal);
      return await this.#keep(source, folder, signal);
    }
    if (existsSync(folder)) return;
    const free = await this.#freeBytes();
    if (this.#unpacking.has(folder)) return await this.#keep(source, folder, signal);
    if (free <= 0) throw this.#full(source.name);
    const unpackedBytesMax = Math.min(ROOT_LIMITS_DEFAULT.unpackedBytesMax, free);
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    this.#unpacking.set(folder, { done, bytes: unpackedBytesMax });
    try {
      const limits = { ...ROOT_LIMITS_DEFAULT, unpackedBytesMax };
      const { bytes } = await unpackImage(source, ARCHITECTURE, folder, limits, signal);
      if (bytes <= free) return;
      await removeImage(folder);
      throw this.#full(source.name);
    } catch (error) {
      const isTooLarge = error instanceof ImageError && error.code === 'SVC_IMAGE_TOO_LARGE';
      const isSqueezed = unpackedBytesMax < ROOT_LIMITS_DEFAULT.unpackedBytesMax;
      throw isTooLarge && isSqueezed ? this.#full(source.name) : error;
    } finally {
      this.#unpacking.delete(folder);
      end();
    }
  }

  /** Returns the space that is left. An image that becomes finished meanwhile may count twice. */
  async #freeBytes(): Promise<number> {
    const before = [...this.#unpacking.values()];
    const used = await this.#usedBytes();
    const unpacking = new Set([...before, ...this.#unpacking.values()]);
    return [...unpacking].reduce((free, { bytes }) => free - bytes, this.#bytesMax - used);
  }

  async #usedBytes(): Promise<number> {
    const kept = namesIn(this.#folder).filter((name) => KEPT.test(name));
    let sum = 0;
    for (const name of kept) sum += (await readUnpacked(join(this.#folder, name))).bytes;
    return sum;
  }

  #full(image: string): ImageError {
    return new ImageError(
      'SVC_IMAGE_FOLDER_FULL',
      `The image ${image} does not fit beside the images that this machine keeps, which may take ${this.#bytesMax} bytes. ` +
        'Delete services whose images are not needed, or ask the operator to raise svc.local.images-bytes-max.',
    );
  }
}

/**
 * Removes the images that nothing uses any more, and those whose unpacking or removal was cut off. Nobody may be reading an image meanwhile.
 * `used`: the folders of the images that stay.
 */
export async function sweepImageRoots(folder: string, used: ReadonlySet<string>): Promise<void> {
  const usedNames = new Set([...used].map((path) => basename(path)));
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    if (UNFINISHED.test(name)) await removeFolder(path);
    else if (KEPT.test(name) && !usedNames.has(name)) await removeImage(path);
  }
}

/** Removes an image. It has another name first, so that one that is removed in part is not taken for an image. */
async function removeImage(path: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.new`;
  await rename(path, unfinished);
  await removeFolder(unfinished);
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Resolves when the other unpacking has ended. Rejects when the signal is aborted. */
async function endOf(done: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', abort);
  try {
    await Promise.race([done, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
