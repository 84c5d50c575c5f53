// InstanceFolder: the folder of one instance: what it is, its last run, its state, its output.
import { existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type InstanceRun, type InstanceSpec, runIn, specIn } from './instance-spec.ts';
import { readJsonFile, replaceJsonFile } from './json-file.ts';

export class InstanceFolder {
  readonly path: string;
  readonly spec: InstanceSpec;

  private constructor(path: string, spec: InstanceSpec) {
    this.path = path;
    this.spec = spec;
  }

  /** Makes the folder of a new instance. */
  static create(parent: string, spec: InstanceSpec): InstanceFolder {
    const path = join(parent, spec.name);
    mkdirSync(path, { mode: 0o700 });
    const folder = new InstanceFolder(path, spec);
    replaceJsonFile(join(path, 'spec.json'), spec);
    return folder;
  }

  /** Returns the instances below the folder. What is no folder of an instance is left alone. */
  static readAll(parent: string): readonly InstanceFolder[] {
    const found: InstanceFolder[] = [];
    for (const name of readdirSync(parent)) {
      const path = join(parent, name);
      const spec = specIn(readJsonFile(join(path, 'spec.json')));
      if (spec?.name === name) found.push(new InstanceFolder(path, spec));
    }
    return found.toSorted((one, other) => one.spec.createdAtMs - other.spec.createdAtMs);
  }

  /** File that the instance writes itself (kit/state-file.ts). */
  get stateFile(): string {
    return join(this.path, 'state.json');
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
    return [...numbered.map((name) => join(logs, name)), join(this.path, `${prefix}stderr`)];
  }

  get lastRun(): InstanceRun | undefined {
    return runIn(readJsonFile(join(this.path, 'run.json')));
  }

  writeRun(run: InstanceRun): void {
    replaceJsonFile(join(this.path, 'run.json'), run);
  }

  /** Sets the output of the last run aside, and opens a file for what the next one writes to stderr. Returns its descriptor. */
  openOutput(): number {
    for (const name of ['log', 'stderr']) {
      const previous = join(this.path, `previous-${name}`);
      rmSync(previous, { recursive: true, force: true });
      const last = join(this.path, name);
      if (existsSync(last)) renameSync(last, previous);
    }
    rmSync(this.stateFile, { force: true });
    return openSync(join(this.path, 'stderr'), 'a', 0o600);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** `service.log.2` comes before `service.log.1`, and that before `service.log`. */
function byNumberDown(one: string, other: string): number {
  return numberOf(other) - numberOf(one);
}

function numberOf(name: string): number {
  return Number(/\.(\d+)$/.exec(name)?.[1] ?? 0);
}
