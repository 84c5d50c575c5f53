// DevProject: the files of a project that `svc dev` runs: its entry file, the name of its service, and a folder for
// the modules of the session, which is removed at its end.
import { existsSync, readdirSync, rmSync, rmdirSync, statSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { BuiltComponent } from '@svc/guest-sdk/compiler';
import { isProcessAlive } from '@svc/kit/process-life';
import { CommandFailure } from '../command.ts';
import { projectName } from '../project-name.ts';
import { writeSourceMap } from '../source-map-file.ts';

/** Names of the entry file; the first that exists is used. */
const ENTRIES = ['assembly/index.ts', 'index.ts'];

export interface DevProject {
  /** Absolute path of the project's folder. */
  readonly root: string;
  /** Path of the entry file, relative to the working folder. */
  readonly entryFile: string;
  /** Name of the service. */
  readonly name: string;
}

/**
 * Finds the project. `named`: a folder, or the file that registers the components. Throws CommandFailure if there is
 * nothing to build.
 */
export function findProject(named: string): DevProject {
  const path = resolve(named);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true && path.endsWith('.ts')) {
    const folder = dirname(path);
    const root = basename(folder) === 'assembly' ? dirname(folder) : folder;
    return projectOf(root, path);
  }
  const entry = ENTRIES.find((file) => existsSync(join(path, file)));
  if (stats?.isDirectory() === true && entry !== undefined)
    return projectOf(path, join(path, entry));
  const missing =
    stats?.isDirectory() === true
      ? `${named} has neither ${ENTRIES.join(' nor ')}`
      : `${named} is ${stats === undefined ? 'not there' : 'neither a folder nor a file of AssemblyScript'}`;
  throw new CommandFailure(
    'SVC_BUILD_FAILED',
    `There is nothing to build: ${missing}. Name a project's folder, or the file that registers its components.`,
  );
}

function projectOf(root: string, entry: string): DevProject {
  return { root, entryFile: relative(process.cwd(), entry), name: projectName(root) };
}

/**
 * The files of the modules of one session. A file is named by the beginning of its module's hash, so that the source
 * map of an earlier module remains for the faults of that module.
 */
export class DevModules {
  readonly #project: DevProject;
  readonly #folder: string;

  constructor(project: DevProject) {
    this.#project = project;
    const all = join(project.root, '.svc', 'dev');
    this.#folder = join(all, String(process.pid));
    // A session that was killed has left its folder, which is named by its process.
    for (const pid of foldersIn(all))
      if (!isProcessAlive(Number(pid))) rmSync(join(all, pid), { recursive: true, force: true });
  }

  /** Writes a module. Resolves with the absolute path of its file. */
  async write({ component, sourceMap }: BuiltComponent): Promise<string> {
    await mkdir(this.#folder, { recursive: true });
    const file = join(this.#folder, `${sourceMap!.x_svc_module.slice(0, 16)}.wasm`);
    if (existsSync(file)) return file;
    const { entryFile } = this.#project;
    await writeSourceMap(sourceMap!, { module: file, entryFile });
    await writeFile(`${file}.part`, component);
    await rename(`${file}.part`, file);
    return file;
  }

  /** Removes the session's folder, and the folders around it if they are empty. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    try {
      rmdirSync(dirname(this.#folder));
      rmdirSync(dirname(dirname(this.#folder)));
    } catch {
      // The folder is not empty: another session runs, or there is a journal.
    }
  }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
