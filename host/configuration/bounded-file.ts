// BoundedFile reads a small text file that an operator names. The file may be replaced while it is read, and may be anything: a
// folder, a pipe, a device, a file of any size and encoding. Reading it never waits for another process.
import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

export interface FileText {
  readonly text: string;
  /** Whether other users of the machine may read it than its owner, or the group by which this process reads it. */
  readonly isOpenToOthers: boolean;
}

/** Bits of a file's rights by which others than its owner read it, and others than its group. */
const READ_BY_GROUP_AND_OTHERS = 0o044;
const READ_BY_OTHERS = 0o004;

/** Returns the text, or `problem`: the end of a sentence that names the file, `is not UTF-8`. */
export async function readBounded(
  path: string,
  bytesMax: number,
): Promise<FileText | { readonly problem: string }> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { problem: 'is no file' };
      // The file may have grown since, or say that it is empty and have content, as those of /proc do.
      const buffer = Buffer.alloc(bytesMax + 1);
      const length = await fill(file, buffer);
      if (length > bytesMax) return { problem: `has more than ${bytesMax} bytes` };
      return decoded(buffer.subarray(0, length), stats);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return { problem: `cannot be read (${code})` };
  }
}

async function fill(
  file: { read: (to: Buffer, at: number) => Promise<{ bytesRead: number }> },
  buffer: Buffer,
): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

function decoded(bytes: Buffer, stats: Stats): FileText | { readonly problem: string } {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return { problem: 'is not UTF-8' };
  }
  if (text.includes('\0')) return { problem: 'contains a NUL' };
  return { text, isOpenToOthers: isOpenToOthers(stats) };
}

/** A process without privileges reads the file of another user, as one that a cluster mounts, by its group. */
function isOpenToOthers({ mode, uid }: Stats): boolean {
  const user = process.geteuid?.();
  const readsByGroup = user !== 0 && user !== uid;
  return (mode & (readsByGroup ? READ_BY_OTHERS : READ_BY_GROUP_AND_OTHERS)) !== 0;
}
