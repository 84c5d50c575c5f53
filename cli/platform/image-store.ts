// ImageStore: where the images of an installation are, as far as the command line writes them.
//
// Invariant: an image has the same reference each time, and is not written where it is already.
import { join } from 'node:path';
import type { ServiceKey } from '@svc/client';
import { ImageError } from '@svc/oci/image-error';
import type { BuiltImage } from '@svc/oci/module-image';
import { CommandFailure } from '../command.ts';
import { ProgressLine } from '../progress-line.ts';
import type { ImageFolder } from './image-folder.ts';
import type { Platform } from './platform.ts';
import { registryClientFor, registryOf } from './registry-access.ts';

export interface ImageStore {
  /** Returns the name under which the control plane finds the image of a service. */
  referenceOf(image: BuiltImage, service: ServiceKey): string;
  /** Writes the image, and resolves with true; with false if it is there already. */
  store(image: BuiltImage, service: ServiceKey): Promise<boolean>;
}

/** Number of hexadecimal digits of an image's digest that are its tag. */
const TAG_LENGTH = 16;
/** Which manifest of an image that is there already is read; the module is the same in all. */
const ARCHITECTURE = 'amd64';

/** Finds the store of an installation: the folder of its context, otherwise its registry. Throws SVC_CONTEXT_INVALID. */
export function imageStoreOf(platform: Platform): ImageStore {
  const { images, url } = platform.target;
  if (images !== undefined) return new FolderStore(images);
  const host = registryOf(url);
  if (host !== undefined) return new RegistryStore(platform, host);
  throw new CommandFailure(
    'SVC_CONTEXT_INVALID',
    `It is not known where images for ${url} go: only a control plane at api. of a base domain has a registry beside it. Name a ` +
      'folder with svc context set NAME --images NAME=DIR, or push an image yourself and name it in service.yaml.',
  );
}

/** Returns the tag of an image: equal images have equal tags. */
export function tagOf({ root }: BuiltImage): string {
  return root.digest.slice(root.digest.indexOf(':') + 1).slice(0, TAG_LENGTH);
}

/** A folder of this machine, from which the control plane reads layouts. A service has one layout, with its last image. */
class FolderStore implements ImageStore {
  readonly #name: string;
  readonly #folder: string;

  constructor({ name, folder }: ImageFolder) {
    this.#name = name;
    this.#folder = folder;
  }

  referenceOf(image: BuiltImage, { project, service }: ServiceKey): string {
    return `oci:${this.#name}/${project}/${service}:${tagOf(image)}`;
  }

  async store(image: BuiltImage, { project, service }: ServiceKey): Promise<boolean> {
    const layout = join(this.#folder, project, service);
    const tag = tagOf(image);
    if (await isStored(image, layout, tag)) return false;
    const { writeLayoutFolder } = await import('@svc/oci/image-files');
    await writeLayoutFolder(image, tag, layout);
    return true;
  }
}

/** The registry of the installation, where each service has a repository. */
class RegistryStore implements ImageStore {
  readonly #platform: Platform;
  readonly #host: string;

  constructor(platform: Platform, host: string) {
    this.#platform = platform;
    this.#host = host;
  }

  referenceOf(image: BuiltImage, { project, service }: ServiceKey): string {
    return `${this.#host}/${project}/${service}:${tagOf(image)}`;
  }

  async store(image: BuiltImage, service: ServiceKey): Promise<boolean> {
    const { builtImageSource } = await import('@svc/oci/built-image-source');
    const { parseRegistryReference } = await import('@svc/oci/image-reference');
    const { openRegistryImage } = await import('@svc/oci/registry-image');
    const { pushImage } = await import('@svc/oci/registry-push');
    const name = this.referenceOf(image, service);
    const reference = parseRegistryReference(name);
    await using client = await registryClientFor(reference, { platform: this.#platform });
    const digest = await openRegistryImage(reference, client).then(
      ({ root }) => root.digest,
      (error: unknown) => {
        if (error instanceof ImageError && error.code === 'SVC_IMAGE_MISSING') return undefined;
        throw error;
      },
    );
    if (digest === image.root.digest) return false;
    const progress = new ProgressLine();
    try {
      await pushImage(builtImageSource(image, name), reference, {
        client,
        onStep: ({ bytes }) => progress.show(bytes.done, bytes.all, 'bytes'),
      });
    } finally {
      progress.clear();
    }
    return true;
  }
}

/** Returns whether the layout has the image, whole and undamaged. */
async function isStored({ root }: BuiltImage, layout: string, tag: string): Promise<boolean> {
  const { openLayoutFolder } = await import('@svc/oci/layout-folder');
  const { readModule } = await import('@svc/oci/module-reader');
  try {
    const source = await openLayoutFolder(layout, { tag });
    if (source.root.digest !== root.digest) return false;
    await readModule(source, ARCHITECTURE);
    return true;
  } catch (error) {
    if (error instanceof ImageError) return false;
    throw error;
  }
}
