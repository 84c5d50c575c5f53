// FileSteps: changes of files that readers see as a whole or not at all, as lists of single steps. A process that is killed after any
// of the steps leaves the former content or the new one, and what it has left over is removed by the next change.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** One change of the file system. It throws the system's error. */
export type FileStep = () => void;

/** Link to the folder with the files in use, as Kubernetes has it in a mounted secret. */
const CURRENT = '..data';
/** Names of folders with files are this and a random part. */
const VERSION_PREFIX = '..version-';
const FOLDER_MODE = 0o700;
const SECRET_MODE = 0o600;

export function carryOut(steps: Iterable<FileStep>): void {
  for (const step of steps) step();
}

/** Replaces one file. `mode`: who may read it. */
export function fileSteps(path: string, content: string, mode: number): readonly FileStep[] {
  const unfinished = unfinishedFile(path);
  return [
    () => rmSync(unfinished, { force: true }),
    ...writingSteps(unfinished, content, mode),
    () => renameSync(unfinished, path),
    () => sync(dirname(path)),
  ];
}

/** The file in which a new content is written before it takes the place of the former one. */
export function unfinishedFile(path: string): string {
  return `${path}.new`;
}

/**
 * Replaces files of a folder together: `files` are contents by name. Other files of the folder are left alone. The folder is made if it does not
 * exist, but not the one around it. Those who have read the former files find them until the next change.
 */
export function fileSetSteps(
  folder: string,
  files: Readonly<Record<string, string>>,
): readonly FileStep[] {
  const version = `${VERSION_PREFIX}${randomBytes(6).toString('hex')}`;
  const current = join(folder, CURRENT);
  let former: string | undefined;
  return [
    () => makeFolder(folder),
    () => makeFolder(join(folder, version)),
    ...Object.entries(files).flatMap(([name, content]) =>
      writingSteps(join(folder, version, name), content, SECRET_MODE),
    ),
    () => sync(join(folder, version)),
    () => (former = linkTarget(current)),
    ...linkSteps(folder, CURRENT, version),
    ...Object.keys(files).flatMap((name) => linkSteps(folder, name, join(CURRENT, name))),
    () => sync(folder),
    () => {
      for (const name of readdirSync(folder))
        if (name.startsWith(VERSION_PREFIX) && name !== version && name !== former)
          rmSync(join(folder, name), { recursive: true });
    },
  ];
}

function writingSteps(path: string, content: string, mode: number): readonly FileStep[] {
  return [
    () => closeSync(openSync(path, 'wx', mode)),
    () => {
      const file = openSync(path, 'r+');
      try {
        // Whatever the process's mask takes away or leaves.
        fchmodSync(file, mode);
        writeFileSync(file, content);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
    },
  ];
}

/** Turns a link, or puts it in the place of a file. */
function linkSteps(folder: string, name: string, target: string): readonly FileStep[] {
  const [link, unfinished] = [join(folder, name), join(folder, `..new-${name}`)];
  return [
    () => rmSync(unfinished, { force: true }),
    () => {
      if (linkTarget(link) !== target) symlinkSync(target, unfinished);
    },
    () => {
      if (linkTarget(link) !== target) renameSync(unfinished, link);
    },
  ];
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: FOLDER_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function sync(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
