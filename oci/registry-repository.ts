// RegistryRepository: the tags of a repository of a registry, and the deletion of its images.
import type { Digest } from './digest.ts';
import { ImageError } from './image-error.ts';
import { parseObject } from './image-json.ts';
import { MANIFEST_BYTES_MAX } from './image-limits.ts';
import type { RegistryReference } from './image-reference.ts';
import type { RegistryClient } from './registry-client.ts';
import { invalidAnswer, reasonIn, type RegistryAnswer } from './registry-transport.ts';

type Repository = Pick<RegistryReference, 'host' | 'repository'>;

/** Maximum number of tags of a repository that are listed. */
const TAGS_MAX = 1000;

/** Lists the tags of a repository in the registry's order, at most 1,000. Rejects with ImageError. */
export async function tagsOf(
  repository: Repository,
  client: RegistryClient,
): Promise<readonly string[]> {
  const session = await client.open(repository, 'pull');
  const answer = await session.send({ method: 'GET', path: `tags/list?n=${TAGS_MAX}` });
  await checkStatus(answer, 200, repository);
  const { tags } = parseObject(await bytesOf(answer), `the list of tags of ${answer.url.host}`);
  // Some registries have null for a repository without tags.
  const isList = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  if (!isList && tags !== null)
    throw invalidAnswer(answer.url, 'answers with no list of tags when it is asked for one');
  return ((tags ?? []) as readonly string[]).slice(0, TAGS_MAX);
}

/** Deletes an image with all its tags. Rejects with ImageError, such as of a registry that deletes nothing. */
export async function deleteImage(
  repository: Repository,
  digest: Digest,
  client: RegistryClient,
): Promise<void> {
  const session = await client.open(repository, 'pull,push');
  const answer = await session.send({ method: 'DELETE', path: `manifests/${digest}` });
  await checkStatus(answer, 202, repository);
  await answer.discard();
}

async function checkStatus(
  answer: RegistryAnswer,
  wanted: number,
  { host, repository }: Repository,
): Promise<void> {
  if (answer.status === wanted) return;
  const reason = await reasonIn(answer);
  const why = reason === undefined ? '' : ` (${reason})`;
  if (answer.status === 404)
    throw new ImageError(
      'SVC_IMAGE_MISSING',
      `The registry ${host} has no such image or repository ${repository}, or does not show it${why}. Check its name.`,
    );
  throw invalidAnswer(
    answer.url,
    `answers ${answer.status} for the repository ${repository}${why}`,
  );
}

async function bytesOf(answer: RegistryAnswer): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    length += chunk.length;
    if (length > MANIFEST_BYTES_MAX)
      throw invalidAnswer(answer.url, 'answers with a list of tags that is too long');
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
