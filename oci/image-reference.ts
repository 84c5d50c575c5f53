// ImageReference: the name of an image in its parts. There is one grammar, that of @svc/client, for descriptors and for commands.
import { imageProblem } from '@svc/client';
import { type Digest, isDigest } from './digest.ts';
import { ImageError } from './image-error.ts';

/** An image in a registry. */
export interface RegistryReference {
  readonly kind: 'registry';
  /** Host and port of the registry as they are written, such as `localhost:5000`; in lower case. */
  readonly host: string;
  /** Path of the repository, such as `shop/cart`. */
  readonly repository: string;
  /** `latest` if the name has neither tag nor digest; undefined if it has a digest alone. */
  readonly tag: string | undefined;
  /** Decides which image is meant if it is given, whatever the tag names. */
  readonly digest: Digest | undefined;
}

/** An image in a layout below a folder that the operator has named. */
export interface LayoutReference {
  readonly kind: 'layout';
  /** Name of the folder. */
  readonly folder: string;
  /** Path of the layout in the folder, which does not lead out of it. */
  readonly path: string;
  readonly tag: string | undefined;
  readonly digest: Digest | undefined;
}

export type ImageReference = RegistryReference | LayoutReference;

/** The registry of names without a host, as Docker reads them, and the prefix of its names with one part. */
const DOCKER_HUB = 'docker.io';
const DOCKER_HUB_LIBRARY = 'library';
const TAG_DEFAULT = 'latest';
const LAYOUT_PREFIX = 'oci:';

/** Parses the name of an image. Throws SVC_IMAGE_REFERENCE_INVALID. */
export function parseImageReference(text: string): ImageReference {
  const problem = imageProblem(text);
  if (problem !== undefined)
    throw new ImageError(
      'SVC_IMAGE_REFERENCE_INVALID',
      `The name of the image ${JSON.stringify(text)} ${problem}.`,
    );
  const at = text.indexOf('@');
  const digest = at === -1 ? undefined : text.slice(at + 1);
  const named = at === -1 ? text : text.slice(0, at);
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1);
  const name = colon === -1 ? named : named.slice(0, colon);
  const tag = colon === -1 ? undefined : named.slice(colon + 1);
  const ending = { tag, digest: isDigest(digest) ? digest : undefined };
  if (name.startsWith(LAYOUT_PREFIX) && name.includes('/')) {
    const [folder = '', ...path] = name.slice(LAYOUT_PREFIX.length).split('/');
    return { kind: 'layout', folder, path: path.join('/'), ...ending };
  }
  const isUnnamed = tag === undefined && digest === undefined;
  return {
    kind: 'registry',
    ...hostAndRepository(name),
    ...ending,
    ...(isUnnamed ? { tag: TAG_DEFAULT } : {}),
  };
}

/** Parses the name of an image in a registry. Throws SVC_IMAGE_REFERENCE_INVALID. */
export function parseRegistryReference(text: string): RegistryReference {
  const reference = parseImageReference(text);
  if (reference.kind === 'registry') return reference;
  throw new ImageError(
    'SVC_IMAGE_REFERENCE_INVALID',
    `${text} is a layout, and a registry is needed: write a name such as registry.example.com/shop/cart:4.`,
  );
}

/** Returns the name of an image in a registry, as parseImageReference takes it. */
export function registryReferenceText({
  host,
  repository,
  tag,
  digest,
}: Omit<RegistryReference, 'kind'>): string {
  const ending = `${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
  return `${host}/${repository}${ending}`;
}

function hostAndRepository(name: string): { readonly host: string; readonly repository: string } {
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  if (/[.:A-Z]/.test(first) || first === 'localhost')
    return { host: first.toLowerCase(), repository: name.slice(slash + 1) };
  return {
    host: DOCKER_HUB,
    repository: slash === -1 ? `${DOCKER_HUB_LIBRARY}/${name}` : name,
  };
}
