// CgroupFiles: the files of the kernel's control groups (cgroup v2). A folder is a group, and its files exist from its making on.
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

/** Each method throws the file system's error. */
export interface CgroupFiles {
  makeGroup(path: string): void;
  /** Throws EBUSY while a process is in the group. */
  removeGroup(path: string): void;
  /** Returns the names of the groups below a group. */
  groupsIn(path: string): readonly string[];
  read(path: string): string;
  /** Throws ENOENT if the kernel has no such file there; none is made. */
  write(path: string, text: string): void;
}

export const CGROUP_FILES: CgroupFiles = {
  makeGroup: (path) => mkdirSync(path),
  removeGroup: (path) => rmdirSync(path),
  groupsIn: (path) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name),
  read: (path) => readFileSync(path, 'utf8'),
  write: (path, text) => writeFileSync(path, text, { flag: 'r+' }),
};

/** Returns the code of an error of the file system, such as `EBUSY`. */
export function fileErrorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
