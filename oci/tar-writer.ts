// TarWriter: writes a tar archive in memory. Equal entries in equal order give equal bytes, on every machine.
import { BLOCK_BYTES, headerBlock } from './tar-header.ts';

/** A file, or a folder if it has no content. */
export interface TarContent {
  /** Path without a leading slash, of at most 99 bytes. */
  readonly path: string;
  readonly content?: Uint8Array;
  /** Permissions, such as 0o644. */
  readonly mode: number;
  /** User and group that own the entry, by number. */
  readonly owner: number;
}

export function tarArchive(contents: readonly TarContent[]): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const { path, content, mode, owner } of contents) {
    const isFolder = content === undefined;
    const kind = isFolder ? 'directory' : 'file';
    const size = content?.length ?? 0;
    blocks.push(headerBlock({ path: isFolder ? `${path}/` : path, kind, mode, owner, size }));
    if (!isFolder) blocks.push(content, new Uint8Array(paddingOf(size)));
  }
  blocks.push(new Uint8Array(2 * BLOCK_BYTES));
  return Buffer.concat(blocks);
}

/** Returns the number of zero bytes that follow a content, so that the next header begins a block. */
export function paddingOf(size: number): number {
  return (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
}
