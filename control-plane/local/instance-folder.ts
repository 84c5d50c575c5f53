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

  get outputFile(): string {
    return join(this.path, 'output.log');
  }

  /** Output of the run before the last restart. */
  get previousOutputFile(): string {
    return join(this.path, 'previous.log');
  }

  get lastRun(): InstanceRun | undefined {
    return runIn(readJsonFile(join(this.path, 'run.json')));
  }

  writeRun(run: InstanceRun): void {
    replaceJsonFile(join(this.path, 'run.json'), run);
  }

  /** Sets the output of the last run aside, and opens a file for that of the next one. Returns its descriptor. */
  openOutput(): number {
    if (existsSync(this.outputFile)) renameSync(this.outputFile, this.previousOutputFile);
    rmSync(this.stateFile, { force: true });
    return openSync(this.outputFile, 'a', 0o600);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
