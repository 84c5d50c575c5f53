// RegistryImage: an image in a registry. Its name is resolved once, when it is opened; all that is read later is named by digests that
// follow from what was found then.
import { createHash } from 'node:crypto';
import { type Chunks, type Digest, digestOf, partsOf } from './digest.ts';
import { ImageError } from './image-error.ts';
import { type Descriptor, invalid, parseObject } from './image-json.ts';
import { MANIFEST_BYTES_MAX } from './image-limits.ts';
import { type RegistryReference, registryReferenceText } from './image-reference.ts';
import type { ImageSource } from './image-source.ts';
import { ROOT_TYPES } from './media-types.ts';
import type { RegistryClient, RepositorySession } from './registry-client.ts';
import { invalidAnswer, type RegistryAnswer } from './registry-transport.ts';

/** Opens an image. `signal`: ends all reading of it. Rejects with ImageError, and with the signal's reason. */
export async function openRegistryImage(
  reference: RegistryReference,
  client: RegistryClient,
  signal?: AbortSignal,
): Promise<ImageSource> {
  const name = registryReferenceText(reference);
  const session = await client.open(reference, 'pull', signal);
  const { root, bytes } = await resolveRoot(session, reference, name);
  return {
    name,
    root,
    open: (descriptor, kind) =>
      kind === 'manifest' && descriptor.digest === root.digest
        ? once(bytes)
        : readFrom(session, kind === 'manifest' ? 'manifests' : 'blobs', descriptor, name),
  };
}

interface ResolvedRoot {
  readonly root: Descriptor;
  readonly bytes: Uint8Array;
}

async function resolveRoot(
  session: RepositorySession,
  { tag, digest }: RegistryReference,
  name: string,
): Promise<ResolvedRoot> {
  const answer = await session.send({
    method: 'GET',
    path: `manifests/${digest ?? tag!}`,
    headers: { accept: ROOT_TYPES.join(', ') },
  });
  await checkFound(answer, name);
  const mediaType = (answer.header('content-type') ?? '').split(';')[0]!.trim();
  if (!ROOT_TYPES.includes(mediaType)) {
    await answer.discard();
    throw invalidAnswer(answer.url, `answers with '${mediaType}' instead of the image ${name}`);
  }
  const bytes = await bounded(answer.body, name);
  const named = digest ?? announcedDigest(answer);
  if (named !== undefined) checkDigest(bytes, named, name);
  const { mediaType: inside } = parseObject(bytes, `the manifest of ${name}`);
  if (inside !== undefined && inside !== mediaType)
    throw invalid(
      `the manifest of ${name} is sent as '${mediaType}', and says that it is '${JSON.stringify(inside)}'`,
    );
  return { root: { mediaType, digest: digest ?? digestOf(bytes), size: bytes.length }, bytes };
}

function announcedDigest(answer: RegistryAnswer): Digest | undefined {
  const announced = answer.header('docker-content-digest');
  return announced !== undefined && /^sha(?:256:[0-9a-f]{64}|512:[0-9a-f]{128})$/.test(announced)
    ? (announced as Digest)
    : undefined;
}

function checkDigest(bytes: Uint8Array, digest: Digest, name: string): void {
  const { algorithm, hex } = partsOf(digest);
  const found = createHash(algorithm).update(bytes).digest('hex');
  if (found !== hex)
    throw new ImageError(
      'SVC_IMAGE_DIGEST_MISMATCH',
      `The manifest of ${name} has the digest ${algorithm}:${found} instead of ${digest}. ` +
        'The registry, or what is between, has changed it: push the image again.',
    );
}

async function bounded(chunks: Chunks, name: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MANIFEST_BYTES_MAX)
      throw new ImageError(
        'SVC_IMAGE_TOO_LARGE',
        `The manifest of ${name} has more than ${MANIFEST_BYTES_MAX} bytes. Use an image that svc image build has made.`,
      );
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* readFrom(
  session: RepositorySession,
  folder: 'manifests' | 'blobs',
  { digest, mediaType }: Descriptor,
  name: string,
): AsyncGenerator<Uint8Array> {
  const answer = await session.send({
    method: 'GET',
    path: `${folder}/${digest}`,
    headers: { accept: folder === 'manifests' ? mediaType : '*/*', 'accept-encoding': 'identity' },
  });
  await checkFound(answer, `${name}: ${digest}`);
  yield* answer.body;
}

async function checkFound(answer: RegistryAnswer, what: string): Promise<void> {
  if (answer.status === 200) return;
  await answer.discard();
  if (answer.status === 404)
    throw new ImageError(
      'SVC_IMAGE_MISSING',
      `The registry ${answer.url.host} has no image ${what}, or does not show it. Check its name, or push it with svc image push.`,
    );
  throw invalidAnswer(answer.url, `answers ${answer.status} when it is asked for ${what}`);
}
