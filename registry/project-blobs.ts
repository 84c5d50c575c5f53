// ProjectBlobs: the blobs of a project and the uploads that become blobs, as files.
//
// Invariant: a file in blobs/ has the digest of its name, and is on disk. It was checked before it got the name.
import { randomUUID } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isServiceName } from '@svc/client';
import { type Digest, isDigest } from '@svc/oci/digest';
import { BlobUpload } from './blob-upload.ts';
import { makeFolder, renameDurably } from '@svc/kit/durable-file';
import type { ProjectUsage } from './project-usage.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistrySection } from './registry-section.ts';

export type BlobLimits = Pick<
  RegistrySection,
  'blobBytesMax' | 'projectUploadsMax' | 'uploadExpiryMs' | 'unreferencedMs'
>;

export interface ProjectBlobsOptions {
  /** Folder of the project. */
  readonly folder: string;
  readonly limits: BlobLimits;
  readonly nowMs: () => number;
}

const BLOBS = 'blobs';
const UPLOADS = 'uploads';
const UPLOAD_NAME = /^([a-z0-9-]+)\.([0-9a-f-]{36})$/;

export class ProjectBlobs {
  readonly #options: ProjectBlobsOptions;
  readonly #usage: ProjectUsage;
  readonly #uploads = new Map<string, BlobUpload>();

  private constructor(options: ProjectBlobsOptions, usage: ProjectUsage) {
    this.#options = options;
    this.#usage = usage;
  }

  /** Number of bytes of all files, before one is used. */
  static async bytesIn(folder: string): Promise<number> {
    let bytes = 0;
    for (const name of [BLOBS, UPLOADS]) {
      await makeFolder(join(folder, name));
      for (const file of await readdir(join(folder, name)))
        bytes += (await stat(join(folder, name, file))).size;
    }
    return bytes;
  }

  /** Opens the folder, with the uploads that a process before has left. `usage` counts their bytes already. */
  static async open(options: ProjectBlobsOptions, usage: ProjectUsage): Promise<ProjectBlobs> {
    const blobs = new ProjectBlobs(options, usage);
    const folder = join(options.folder, UPLOADS);
    for (const name of await readdir(folder)) {
      const [, service = '', id = ''] = UPLOAD_NAME.exec(name) ?? [];
      if (!isServiceName(service)) continue;
      const { size, mtimeMs } = await stat(join(folder, name));
      blobs.#uploads.set(id, new BlobUpload(blobs.#uploadOptions(service, id), size, mtimeMs));
    }
    return blobs;
  }

  /** Returns the number of bytes of a blob; undefined if there is none. */
  async sizeOf(digest: Digest): Promise<number | undefined> {
    const found = await stat(this.#pathOf(digest)).catch(absent);
    return found?.size;
  }

  /** Has a blob count as new, so that it is kept until a manifest can refer to it. Returns its size; undefined if there is none. */
  async renew(digest: Digest): Promise<number | undefined> {
    const size = await this.sizeOf(digest);
    const now = new Date(this.#options.nowMs());
    if (size !== undefined) await utimes(this.#pathOf(digest), now, now);
    return size;
  }

  read(digest: Digest): ReadStream {
    return createReadStream(this.#pathOf(digest));
  }

  /** Rejects with TOOMANYREQUESTS if the project has as many uploads as it may have. */
  async begin(service: string): Promise<BlobUpload> {
    const { projectUploadsMax } = this.#options.limits;
    if (this.#uploads.size >= projectUploadsMax)
      throw new RegistryError(
        429,
        'TOOMANYREQUESTS',
        `the project has ${projectUploadsMax} unfinished uploads (svc.registry.project-uploads-max): finish one, or wait until they expire`,
        { 'retry-after': '60' },
      );
    const upload = new BlobUpload(this.#uploadOptions(service, randomUUID()), 0);
    this.#uploads.set(upload.id, upload);
    try {
      await (await open(upload.file, 'wx', 0o600)).close();
    } catch (error) {
      this.#uploads.delete(upload.id);
      throw error;
    }
    return upload;
  }

  /** Finds an upload to the repository of a service. Throws BLOB_UPLOAD_UNKNOWN, also for one to another repository. */
  upload(service: string, id: string): BlobUpload {
    const upload = this.#uploads.get(id);
    if (upload === undefined || upload.service !== service)
      throw new RegistryError(
        404,
        'BLOB_UPLOAD_UNKNOWN',
        'there is no such upload to this repository',
      );
    return upload;
  }

  /** Makes a blob of an upload. Rejects with DIGEST_INVALID, which ends the upload. */
  async finish(upload: BlobUpload, digest: Digest): Promise<void> {
    try {
      await upload.complete(digest);
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'DIGEST_INVALID')
        await this.discard(upload);
      throw error;
    }
    this.#uploads.delete(upload.id);
    // The same blob may have been sent twice at once: the second copy gives its bytes back.
    if ((await this.sizeOf(digest)) !== undefined) await upload.discard();
    else await renameDurably(upload.file, this.#pathOf(digest));
  }

  async discard(upload: BlobUpload): Promise<void> {
    this.#uploads.delete(upload.id);
    await upload.discard();
  }

  /** Deletes uploads that have expired, and blobs that are in no manifest and whose time is over. Resolves with the number. */
  async sweep(isReferenced: (digest: Digest) => boolean): Promise<number> {
    const { nowMs, limits, folder } = this.#options;
    let count = 0;
    for (const upload of this.#uploads.values()) {
      if (upload.isBusy || nowMs() - upload.touchedAtMs < limits.uploadExpiryMs) continue;
      await this.discard(upload);
      count += 1;
    }
    for (const name of await readdir(join(folder, BLOBS))) {
      const digest = name.replace('-', ':');
      if (!isDigest(digest) || isReferenced(digest)) continue;
      const { mtimeMs, size } = await stat(join(folder, BLOBS, name));
      if (nowMs() - mtimeMs < limits.unreferencedMs) continue;
      await rm(join(folder, BLOBS, name));
      this.#usage.releaseBytes(size);
      count += 1;
    }
    return count;
  }

  #uploadOptions(service: string, id: string) {
    const { folder, limits, nowMs } = this.#options;
    return {
      id,
      service,
      file: join(folder, UPLOADS, `${service}.${id}`),
      usage: this.#usage,
      blobBytesMax: limits.blobBytesMax,
      nowMs,
    };
  }

  #pathOf(digest: Digest): string {
    return join(this.#options.folder, BLOBS, digest.replace(':', '-'));
  }
}

/** Returns undefined for the error of a file that is not there, and throws every other one. */
export function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}
