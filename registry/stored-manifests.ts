// StoredManifests: the manifests and tags of a repository, as files. A manifest's file has its media type on the first line, then its
// bytes; a tag's file has the digest that it names.
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Digest, isDigest } from '@svc/oci/digest';
import { PART_ENDING, writeDurably } from '@svc/kit/durable-file';
import { absent } from './project-blobs.ts';

export interface StoredManifest {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

export interface ManifestFile {
  readonly digest: Digest;
  /** Bytes of the file. */
  readonly size: number;
  /** Time since which the manifest is kept without a tag, in milliseconds since 1970. */
  readonly keptSinceMs: number;
}

const MANIFESTS = 'manifests';
const TAGS = 'tags';

/** Returns the content of the file of a manifest. */
export function manifestContent({ mediaType, bytes }: StoredManifest): Uint8Array {
  return Buffer.concat([Buffer.from(`${mediaType}\n`), bytes]);
}

export class StoredManifests {
  readonly #folder: string;
  readonly #nowMs: () => number;

  constructor(folder: string, nowMs: () => number) {
    this.#folder = folder;
    this.#nowMs = nowMs;
  }

  /** Deletes files that a crash has left, and lists the manifests. */
  async recover(): Promise<readonly ManifestFile[]> {
    for (const name of [MANIFESTS, TAGS])
      for (const file of await namesIn(join(this.#folder, name)))
        if (file.endsWith(PART_ENDING)) await rm(join(this.#folder, name, file), { force: true });
    return await this.list();
  }

  async list(): Promise<readonly ManifestFile[]> {
    const files: ManifestFile[] = [];
    for (const name of await namesIn(join(this.#folder, MANIFESTS))) {
      const digest = name.replace('-', ':');
      if (!isDigest(digest)) continue;
      const { size, mtimeMs } = await stat(this.#pathOf(digest));
      files.push({ digest, size, keptSinceMs: mtimeMs });
    }
    return files;
  }

  /** Returns the tags in the order of their characters. */
  async tags(): Promise<readonly string[]> {
    const names = await namesIn(join(this.#folder, TAGS));
    return names.filter((name) => !name.endsWith(PART_ENDING)).toSorted();
  }

  /** Returns the digest that a tag names; undefined if there is no such tag. */
  async digestOf(tag: string): Promise<Digest | undefined> {
    const text = await readFile(this.#tagPath(tag), 'utf8').catch(absent);
    return isDigest(text) ? text : undefined;
  }

  /** Returns a manifest; undefined if there is none. */
  async read(digest: Digest): Promise<StoredManifest | undefined> {
    const content = await readFile(this.#pathOf(digest)).catch(absent);
    if (content === undefined) return undefined;
    const end = content.indexOf(0x0a);
    return { mediaType: content.subarray(0, end).toString(), bytes: content.subarray(end + 1) };
  }

  /** Returns the number of bytes of a manifest's file; undefined if there is none. */
  async fileSizeOf(digest: Digest): Promise<number | undefined> {
    return (await stat(this.#pathOf(digest)).catch(absent))?.size;
  }

  async write(digest: Digest, content: Uint8Array): Promise<void> {
    await writeDurably(this.#pathOf(digest), content);
  }

  /** Has a tag name a manifest, whose time without a tag begins when the tag leaves it. */
  async tag(tag: string, digest: Digest): Promise<void> {
    const former = await this.digestOf(tag);
    if (former !== undefined && former !== digest) await this.renew(former);
    await writeDurably(this.#tagPath(tag), digest);
  }

  async untag(tag: string): Promise<void> {
    const former = await this.digestOf(tag);
    if (former !== undefined) await this.renew(former);
    await rm(this.#tagPath(tag), { force: true });
  }

  async remove(digest: Digest): Promise<void> {
    await rm(this.#pathOf(digest), { force: true });
  }

  /** Begins the time anew for which a manifest is kept without a tag. */
  async renew(digest: Digest): Promise<void> {
    const now = new Date(this.#nowMs());
    await utimes(this.#pathOf(digest), now, now).catch(absent);
  }

  #pathOf(digest: Digest): string {
    return join(this.#folder, MANIFESTS, digest.replace(':', '-'));
  }

  #tagPath(tag: string): string {
    return join(this.#folder, TAGS, tag);
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(absent)) ?? [];
}
