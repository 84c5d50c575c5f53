// LayerFiles: the paths of an image, over all its layers, and the files of it that are modules. Nothing is written to a disk. It
// takes what the image of a module has: files and folders with plain paths, each file once. All else is refused, because images
// with it could be read in several ways, or are not images of a module.
import { basename } from 'node:path/posix';
import type { Chunks } from './digest.ts';
import { ImageError } from './image-error.ts';
import { ENTRIES_MAX, MODULE_BYTES_MAX } from './image-limits.ts';
import type { TarEntry } from './tar-reader.ts';

/** How the name of the one module of an image ends. */
export const MODULE_ENDING = '.wasm';
/** Files with this prefix say that a file of a lower layer is gone. */
const WHITEOUT_PREFIX = '.wh.';

/** Number of the layer that has a folder as an entry; undefined for a folder that is only above an entry. */
type Folder = { readonly kind: 'directory'; readonly layer: number | undefined };
type Known = { readonly kind: 'file' } | Folder;

export interface ModuleFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export class LayerFiles {
  readonly #image: string;
  readonly #known = new Map<string, Known>();
  #entryCount = 0;
  #module: ModuleFile | undefined;

  /** `image`: name of the image, for messages. */
  constructor(image: string) {
    this.#image = image;
  }

  /** The module; undefined if no layer has had one. */
  get module(): ModuleFile | undefined {
    return this.#module;
  }

  /** Takes an entry of a layer. Throws SVC_IMAGE_LAYER_UNSAFE, SVC_IMAGE_TOO_LARGE and SVC_IMAGE_NOT_A_MODULE. */
  async take({ path: written, kind, size, content }: TarEntry, layer: number): Promise<void> {
    if (++this.#entryCount > ENTRIES_MAX)
      throw this.#tooLarge(`has more than ${ENTRIES_MAX} entries`);
    if (kind !== 'file' && kind !== 'directory')
      throw this.#unsafe(
        written,
        KIND_REASONS[kind] ?? 'is of a kind that the image of a module has not',
      );
    if (kind === 'directory' && size > 0) throw this.#unsafe(written, 'is a folder with content');
    const path = this.#plainPath(written, kind);
    if (path === '') return;
    this.#add(path, kind, layer, written);
    if (kind === 'file' && path.endsWith(MODULE_ENDING))
      await this.#takeModule(path, size, content);
  }

  #plainPath(written: string, kind: 'file' | 'directory'): string {
    const path = written.replace(/^\.\//, '').replace(kind === 'directory' ? /\/$/ : /$^/, '');
    if (kind === 'directory' && (path === '' || path === '.')) return '';
    if (path.startsWith('/')) throw this.#unsafe(written, 'has an absolute path');
    if (/[\p{Cc}\\]/u.test(path))
      throw this.#unsafe(written, 'has a control character or a backslash');
    const segments = path.split('/');
    if (segments.includes('..')) throw this.#unsafe(written, 'leads out of the image');
    if (segments.includes('') || segments.includes('.'))
      throw this.#unsafe(written, 'has an empty segment');
    if (basename(path).startsWith(WHITEOUT_PREFIX))
      throw this.#unsafe(written, 'removes a file of another layer');
    return path;
  }

  #add(path: string, kind: 'file' | 'directory', layer: number, written: string): void {
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash);
      const known = this.#known.get(above);
      if (known?.kind === 'file') throw this.#unsafe(written, 'is below a file');
      if (known === undefined) this.#known.set(above, { kind: 'directory', layer: undefined });
    }
    const known = this.#known.get(path);
    // Layers repeat the folders that they add files to.
    const isRepeatedFolder =
      known?.kind === 'directory' && kind === 'directory' && known.layer !== layer;
    if (known !== undefined && !isRepeatedFolder)
      throw this.#unsafe(written, 'is in the image twice');
    this.#known.set(path, kind === 'file' ? { kind } : { kind, layer });
  }

  async #takeModule(path: string, size: number, content: Chunks): Promise<void> {
    if (this.#module !== undefined)
      throw new ImageError(
        'SVC_IMAGE_NOT_A_MODULE',
        `The image ${this.#image} has two modules, ${this.#module.path} and ${path}. Build an image for each of them.`,
      );
    if (size > MODULE_BYTES_MAX)
      throw this.#tooLarge(`has a module of ${size} bytes; at most ${MODULE_BYTES_MAX} are read`);
    const parts: Uint8Array[] = [];
    for await (const part of content) parts.push(Buffer.from(part));
    this.#module = { path, bytes: Buffer.concat(parts) };
  }

  #unsafe(path: string, reason: string): ImageError {
    return new ImageError(
      'SVC_IMAGE_LAYER_UNSAFE',
      `A layer of the image ${this.#image} has the entry ${JSON.stringify(path)}, which ${reason}. ` +
        'Build the image with svc image build, or with images/module.Dockerfile.',
    );
  }

  #tooLarge(what: string): ImageError {
    return new ImageError(
      'SVC_IMAGE_TOO_LARGE',
      `The image ${this.#image} ${what}. Use an image that has the module alone.`,
    );
  }
}

const KIND_REASONS: Readonly<Record<string, string>> = {
  'hard-link': 'is a link',
  'symbolic-link': 'is a link',
  device: 'is a device or a pipe',
};
