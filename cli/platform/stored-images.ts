// StoredImages: the images of a project in the registry of an installation, and which services name them.
import type { ServiceStatus } from '@svc/client';
import type { Digest } from '@svc/oci/digest';
import type { ImageReference, RegistryReference } from '@svc/oci/image-reference';
import type { RegistryClient } from '@svc/oci/registry-client';
import { CommandFailure } from '../command.ts';
import { ImageError } from '@svc/oci/image-error';
import type { Platform } from './platform.ts';
import { registryClientFor, registryOf } from './registry-access.ts';

export interface StoredImage {
  readonly digest: Digest;
  /** Tags that name it. */
  readonly tags: readonly string[];
  /** Services of the project whose descriptor names it. */
  readonly services: readonly string[];
}

export interface ProjectRegistry extends AsyncDisposable {
  readonly host: string;
  readonly client: RegistryClient;
}

/** Opens the registry of the installation, with the login to it. Rejects with SVC_CONTEXT_INVALID and the errors of logins. */
export async function openRegistry(platform: Platform): Promise<ProjectRegistry> {
  const { url } = platform.target;
  const host = registryOf(url);
  if (host === undefined)
    throw new CommandFailure(
      'SVC_CONTEXT_INVALID',
      `The installation at ${url} has no registry: only a control plane at api. of a base domain has one beside it. Images in a folder are ` +
        'deleted there.',
    );
  const client = await registryClientFor({ host }, { platform });
  return { host, client, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

/** Lists the tagged images of a repository of the caller's project, in the order of their first tags. */
export async function storedImages(
  repository: RegistryReference,
  client: RegistryClient,
  statuses: readonly ServiceStatus[],
): Promise<readonly StoredImage[]> {
  const { openRegistryImage } = await import('@svc/oci/registry-image');
  const { tagsOf } = await import('@svc/oci/registry-repository');
  const found = new Map<Digest, string[]>();
  for (const tag of await tagsOf(repository, client).catch(none)) {
    const { root } = await openRegistryImage({ ...repository, tag, digest: undefined }, client);
    found.set(root.digest, [...(found.get(root.digest) ?? []), tag]);
  }
  return await Promise.all(
    [...found].map(async ([digest, tags]) => {
      const services = await servicesNaming(repository, { digest, tags }, statuses);
      return { digest, tags, services };
    }),
  );
}

/** Returns the services whose descriptors name an image of a repository. */
export async function servicesNaming(
  { host, repository }: RegistryReference,
  { digest, tags }: Pick<StoredImage, 'digest' | 'tags'>,
  statuses: readonly ServiceStatus[],
): Promise<readonly string[]> {
  const { parseImageReference } = await import('@svc/oci/image-reference');
  const isNamed = (image: ImageReference) =>
    image.kind === 'registry' &&
    image.host === host &&
    image.repository === repository &&
    (image.digest === undefined ? tags.includes(image.tag!) : image.digest === digest);
  return statuses
    .filter(({ image }) => isNamed(parseImageReference(image)))
    .map(({ name }) => name);
}

/** A registry knows no repository in which no image has a tag. */
function none(error: unknown): readonly string[] {
  if (error instanceof ImageError && error.code === 'SVC_IMAGE_MISSING') return [];
  throw error;
}
