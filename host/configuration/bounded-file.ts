// BoundedFile reads a small text file that an operator names. The file may be replaced while it is read, and may be anything: a
// folder, a pipe, a device, a file of any size and encoding. Reading it never waits for another process.
import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';

export interface FileText {
  readonly text: string;
  /** Whether users of the machine may read or change it who need not. */
  readonly isOpenToOthers: boolean;
}

/** Rights of a file: to read or change it for its group and others, and those without reading for the group. */
const OF_GROUP_AND_OTHERS = 0o066;
const BUT_READING_FOR_GROUP = 0o026;

/** Why a file has no text: the end of a sentence that names the file, `is not UTF-8`. */
export interface FileProblem {
  readonly problem: string;
  /** True: the file may be readable a moment later. */
  readonly isTransient: boolean;
}

export async function readBounded(path: string, bytesMax: number): Promise<FileText | FileProblem> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return unfit('is no file');
      // The file may have grown since, or say that it is empty and have content, as those of /proc do.
      const buffer = Buffer.alloc(bytesMax + 1);
      const length = await fill(file, buffer);
      if (length > bytesMax) return unfit(`has more than ${bytesMax} bytes`);
      return decoded(buffer.subarray(0, length), stats);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return { problem: `cannot be read (${code})`, isTransient: true };
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

function decoded(bytes: Buffer, stats: Stats): FileText | FileProblem {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return unfit('is not UTF-8');
  }
  if (text.includes('\0')) return unfit('contains a NUL');
  return { text, isOpenToOthers: isOpenToOthers(stats, currentUser()) };
}

function unfit(problem: string): FileProblem {
  return { problem, isTransient: false };
}

interface User {
  readonly id: number;
  readonly groups: readonly number[];
}

/** Returns undefined on a system without numbers of users. */
function currentUser(): User | undefined {
  const id = process.geteuid?.();
  return id === undefined
    ? undefined
    : { id, groups: [process.getegid!(), ...process.getgroups!()] };
}

/**
 * Returns whether other users than the reader may read or change a file. A file of root whose group is one of the reader's is there for that
 * group, as a cluster mounts the secrets of a container.
 */
export function isOpenToOthers(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  user: User | undefined,
): boolean {
  const isForGroup = uid === 0 && user !== undefined && user.id !== 0 && user.groups.includes(gid);
  return (mode & (isForGroup ? BUT_READING_FOR_GROUP : OF_GROUP_AND_OTHERS)) !== 0;
}
