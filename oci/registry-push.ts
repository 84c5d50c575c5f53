// RegistryPush: sends an image to a registry: its blobs, then its manifests, and its tag last, so that whoever reads the tag finds
// all of the image. What the registry has is not sent again. Every byte is checked while it is sent.
import { CheckedBlob } from './digest.ts';
import { ImageError } from './image-error.ts';
import { type Descriptor, invalid, parseIndex, parseManifest } from './image-json.ts';
import { type RegistryReference, registryReferenceText } from './image-reference.ts';
import { type ImageSource, manifestBytes } from './image-source.ts';
import { isIndexType, isManifestType } from './media-types.ts';
import type { RegistryClient, RepositorySession } from './registry-client.ts';
import { invalidAnswer, reasonIn, type RegistryAnswer } from './registry-transport.ts';
import { LARGE_ADVICE, ROOT_LIMITS_DEFAULT } from './root-limits.ts';

/** A blob or a manifest that is in the registry now. */
export interface PushStep {
  readonly kind: 'sent' | 'present';
  readonly descriptor: Descriptor;
  /** Bytes of the blobs of the image that are in the registry now, and of all of them. */
  readonly bytes: { readonly done: number; readonly all: number };
}

export interface PushOptions {
  readonly client: RegistryClient;
  readonly signal?: AbortSignal;
  readonly onStep?: (step: PushStep) => void;
}

export interface PushedImage {
  /** Name of the image with its digest, which names the same image for ever. */
  readonly name: string;
  readonly digest: Descriptor['digest'];
  /** Number of bytes of blobs that were sent; the others were there. */
  readonly sentBytes: number;
}

interface LoadedManifest {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
}

/** Pushes an image under the tag of the reference. Rejects with ImageError, and with the signal's reason. */
export async function pushImage(
  source: ImageSource,
  reference: RegistryReference,
  { client, signal, onStep }: PushOptions,
): Promise<PushedImage> {
  const { root } = source;
  if (reference.digest !== undefined && reference.digest !== root.digest)
    throw new ImageError(
      'SVC_IMAGE_REFERENCE_INVALID',
      `The image ${source.name} has the digest ${root.digest}, and is to be pushed as ${reference.digest}. Leave the digest out.`,
    );
  const { manifests, blobs } = await partsOfImage(source);
  const session = await client.open(reference, 'pull,push', signal);
  const all = blobs.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  let sentBytes = 0;
  const report = (kind: PushStep['kind'], descriptor: Descriptor) =>
    onStep?.({ kind, descriptor, bytes: { done, all } });
  for (const blob of blobs) {
    const kind = (await isPresent(session, blob)) ? 'present' : 'sent';
    if (kind === 'sent') await sendBlob(session, source, blob);
    done += blob.size;
    if (kind === 'sent') sentBytes += blob.size;
    report(kind, blob);
  }
  for (const { descriptor, bytes } of manifests) {
    const isRoot = descriptor.digest === root.digest;
    const name = isRoot ? (reference.tag ?? descriptor.digest) : descriptor.digest;
    await sendManifest(session, name, descriptor, bytes);
    report('sent', descriptor);
  }
  const { host, repository } = reference;
  const name = registryReferenceText({ host, repository, tag: undefined, digest: root.digest });
  return { name, digest: root.digest, sentBytes };
}

/** Loads the manifests of an image, the root last, and lists its blobs, each once. */
async function partsOfImage(source: ImageSource): Promise<{
  readonly manifests: readonly LoadedManifest[];
  readonly blobs: readonly Descriptor[];
}> {
  const { root, name } = source;
  const rootBytes = await manifestBytes(source, root);
  const loaded: LoadedManifest[] = [];
  if (isIndexType(root.mediaType)) {
    for (const descriptor of parseIndex(rootBytes, `the index of ${name}`)) {
      if (!isManifestType(descriptor.mediaType))
        throw invalid(
          `the index of ${name} has an entry of the media type '${descriptor.mediaType}'`,
        );
      loaded.push({ descriptor, bytes: await manifestBytes(source, descriptor) });
    }
  } else if (!isManifestType(root.mediaType))
    throw invalid(`the image ${name} has the media type '${root.mediaType}', which is no image`);
  const all = [...loaded, { descriptor: root, bytes: rootBytes }];
  const blobs = new Map<string, Descriptor>();
  for (const { descriptor, bytes } of isIndexType(root.mediaType) ? loaded : all) {
    const where = `the manifest ${descriptor.digest} of ${name}`;
    const { config, layers } = parseManifest(bytes, where, ROOT_LIMITS_DEFAULT.layersMax);
    for (const blob of [config, ...layers]) blobs.set(blob.digest, blob);
  }
  const packedBytes = [...blobs.values()].reduce((sum, { size }) => sum + size, 0);
  const { packedBytesMax } = ROOT_LIMITS_DEFAULT;
  if (packedBytes > packedBytesMax)
    throw new ImageError(
      'SVC_IMAGE_TOO_LARGE',
      `The image ${name} has blobs of ${packedBytes} bytes; at most ${packedBytesMax} are pushed. ${LARGE_ADVICE}`,
    );
  return { manifests: all, blobs: [...blobs.values()] };
}

async function isPresent(session: RepositorySession, { digest }: Descriptor): Promise<boolean> {
  const answer = await session.send({ method: 'HEAD', path: `blobs/${digest}` });
  await answer.discard();
  if (answer.status === 200 || answer.status === 404) return answer.status === 200;
  throw invalidAnswer(answer.url, `answers ${answer.status} when it is asked for a blob`);
}

async function sendBlob(
  session: RepositorySession,
  source: ImageSource,
  blob: Descriptor,
): Promise<void> {
  const begun = await session.send({ method: 'POST', path: 'blobs/uploads/' });
  if (begun.status !== 202) throw await notTaken(begun, 'begins no upload');
  await begun.discard();
  const url = URL.parse(begun.header('location') ?? '', begun.url);
  if (url === null) throw invalidAnswer(begun.url, 'names no URL for an upload');
  url.searchParams.set('digest', blob.digest);
  const chunks = new CheckedBlob(source.open(blob, 'blob'), blob, source.name);
  const answer = await session.send({
    method: 'PUT',
    path: url,
    headers: { 'content-type': 'application/octet-stream' },
    body: { chunks, size: blob.size },
  });
  if (answer.status !== 201) throw await notTaken(answer, `does not take the blob ${blob.digest}`);
  await answer.discard();
}

async function sendManifest(
  session: RepositorySession,
  name: string,
  { mediaType, digest }: Descriptor,
  bytes: Uint8Array,
): Promise<void> {
  const answer = await session.send({
    method: 'PUT',
    path: `manifests/${name}`,
    headers: { 'content-type': mediaType },
    body: { chunks: once(bytes), size: bytes.length },
  });
  if (answer.status !== 201) throw await notTaken(answer, `does not take the manifest ${digest}`);
  await answer.discard();
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** `what`: a clause about the registry, to which its own reason is added. */
async function notTaken(answer: RegistryAnswer, what: string): Promise<ImageError> {
  const reason = await reasonIn(answer);
  return new ImageError(
    answer.status >= 500 ? 'SVC_REGISTRY_UNAVAILABLE' : 'SVC_REGISTRY_REFUSED',
    `The registry ${answer.url.host} ${what}: ${answer.status}${reason === undefined ? '' : `, ${reason}`}. ` +
      'Check that the repository may be pushed to, and try again.',
  );
}
