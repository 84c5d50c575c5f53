// NamedImages: opens the image that a descriptor names, in a registry or in a layout of the operator, and says in which words
// a failure is reported.
import { join } from 'node:path';
import { isDigest } from '@svc/oci/digest';
import { ImageError } from '@svc/oci/image-error';
import {
  type ImageReference,
  type LayoutReference,
  parseImageReference,
} from '@svc/oci/image-reference';
import type { ImageSource as OpenImage } from '@svc/oci/image-source';
import { openLayoutFolder } from '@svc/oci/layout-folder';
import { ImageRegistries, type RegistryTimes } from './image-registries.ts';
import type { ImageResult } from './local-machine.ts';
import type { RegistrySettings } from './registry-settings.ts';
import { shownFailure } from './shown-failure.ts';

/** The architecture of this machine, by the name that images have for it. */
export const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
/** Failures that may go by themselves: a registry that is down, a full disk. An image that is missing is there after another apply. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'SVC_REGISTRY_UNAVAILABLE',
  'SVC_IMAGE_UNWRITABLE',
  'SVC_IMAGE_FOLDER_FULL',
]);

export interface NamedImagesOptions {
  /** Folders of the operator in which layouts may be, by the name that images give them. */
  readonly imageFolders: ReadonlyMap<string, string>;
  readonly registries: RegistrySettings;
  readonly section: RegistryTimes;
}

export interface ImageReading<Value> {
  readonly signal: AbortSignal;
  /** Reads the image, before its connections are closed. */
  readonly read: (image: OpenImage) => Promise<Value>;
}

export class NamedImages {
  readonly #imageFolders: ReadonlyMap<string, string>;
  readonly #registries: ImageRegistries;

  constructor({ imageFolders, registries, section }: NamedImagesOptions) {
    this.#imageFolders = imageFolders;
    this.#registries = new ImageRegistries(registries, section);
  }

  /** Opens an image for a service of a project, and reads it. Rejects with ImageError. */
  async read<Value>(
    reference: ImageReference,
    project: string,
    reading: ImageReading<Value>,
  ): Promise<Value> {
    if (reference.kind === 'registry')
      return await this.#registries.read(reference, project, reading);
    return await reading.read(await this.#openLayout(reference));
  }

  async #openLayout({ folder: name, path, ...wanted }: LayoutReference): Promise<OpenImage> {
    const folder = this.#imageFolders.get(name);
    if (folder === undefined)
      throw new ImageError(
        'SVC_IMAGE_MISSING',
        `The operator of this installation has named no folder ${name} for images (svc.local.image-folders).`,
      );
    return await openLayoutFolder(join(folder, path), wanted, `oci:${name}/${path}`);
  }
}

/** Returns what a name means. `digest`: the digest that was found for it before. Throws SVC_IMAGE_REFERENCE_INVALID. */
export function wantedReference(name: string, digest: string | undefined): ImageReference {
  const named = parseImageReference(name);
  return isDigest(digest) ? { ...named, digest } : named;
}

/** Returns the result for an image that could not be read. */
export function failedImage(
  name: string,
  error: unknown,
): Extract<ImageResult, { readonly kind: 'failed' }> {
  const isFinal = error instanceof ImageError && !TRANSIENT.has(error.code);
  const reason = `cannot read the image ${name}: ${shownFailure(error)}`;
  return { kind: 'failed', reason, isFinal };
}
