// BlobUpload: a blob that is being sent to a repository, in one request or several. It is a file that grows, and becomes a blob when
// its digest is right.
//
// Invariants
// - One request writes at a time, at the end of what is there.
// - The bytes are hashed while they pass; what is hashed is what was written.
// - Nothing is added once the digest was right.
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { type Digest, partsOf } from '@svc/oci/digest';
import type { ProjectUsage } from './project-usage.ts';
import { RegistryError } from './registry-error.ts';

export type ByteStream = AsyncIterable<Uint8Array>;

export interface BlobUploadOptions {
  readonly id: string;
  /** The repository, by the name of its service. */
  readonly service: string;
  readonly file: string;
  readonly usage: ProjectUsage;
  readonly blobBytesMax: number;
  readonly nowMs: () => number;
}

export class BlobUpload {
  readonly id: string;
  readonly service: string;
  readonly file: string;
  readonly #options: BlobUploadOptions;
  #size: number;
  /** Undefined: bytes of before this process have to be hashed first. */
  #hash: Hash | undefined;
  #isBusy = false;
  #isComplete = false;
  #touchedAtMs: number;

  /** `size`: number of bytes that are in the file. */
  constructor(options: BlobUploadOptions, size: number, touchedAtMs = options.nowMs()) {
    this.id = options.id;
    this.service = options.service;
    this.file = options.file;
    this.#options = options;
    this.#size = size;
    this.#hash = size === 0 ? createHash('sha256') : undefined;
    this.#touchedAtMs = touchedAtMs;
  }

  get size(): number {
    return this.#size;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Time of the last byte, in milliseconds since 1970. */
  get touchedAtMs(): number {
    return this.#touchedAtMs;
  }

  /**
   * Adds bytes. `offset`: where the sender believes that they begin; undefined: at the end. Rejects with RegistryError, and with the
   * stream's error; what had arrived until then stays.
   */
  async append(stream: ByteStream, offset: number | undefined): Promise<void> {
    await this.#exclusively(async () => {
      if (offset !== undefined && offset !== this.#size)
        throw new RegistryError(
          416,
          'BLOB_UPLOAD_INVALID',
          `the upload has ${this.#size} bytes, and the next ones begin at ${offset}`,
          { range: this.range },
        );
      this.#hash ??= await hashOf(this.file, 'sha256');
      const handle = await open(this.file, 'a', 0o600);
      try {
        for await (const chunk of stream) await this.#write(handle, chunk);
      } finally {
        await handle.close();
      }
    });
  }

  /** Has the bytes on disk, and checks that they have the digest. Rejects with DIGEST_INVALID. */
  async complete(digest: Digest): Promise<void> {
    await this.#exclusively(async () => {
      const { algorithm, hex } = partsOf(digest);
      const hash =
        algorithm === 'sha256' && this.#hash !== undefined
          ? this.#hash.copy()
          : await hashOf(this.file, algorithm);
      const found = hash.digest('hex');
      if (found !== hex)
        throw new RegistryError(
          400,
          'DIGEST_INVALID',
          `the upload has the digest ${algorithm}:${found}, not ${digest}`,
        );
      const handle = await open(this.file, 'a');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      this.#isComplete = true;
    });
  }

  /** Deletes the file, and gives its bytes back. */
  async discard(): Promise<void> {
    await rm(this.file, { force: true });
    this.#options.usage.releaseBytes(this.#size);
    this.#size = 0;
  }

  /** Value of the header Range for what is there: `0-99` for 100 bytes. */
  get range(): string {
    return `0-${Math.max(0, this.#size - 1)}`;
  }

  async #write(handle: FileHandle, chunk: Uint8Array): Promise<void> {
    const { usage, blobBytesMax, nowMs } = this.#options;
    if (this.#size + chunk.length > blobBytesMax)
      throw new RegistryError(
        413,
        'SIZE_INVALID',
        `a blob may have ${blobBytesMax} bytes (svc.registry.blob-bytes-max)`,
      );
    usage.reserveBytes(chunk.length);
    try {
      await handle.writeFile(chunk);
    } catch (error) {
      usage.releaseBytes(chunk.length);
      // A part of the chunk may be in the file.
      await handle.truncate(this.#size).catch(() => {});
      throw error;
    }
    this.#hash!.update(chunk);
    this.#size += chunk.length;
    this.#touchedAtMs = nowMs();
  }

  async #exclusively(work: () => Promise<void>): Promise<void> {
    if (this.#isBusy)
      throw new RegistryError(
        409,
        'BLOB_UPLOAD_INVALID',
        'another request is adding to this upload',
      );
    if (this.#isComplete)
      throw new RegistryError(404, 'BLOB_UPLOAD_UNKNOWN', 'the upload has ended');
    this.#isBusy = true;
    try {
      await work();
    } finally {
      this.#isBusy = false;
    }
  }
}

async function hashOf(file: string, algorithm: 'sha256' | 'sha512'): Promise<Hash> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array);
  return hash;
}
