// ProjectImages: the images of one project: its blobs, which its repositories share, and a repository for each service.
//
// Invariants
// - A manifest is stored only when all that it refers to is there, with its size.
// - Changes of manifests, and the sweep, run one after the other: nothing is deleted to which a manifest begins to refer.
import { readdir } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isServiceName } from '@svc/client';
import { type Digest, partsOf } from '@svc/oci/digest';
import { ImageError } from '@svc/oci/image-error';
import { type Descriptor, parseIndex, parseManifest, parseObject } from '@svc/oci/image-json';
import { isIndexType, ROOT_TYPES } from '@svc/oci/media-types';
import { makeFolder } from '@svc/kit/durable-file';
import { ProjectBlobs } from './project-blobs.ts';
import { ProjectUsage } from './project-usage.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistrySection } from './registry-section.ts';
import { Serial } from './serial.ts';
import { manifestContent, type StoredManifest, StoredManifests } from './stored-manifests.ts';

export interface ProjectImagesOptions {
  /** Folder of the project. */
  readonly folder: string;
  readonly section: RegistrySection;
  readonly nowMs: () => number;
}

/** A manifest that a client sends. */
export interface SentManifest extends StoredManifest {
  /** Digest that the client names; undefined: it names a tag. */
  readonly digest: Digest | undefined;
  readonly tag: string | undefined;
}

const REPOSITORIES = 'repositories';
const HOUR_MS = 3_600_000;

export class ProjectImages {
  readonly blobs: ProjectBlobs;
  readonly usage: ProjectUsage;
  readonly #options: ProjectImagesOptions;
  readonly #serial = new Serial();

  private constructor(options: ProjectImagesOptions, blobs: ProjectBlobs, usage: ProjectUsage) {
    this.#options = options;
    this.blobs = blobs;
    this.usage = usage;
  }

  /** Opens the folder, which is made if there is none, and counts what is in it. */
  static async open(options: ProjectImagesOptions): Promise<ProjectImages> {
    const { folder, section, nowMs } = options;
    await makeFolder(join(folder, REPOSITORIES));
    let bytes = await ProjectBlobs.bytesIn(folder);
    let manifests = 0;
    for (const service of await readdir(join(folder, REPOSITORIES)))
      for (const { size } of await new StoredManifests(
        join(folder, REPOSITORIES, service),
        nowMs,
      ).recover()) {
        bytes += size;
        manifests += 1;
      }
    const usage = new ProjectUsage(section, { bytes, manifests });
    const blobs = await ProjectBlobs.open({ folder, limits: section, nowMs }, usage);
    return new ProjectImages(options, blobs, usage);
  }

  repository(service: string): StoredManifests {
    const { folder, nowMs } = this.#options;
    return new StoredManifests(join(folder, REPOSITORIES, service), nowMs);
  }

  /** Returns the size of a blob to which the caller is going to refer; undefined if there is none. */
  async renewBlob(digest: Digest): Promise<number | undefined> {
    return await this.#serial.run(async () => await this.blobs.renew(digest));
  }

  /** Stores a manifest, and then its tag. Resolves with its digest. Rejects with RegistryError. */
  async put(service: string, sent: SentManifest): Promise<Digest> {
    const digest = checkedDigest(sent);
    const references = referencesOf(sent);
    const content = manifestContent(sent);
    return await this.#serial.run(async () => {
      const repository = this.repository(service);
      for (const { descriptor, isManifest } of references)
        await this.#checkReference(repository, descriptor, isManifest);
      if ((await repository.fileSizeOf(digest)) === undefined) {
        this.usage.reserveManifest();
        try {
          this.usage.reserveBytes(content.length);
          try {
            await repository.write(digest, content);
          } catch (error) {
            this.usage.releaseBytes(content.length);
            throw error;
          }
        } catch (error) {
          this.usage.releaseManifest();
          throw error;
        }
      } else await repository.renew(digest);
      if (sent.tag !== undefined) await repository.tag(sent.tag, digest);
      return digest;
    });
  }

  /** Deletes a tag. Rejects with MANIFEST_UNKNOWN. */
  async untag(service: string, tag: string): Promise<void> {
    await this.#serial.run(async () => {
      const repository = this.repository(service);
      if ((await repository.digestOf(tag)) === undefined) throw unknownManifest();
      await repository.untag(tag);
    });
  }

  /** Deletes a manifest, the tags that name it, and the manifests of an index that nothing else names. Rejects with MANIFEST_UNKNOWN. */
  async remove(service: string, digest: Digest): Promise<void> {
    await this.#serial.run(async () => {
      const repository = this.repository(service);
      const manifest = await repository.read(digest);
      const size = await repository.fileSizeOf(digest);
      if (manifest === undefined || size === undefined) throw unknownManifest();
      for (const tag of await repository.tags())
        if ((await repository.digestOf(tag)) === digest) await repository.untag(tag);
      await this.#removeFile(repository, digest, size);
      const parts = manifestsIn(manifest);
      if (parts.length > 0) await this.#removeUnnamed(repository, parts);
    });
  }

  /** Deletes those of the manifests that no tag and no index names. */
  async #removeUnnamed(repository: StoredManifests, digests: readonly Digest[]): Promise<void> {
    const named = new Set<Digest>();
    for (const tag of await repository.tags()) {
      const digest = await repository.digestOf(tag);
      if (digest !== undefined) named.add(digest);
    }
    const files = await repository.list();
    for (const { digest } of files) {
      const manifest = await repository.read(digest);
      for (const part of manifest === undefined ? [] : manifestsIn(manifest)) named.add(part);
    }
    for (const { digest, size } of files)
      if (digests.includes(digest) && !named.has(digest))
        await this.#removeFile(repository, digest, size);
  }

  /** Deletes what is no longer needed (sweep of ProjectBlobs), and resolves with the number of files. */
  async sweep(): Promise<number> {
    return await this.#serial.run(async () => {
      let count = 0;
      const referenced = new Set<Digest>();
      for (const service of await readdir(join(this.#options.folder, REPOSITORIES)))
        if (isServiceName(service)) count += await this.#sweepRepository(service, referenced);
      return count + (await this.blobs.sweep((digest) => referenced.has(digest)));
    });
  }

  /** Deletes manifests without a tag whose time is over, and adds the blobs of the others to `referenced`. */
  async #sweepRepository(service: string, referenced: Set<Digest>): Promise<number> {
    const { nowMs, section } = this.#options;
    const repository = this.repository(service);
    const files = await repository.list();
    const kept = new Set<Digest>();
    const keep = async (digest: Digest): Promise<void> => {
      const manifest = kept.has(digest) ? undefined : await repository.read(digest);
      if (manifest === undefined) return;
      kept.add(digest);
      for (const { descriptor, isManifest } of referencesOf(manifest))
        if (isManifest) await keep(descriptor.digest);
        else referenced.add(descriptor.digest);
    };
    for (const tag of await repository.tags()) {
      const digest = await repository.digestOf(tag);
      if (digest !== undefined) await keep(digest);
    }
    for (const { digest, keptSinceMs } of files)
      if (nowMs() - keptSinceMs < section.untaggedHours * HOUR_MS) await keep(digest);
    const gone = files.filter(({ digest }) => !kept.has(digest));
    for (const { digest, size } of gone) await this.#removeFile(repository, digest, size);
    return gone.length;
  }

  async #removeFile(repository: StoredManifests, digest: Digest, size: number): Promise<void> {
    await repository.remove(digest);
    this.usage.releaseManifest();
    this.usage.releaseBytes(size);
  }

  async #checkReference(
    repository: StoredManifests,
    { digest, size }: Descriptor,
    isManifest: boolean,
  ): Promise<void> {
    const found = isManifest
      ? (await repository.read(digest))?.bytes.length
      : await this.blobs.sizeOf(digest);
    if (found === undefined)
      throw new RegistryError(
        404,
        'MANIFEST_BLOB_UNKNOWN',
        `the manifest refers to ${digest}, which is not there: send it first`,
      );
    if (found !== size)
      throw new RegistryError(
        400,
        'SIZE_INVALID',
        `the manifest says that ${digest} has ${size} bytes, and it has ${found}`,
      );
  }
}

/** Returns the manifests that an index names; none for a manifest. */
function manifestsIn(manifest: StoredManifest): readonly Digest[] {
  return referencesOf(manifest)
    .filter(({ isManifest }) => isManifest)
    .map(({ descriptor }) => descriptor.digest);
}

export function unknownManifest(): RegistryError {
  return new RegistryError(404, 'MANIFEST_UNKNOWN', 'there is no such manifest in this repository');
}

function checkedDigest({ bytes, digest }: SentManifest): Digest {
  const { algorithm, hex } =
    digest === undefined ? ({ algorithm: 'sha256', hex: undefined } as const) : partsOf(digest);
  const found = createHash(algorithm).update(bytes).digest('hex');
  if (hex !== undefined && hex !== found)
    throw new RegistryError(
      400,
      'DIGEST_INVALID',
      `the manifest has the digest ${algorithm}:${found}, not ${digest}`,
    );
  return `${algorithm}:${found}` as Digest;
}

/** Parses a manifest or an index. Throws MANIFEST_INVALID. */
function referencesOf({
  mediaType,
  bytes,
}: StoredManifest): readonly { readonly descriptor: Descriptor; readonly isManifest: boolean }[] {
  if (!ROOT_TYPES.includes(mediaType))
    throw new RegistryError(
      415,
      'MANIFEST_INVALID',
      `'${mediaType}' is the media type of no image`,
    );
  try {
    const inside = parseObject(bytes, 'the manifest')['mediaType'];
    if (inside !== undefined && inside !== mediaType)
      throw new RegistryError(
        400,
        'MANIFEST_INVALID',
        `the manifest is sent as '${mediaType}', and has another media type in it`,
      );
    if (isIndexType(mediaType))
      return parseIndex(bytes, 'the index').map((descriptor) => ({ descriptor, isManifest: true }));
    const { config, layers } = parseManifest(bytes, 'the manifest');
    return [config, ...layers].map((descriptor) => ({ descriptor, isManifest: false }));
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    throw new RegistryError(400, 'MANIFEST_INVALID', error.message);
  }
}
