// RootEntries: what the entries of the layers of an image ask for, done in the folder into which the image is unpacked: files,
// folders, links, and the whiteouts that remove what lower layers have. All else is refused.
import { ImageError } from './image-error.ts';
import { EntryRefusal, RootFolder } from './root-folder.ts';
import { LARGE_ADVICE, NAME_BYTES_MAX, type RootLimits } from './root-limits.ts';
import type { TarEntry } from './tar-reader.ts';

/** Files with this prefix say that a file of a lower layer is gone. */
const WHITEOUT_PREFIX = '.wh.';
/** Files of this name say that all is gone that lower layers have in the folder. */
const OPAQUE_NAME = '.wh..wh..opq';

const KIND_REASONS: Readonly<Record<string, string>> = {
  device: 'is a device or a pipe',
};

export class RootEntries {
  readonly folder: RootFolder;
  readonly #image: string;
  readonly #limits: RootLimits;
  #entryCount = 0;

  /** `path`: an empty folder. `image`: name of the image, for messages. */
  constructor(path: string, image: string, limits: RootLimits) {
    this.#image = image;
    this.#limits = limits;
    this.folder = new RootFolder(path, () => this.#count());
  }

  /** Number of entries that were taken, and of folders that were made above them. */
  get entryCount(): number {
    return this.#entryCount;
  }

  /** Takes an entry of a layer. Rejects with SVC_IMAGE_LAYER_UNSAFE, SVC_IMAGE_TOO_LARGE, and errors of the file system. */
  async take(entry: TarEntry, layer: number): Promise<void> {
    this.#count();
    this.folder.layer = layer;
    try {
      await this.#apply(entry);
    } catch (error) {
      if (!(error instanceof EntryRefusal)) throw error;
      throw new ImageError(
        'SVC_IMAGE_LAYER_UNSAFE',
        `A layer of the image ${this.#image} has the entry ${shown(entry.path)}, which ${error.message}. ` +
          'Build the image again without it.',
      );
    }
  }

  async #apply(entry: TarEntry): Promise<void> {
    const { kind, path, mode, size } = entry;
    if (kind !== 'file' && size > 0) throw new EntryRefusal('has content and is no file');
    const names = this.#namesOf(path);
    const name = names.at(-1);
    if (name === undefined) {
      if (kind !== 'directory') throw new EntryRefusal('is the root and no folder');
      return;
    }
    if (names.some((one) => one.startsWith(WHITEOUT_PREFIX))) return await this.#hide(names, kind);
    if (mode === undefined) throw new EntryRefusal('has permissions that are no octal number');
    if (kind === 'file' && path.endsWith('/'))
      throw new EntryRefusal('is a file named as a folder');
    if (kind === 'directory') await this.folder.putFolder(names, mode);
    else if (kind === 'file') await this.folder.putFile(names, { ...entry, mode });
    else if (kind === 'symbolic-link') await this.folder.putLink(names, this.#target(entry));
    else if (kind === 'hard-link') {
      const target = this.#namesOf(this.#target(entry));
      await this.folder.putHardLink(names, target);
    } else throw new EntryRefusal(KIND_REASONS[kind] ?? 'is of a kind that svc does not unpack');
  }

  async #hide(names: readonly string[], kind: TarEntry['kind']): Promise<void> {
    const above = names.slice(0, -1);
    const name = names.at(-1)!;
    const hidden = name.slice(WHITEOUT_PREFIX.length);
    const isBelow = above.some((one) => one.startsWith(WHITEOUT_PREFIX));
    if (isBelow || kind !== 'file')
      throw new EntryRefusal('has the name of a whiteout, and is no file');
    if (name === OPAQUE_NAME) return await this.folder.hideContent(above);
    if (['', '.', '..'].includes(hidden) || hidden.startsWith(WHITEOUT_PREFIX))
      throw new EntryRefusal('is a whiteout of no file');
    await this.folder.hide([...above, hidden]);
  }

  /** Returns the names of a path from the root, as which runtimes of containers take every path; none for the root. */
  #namesOf(path: string): readonly string[] {
    if (path.includes('\0')) throw new EntryRefusal('has a zero byte in a path');
    const names = path.split('/').filter((name) => name !== '' && name !== '.');
    if (names.includes('..')) throw new EntryRefusal('leads out of the image');
    if (names.length > this.#limits.depthMax)
      throw new EntryRefusal(`is below more than ${this.#limits.depthMax} folders`);
    if (names.some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX))
      throw new EntryRefusal(`has a name of more than ${NAME_BYTES_MAX} bytes`);
    return names;
  }

  #target({ target }: TarEntry): string {
    if (target === undefined || target === '' || target.includes('\0'))
      throw new EntryRefusal('is a link to no path');
    return target;
  }

  #count(): void {
    if (++this.#entryCount > this.#limits.entriesMax)
      throw new ImageError(
        'SVC_IMAGE_TOO_LARGE',
        `The image ${this.#image} has more than ${this.#limits.entriesMax} entries. ${LARGE_ADVICE}`,
      );
  }
}

function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
