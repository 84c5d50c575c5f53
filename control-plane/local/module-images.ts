// ModuleImages: finds the image that a descriptor names, reads the module out of it, and keeps it under its digest. Nothing of an
// image is run.
//
// Invariants
// - A tag is resolved once for each call. The module is that of the digest which the call returns.
// - Blobs are read only if the service does not have the module of that digest yet.
// - A reason says nothing of the machine's own paths.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceDescriptor } from '@svc/client';
import { syncFolder } from '@svc/kit/synced-folder';
import { ImageError } from '@svc/oci/image-error';
import { readModule, type ModuleOfImage } from '@svc/oci/module-reader';
import type { ImageResult, ImageSource, ImageWish } from './local-machine.ts';
import {
  ARCHITECTURE,
  failedImage,
  NamedImages,
  type NamedImagesOptions,
  wantedReference,
} from './named-images.ts';
import type { ResolvedImage } from './service-record.ts';

export interface ModuleImagesOptions extends NamedImagesOptions {
  /** Folder of the modules, `<hex>.wasm`. */
  readonly folder: string;
}

export class ModuleImages implements ImageSource {
  readonly #folder: string;
  readonly #images: NamedImages;

  constructor({ folder, ...options }: ModuleImagesOptions) {
    this.#folder = folder;
    this.#images = new NamedImages(options);
  }

  isKept({ moduleFile }: ResolvedImage): boolean {
    return moduleFile !== undefined && existsSync(moduleFile);
  }

  async resolve(wish: ImageWish, signal: AbortSignal): Promise<ImageResult> {
    const { key, descriptor, digest } = wish;
    const { image: name } = descriptor;
    try {
      const reference = wantedReference(name, digest);
      const former = this.#usable(wish);
      // A name with a digest always means the same image.
      if (former?.name === name && reference.digest !== undefined)
        return { kind: 'found', image: former };
      return await this.#images.read(reference, key.project, {
        signal,
        // The module is the same for all architectures.
        read: async (source) =>
          source.root.digest === former?.digest
            ? { kind: 'found', image: { ...former, name } }
            : await this.#keep(await readModule(source, ARCHITECTURE), descriptor),
      });
    } catch (error) {
      signal.throwIfAborted();
      return failedImage(name, error);
    }
  }

  /**
   * Returns the former image if its module is still there, if all is known of its label, and if the descriptor does not declare another
   * protocol than that.
   */
  #usable({ former, descriptor }: ImageWish): ResolvedImage | undefined {
    if (former?.name === undefined || !this.isKept(former)) return undefined;
    const { protocol, runtime } = former;
    if (protocol === undefined) return former;
    // A record of an earlier version lacks the version of svc.
    return runtime === undefined || isOtherProtocol(descriptor, protocol) ? undefined : former;
  }

  /** Keeps the module, if the descriptor declares no other protocol than the label of its image. */
  async #keep(module: ModuleOfImage, descriptor: ServiceDescriptor): Promise<ImageResult> {
    const { image: digest, label } = module;
    const { image: name } = descriptor;
    if (label !== undefined && isOtherProtocol(descriptor, label.protocol)) {
      const reason = `the image ${name} has a module of the protocol ${label.protocol}, and the descriptor declares another one`;
      return { kind: 'failed', reason, isFinal: true };
    }
    const moduleFile = await this.#store(module);
    const ofLabel = label && { protocol: label.protocol, runtime: label.runtime };
    return { kind: 'found', image: { digest, moduleFile, name, ...ofLabel } };
  }

  /** Writes the module, unless it is there. Returns its file, once it is on disk. */
  async #store({ digest, bytes }: ModuleOfImage): Promise<string> {
    const hex = digest.slice(digest.indexOf(':') + 1);
    const file = join(this.#folder, `${hex}.wasm`);
    if (existsSync(file)) return file;
    const unfinished = `${file}.${randomBytes(6).toString('hex')}.new`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const handle = await open(unfinished, 'w', 0o600);
      try {
        await handle.writeFile(bytes);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(unfinished, file);
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {});
      const { code } = error as NodeJS.ErrnoException;
      throw new ImageError(
        'SVC_IMAGE_UNWRITABLE',
        `Its module cannot be kept on the machine of the control plane (${code}). Its operator has to make room, or to check the folder of the modules; it is tried again.`,
        { cause: error },
      );
    }
    return file;
  }
}

/** The label says which version of the WIT package the module speaks; an image without it is judged by the runtime. */
function isOtherProtocol(
  { protocol }: ServiceDescriptor & { readonly protocol?: string },
  ofImage: string,
): boolean {
  return protocol !== undefined && protocol !== ofImage;
}
