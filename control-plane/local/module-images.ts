// ModuleImages: finds the image that a descriptor names, reads the module out of it, and keeps it under its digest. Nothing of an
// image is run.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceDescriptor } from '@svc/client';
import { ImageError } from '@svc/oci/image-error';
import type { ImageSource as OciImage } from '@svc/oci/image-source';
import { openLayoutFolder } from '@svc/oci/layout-folder';
import { readModule, type ModuleOfImage } from '@svc/oci/module-reader';
import type { ImageResult, ImageSource } from './local-machine.ts';

/** Failures that may go by themselves: a registry that is down, an image that is not there yet, a full disk. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'SVC_IMAGE_MISSING',
  'SVC_REGISTRY_UNAVAILABLE',
  'SVC_IMAGE_UNWRITABLE',
]);
/** Which manifest of an index is read; the module is the same in all. */
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

export interface ModuleImagesOptions {
  /** Folder of the modules, `<hex>.wasm`. */
  readonly folder: string;
  /** Folders of the operator in which layouts may be, by the name that images give them. */
  readonly imageFolders: ReadonlyMap<string, string>;
}

export class ModuleImages implements ImageSource {
  readonly #folder: string;
  readonly #imageFolders: ReadonlyMap<string, string>;

  constructor({ folder, imageFolders }: ModuleImagesOptions) {
    this.#folder = folder;
    this.#imageFolders = imageFolders;
  }

  async resolve(descriptor: ServiceDescriptor): Promise<ImageResult> {
    try {
      const source = await this.#open(descriptor.image);
      const module = await readModule(source, ARCHITECTURE);
      const refusal = protocolRefusal(descriptor, module);
      if (refusal !== undefined) return { kind: 'failed', reason: refusal, isFinal: true };
      const moduleFile = await this.#store(module);
      return { kind: 'found', image: { digest: module.image, moduleFile } };
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      const isFinal = error instanceof ImageError && !TRANSIENT.has(error.code);
      const reason = `cannot read the image ${descriptor.image}: ${code ?? ''} ${message}`;
      return { kind: 'failed', reason, isFinal };
    }
  }

  async #open(image: string): Promise<OciImage> {
    const layout = /^oci:([^/:]+)\/([^:@]+)(?::([^@]+))?$/.exec(image);
    if (layout === null)
      throw new ImageError(
        'SVC_IMAGE_MISSING',
        `This installation reads images of layouts, such as oci:images/cart, and ${image} is in a registry.`,
      );
    const [, name = '', path = '', tag] = layout;
    const folder = this.#imageFolders.get(name);
    if (folder === undefined)
      throw new ImageError(
        'SVC_IMAGE_MISSING',
        `The operator of this installation has named no folder ${name} for images (svc.local.image-folders).`,
      );
    return await openLayoutFolder(join(folder, path), tag);
  }

  /** Writes the module, unless it is there. Returns its file, once it is on disk. */
  async #store({ digest, bytes }: ModuleOfImage): Promise<string> {
    const hex = digest.slice(digest.indexOf(':') + 1);
    const file = join(this.#folder, `${hex}.wasm`);
    if (existsSync(file)) return file;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.new`;
    try {
      const handle = await open(unfinished, 'w', 0o600);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    return file;
  }
}

/** The label says which version of the WIT package the module speaks; an image without it is judged by the runtime. */
function protocolRefusal(
  { protocol, image }: ServiceDescriptor & { readonly protocol?: string },
  { label }: ModuleOfImage,
): string | undefined {
  if (label === undefined || protocol === undefined || label.protocol === protocol)
    return undefined;
  return `the image ${image} has a module of the protocol ${label.protocol}, and the descriptor declares ${protocol}`;
}
