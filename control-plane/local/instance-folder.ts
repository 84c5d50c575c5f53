// InstanceFolder: the folder of one instance: what it is, its last run, its state, its output. It lies below the folder of its service,
// `<project>/<service>/<name>`, so that a look at one service reads nothing of the others.
import type { ServiceKey } from '@svc/client';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { removeFolder } from '@svc/oci/removed-folder';
import { endOfFile } from './file-end.ts';
import type { InstanceAddress } from './instance-addresses.ts';
import { type InstanceRun, runIn } from './instance-run.ts';
import { type InstanceSpec, specIn } from './instance-spec.ts';
import { readJsonFile, replaceJsonFile } from './json-file.ts';

export class InstanceFolder {
  readonly path: string;
  readonly spec: InstanceSpec;
  /** Undefined until it is read, which a look at the instance does more than once. */
  #lastRun: { readonly run: InstanceRun | undefined } | undefined;

  private constructor(path: string, spec: InstanceSpec) {
    this.path = path;
    this.spec = spec;
  }

  /** Makes the folder of a new instance. `parent`: folder of the instances of all services. */
  static create(parent: string, spec: InstanceSpec): InstanceFolder {
    const ofService = join(parent, spec.key.project, spec.key.service);
    mkdirSync(ofService, { recursive: true, mode: 0o700 });
    const path = join(ofService, spec.name);
    mkdirSync(path, { mode: 0o700 });
    const folder = new InstanceFolder(path, spec);
    replaceJsonFile(join(path, 'spec.json'), spec);
    return folder;
  }

  /** Returns the instances of a service, the oldest first. What is no folder of an instance is left alone. */
  static readOf(parent: string, { project, service }: ServiceKey): readonly InstanceFolder[] {
    const ofService = join(parent, project, service);
    const found: InstanceFolder[] = [];
    for (const name of namesIn(ofService)) {
      const path = join(ofService, name);
      const spec = specIn(readJsonFile(join(path, 'spec.json')));
      if (spec?.name === name && spec.key.project === project && spec.key.service === service)
        found.push(new InstanceFolder(path, spec));
    }
    return found.toSorted((one, other) => one.spec.createdAtMs - other.spec.createdAtMs);
  }

  /** Returns the instances of all services. */
  static readAll(parent: string): readonly InstanceFolder[] {
    return namesIn(parent).flatMap((project) =>
      namesIn(join(parent, project)).flatMap((service) =>
        InstanceFolder.readOf(parent, { project, service }),
      ),
    );
  }

  /** Returns the same folder for the instance at another address, which is on disk then. */
  at({ address, ports }: InstanceAddress): InstanceFolder {
    if (address === this.spec.address && isDeepStrictEqual(ports, this.spec.ports)) return this;
    const moved = new InstanceFolder(this.path, { ...this.spec, address, ports });
    replaceJsonFile(join(this.path, 'spec.json'), moved.spec);
    return moved;
  }

  /** Folder of the state file, which the instance writes itself. */
  get stateFolder(): string {
    return join(this.path, 'state');
  }

  /** File that the instance writes itself (kit/state-file.ts). */
  get stateFile(): string {
    return join(this.stateFolder, 'state.json');
  }

  /** Folder of the certificate by which the instance proves who it is. */
  get identityFolder(): string {
    return join(this.path, 'identity');
  }

  /** Folder of the log files that the instance writes itself (kit/log-files.ts). */
  get logFolder(): string {
    return join(this.path, 'log');
  }

  /** Files with the output of the last run, or of the one before it, in order; some may not exist. */
  outputFiles(run: 'last' | 'previous'): readonly string[] {
    const prefix = run === 'last' ? '' : 'previous-';
    const logs = join(this.path, `${prefix}log`);
    const numbered = existsSync(logs) ? readdirSync(logs).toSorted(byNumberDown) : [];
    const output = ['stderr.1', 'stderr'].map((name) => join(this.path, `${prefix}${name}`));
    return [...numbered.map((name) => join(logs, name)), ...output];
  }

  /** The last run of the instance at the time of this look. */
  get lastRun(): InstanceRun | undefined {
    this.#lastRun ??= { run: runIn(readJsonFile(join(this.path, 'run.json'))) };
    return this.#lastRun.run;
  }

  writeRun(run: InstanceRun): void {
    replaceJsonFile(join(this.path, 'run.json'), run);
    this.#lastRun = { run };
  }

  /** Sets the output of the last run aside, and opens a file for what the next one writes to stderr. Returns its descriptor. */
  openOutput(): number {
    for (const name of ['log', 'stderr.1', 'stderr']) {
      const previous = join(this.path, `previous-${name}`);
      rmSync(previous, { recursive: true, force: true });
      const last = join(this.path, name);
      if (existsSync(last)) renameSync(last, previous);
    }
    // Nothing that an earlier run has written there says anything of the next one.
    setAside(this.stateFolder);
    mkdirSync(this.stateFolder, { mode: 0o700 });
    return openSync(join(this.path, 'stderr'), 'a', 0o600);
  }

  /** Keeps the end of what the last run has written to stderr, in a second file, if there is too much of it. */
  boundOutput(bytesMax: number): void {
    const file = join(this.path, 'stderr');
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= bytesMax / 2) return;
    const end = endOfFile(file, bytesMax / 2) ?? '';
    writeFileSync(join(this.path, 'stderr.1'), end, { mode: 0o600 });
    // The process appends, so it goes on at the new end.
    truncateSync(file);
  }

  /** Removes the folder, and those of the service and the project once they are empty. */
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    const ofService = dirname(this.path);
    if (removeEmpty(ofService)) removeEmpty(dirname(ofService));
  }
}

/** Removes a folder to which a program could write: at once from its place, and in the background from the disk, because it may be large. */
function setAside(folder: string): void {
  const aside = `${folder}.${randomBytes(4).toString('hex')}.old`;
  try {
    renameSync(folder, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  // What is left of it goes with the folder of the instance.
  void removeFolder(aside).catch(() => {});
}

/** Returns the names in a folder; none if there is no such folder. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

/** Returns whether the folder is gone: one with something in it is left. */
function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** `service.log.2` comes before `service.log.1`, and that before `service.log`. */
function byNumberDown(one: string, other: string): number {
  return numberOf(other) - numberOf(one);
}

function numberOf(name: string): number {
  return Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
}
