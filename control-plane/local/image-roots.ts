// ImageRoots: finds the image that a descriptor names, unpacks it for a sandbox, and keeps it under its project and digest, as
// `<project>/<hex>/root` and `<project>/<hex>/config.json`. Nothing of an image is run.
//
// Invariants
// - A tag is resolved once for each call. The folder is that of the digest which the call returns, and has all of the image.
// - An image is unpacked once at a time, and services of one project with the same image share its folder. Another project has a folder of
//   its own: whoever knows a manifest could serve it without its layers, and get the files of others.
// - A service gets a folder only if it may read the image where it names it, now or when it got the folder before.
// - All folders together, and those of one project, take at most the space of their settings.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { rename, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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

const KEPT = /^(?:[0-9a-f]{64}|[0-9a-f]{128})$/;
const UNFINISHED = /^(?:[0-9a-f]{64}|[0-9a-f]{128})\.[0-9a-f]+\.new$/;

export interface ImageRootsOptions extends NamedImagesOptions {
  /** Folder of the unpacked images. */
  readonly folder: string;
  readonly section: NamedImagesOptions['section'] &
    Pick<LocalSection, 'imagesBytesMax' | 'projectImagesBytesMax'>;
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
  /** Space that is kept for it. */
  readonly bytes: number;
}

export class ImageRoots {
  readonly #folder: string;
  readonly #section: ImageRootsOptions['section'];
  readonly #images: NamedImages;
  /** The images that are being unpacked, by folder. */
  readonly #unpacking = new Map<string, Unpacking>();

  constructor({ folder, ...options }: ImageRootsOptions) {
    this.#folder = folder;
    this.#section = options.section;
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
    return join(this.#folder, project, digest.slice(digest.indexOf(':') + 1));
  }

  /** Has the image on disk. One that another service has unpacked in the meantime is not unpacked again. */
  async #keep(source: OpenImage, folder: string, signal: AbortSignal): Promise<void> {
    const other = this.#unpacking.get(folder);
    if (other !== undefined) {
      await endOf(other.done, signal);
      return await this.#keep(source, folder, signal);
    }
    if (existsSync(folder)) return;
    const space = await this.#freeSpace(dirname(folder));
    if (this.#unpacking.has(folder)) return await this.#keep(source, folder, signal);
    if (space.bytes <= 0) throw full(source.name, space);
    const unpackedBytesMax = Math.min(ROOT_LIMITS_DEFAULT.unpackedBytesMax, space.bytes);
    const { promise: done, resolve: end } = Promise.withResolvers<void>();
    this.#unpacking.set(folder, { done, bytes: unpackedBytesMax });
    try {
      const limits = { ...ROOT_LIMITS_DEFAULT, unpackedBytesMax };
      const { bytes } = await unpackImage(source, ARCHITECTURE, folder, limits, signal);
      if (bytes <= space.bytes) return;
      await removeImage(folder);
      throw full(source.name, space);
    } catch (error) {
      const isTooLarge = error instanceof ImageError && error.code === 'SVC_IMAGE_TOO_LARGE';
      const isSqueezed = unpackedBytesMax < ROOT_LIMITS_DEFAULT.unpackedBytesMax;
      throw isTooLarge && isSqueezed ? full(source.name, space) : error;
    } finally {
      this.#unpacking.delete(folder);
      end();
    }
  }

  /** Returns the space that is left to a project. An image that becomes finished meanwhile may count twice. */
  async #freeSpace(projectFolder: string): Promise<FreeSpace> {
    const before = [...this.#unpacking];
    const used: { readonly folder: string; readonly bytes: number }[] = [];
    for (const folder of keptIn(this.#folder))
      used.push({ folder, bytes: (await readUnpacked(folder)).bytes });
    for (const [folder, { bytes }] of new Map([...before, ...this.#unpacking]))
      used.push({ folder, bytes });
    const sumOf = (all: typeof used) => all.reduce((sum, { bytes }) => sum + bytes, 0);
    const { imagesBytesMax, projectImagesBytesMax } = this.#section;
    const ofAll = imagesBytesMax - sumOf(used);
    const ofProject =
      projectImagesBytesMax - sumOf(used.filter(({ folder }) => dirname(folder) === projectFolder));
    return ofProject < ofAll
      ? { bytes: ofProject, bound: 'project', bytesMax: projectImagesBytesMax }
      : { bytes: ofAll, bound: 'machine', bytesMax: imagesBytesMax };
  }
}

interface FreeSpace {
  readonly bytes: number;
  /** The bound that is reached first. */
  readonly bound: 'project' | 'machine';
  readonly bytesMax: number;
}

function full(image: string, { bound, bytesMax }: FreeSpace): ImageError {
  const [others, setting] =
    bound === 'project'
      ? ['of its project', 'svc.local.project-images-bytes-max']
      : ['that this machine keeps', 'svc.local.images-bytes-max'];
  return new ImageError(
    'SVC_IMAGE_FOLDER_FULL',
    `The image ${image} does not fit beside the images ${others}, which may take ${bytesMax} bytes. ` +
      `Delete services whose images are not needed, or ask the operator to raise ${setting}.`,
  );
}

/**
 * Removes the images that nothing uses any more, and those whose unpacking or removal was cut off. Nobody may be reading an image meanwhile.
 * `used`: the folders of the images that stay.
 */
export async function sweepImageRoots(folder: string, used: ReadonlySet<string>): Promise<void> {
  for (const project of namesIn(folder)) {
    const ofProject = join(folder, project);
    for (const name of namesIn(ofProject)) {
      const path = join(ofProject, name);
      if (UNFINISHED.test(name)) await removeFolder(path);
      else if (KEPT.test(name) && !used.has(path)) await removeImage(path);
    }
    if (namesIn(ofProject).length === 0) await rmdir(ofProject);
  }
}

/** Returns the folders of all images that are kept. */
function keptIn(folder: string): readonly string[] {
  return namesIn(folder).flatMap((project) =>
    namesIn(join(folder, project))
      .filter((name) => KEPT.test(name))
      .map((name) => join(folder, project, name)),
  );
}

/** Removes an image. It has another name first, so that one that is removed in part is not taken for an image. */
async function removeImage(path: string): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}.new`;
  await rename(path, unfinished);
  await removeFolder(unfinished);
}

/** Returns the names in a folder; none if there is no such folder. */
function namesIn(folder: string): readonly string[] {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(folder)
    : [];
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
