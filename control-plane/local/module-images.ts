// ModuleImages: finds the image that a descriptor names, reads the module out of it, and keeps it under its digest. Nothing of an
// image is run.
//
// Invariant: a tag is resolved once for each call. The module is that of the digest which the call returns.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceDescriptor } from '@svc/client';
import { ImageError } from '@svc/oci/image-error';
import { type LayoutReference, parseImageReference } from '@svc/oci/image-reference';
import { openLayoutFolder } from '@svc/oci/layout-folder';
import { readModule, type ModuleOfImage } from '@svc/oci/module-reader';
import { ImageRegistries, type RegistryTimes } from './image-registries.ts';
import type { ImageResult, ImageSource, ImageWish } from './local-machine.ts';
import type { RegistrySettings } from './registry-settings.ts';

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
  readonly registries: RegistrySettings;
  readonly section: RegistryTimes;
}

export class ModuleImages implements ImageSource {
  readonly #folder: string;
  readonly #imageFolders: ReadonlyMap<string, string>;
  readonly #registries: ImageRegistries;

  constructor({ folder, imageFolders, registries, section }: ModuleImagesOptions) {
    this.#folder = folder;
    this.#imageFolders = imageFolders;
    this.#registries = new ImageRegistries(registries, section);
  }

  async resolve({ key, descriptor }: ImageWish, signal: AbortSignal): Promise<ImageResult> {
    try {
      const module = await this.#read(descriptor.image, key.project, signal);
      const refusal = protocolRefusal(descriptor, module);
      if (refusal !== undefined) return { kind: 'failed', reason: refusal, isFinal: true };
      const moduleFile = await this.#store(module);
      return { kind: 'found', image: { digest: module.image, moduleFile } };
    } catch (error) {
      signal.throwIfAborted();
      const { message, code } = error as NodeJS.ErrnoException;
      const isFinal = error instanceof ImageError && !TRANSIENT.has(error.code);
      const reason = `cannot read the image ${descriptor.image}: ${code ?? ''} ${message}`;
      return { kind: 'failed', reason, isFinal };
    }
  }

  async #read(image: string, project: string, signal: AbortSignal): Promise<ModuleOfImage> {
    const reference = parseImageReference(image);
    if (reference.kind === 'layout') return await this.#readLayout(reference);
    return await this.#registries.read(reference, project, {
      signal,
      read: async (source) => await readModule(source, ARCHITECTURE),
    });
  }

  async #readLayout({ folder: name, path, ...wanted }: LayoutReference): Promise<ModuleOfImage> {
    const folder = this.#imageFolders.get(name);
    if (folder === undefined)
      throw new ImageError(
        'SVC_IMAGE_MISSING',
        `The operator of this installation has named no folder ${name} for images (svc.local.image-folders).`,
      );
    return await readModule(await openLayoutFolder(join(folder, path), wanted), ARCHITECTURE);
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
