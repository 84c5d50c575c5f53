// StandInCgroups: control groups as plain files in a folder of the test. A group has the files that the kernel would make, and whatever is
// written is also kept in order. Processes can write to its files, but are moved nowhere.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { CgroupFiles } from '../../control-plane/local/cgroup-files.ts';
import { temporaryFolder } from './temporary-folder.ts';

const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cpu: { 'cpu.max': 'max 100000\n' },
  memory: {
    'memory.max': 'max\n',
    'memory.swap.max': 'max\n',
    'memory.oom.group': '0\n',
    'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n',
  },
  pids: { 'pids.max': 'max\n' },
};

export class StandInCgroups implements CgroupFiles {
  readonly path = temporaryFolder();
  /** Each write as `<path below the given group>=<text>`, and each removal as `-<path>`. */
  readonly log: string[] = [];
  /** Code with which the next operations on such a path fail, and how often. */
  readonly faults = new Map<string, { readonly code: string; times: number }>();

  constructor(controllers: readonly string[] = ['cpu', 'memory', 'pids']) {
    this.#fill(this.path, controllers);
  }

  makeGroup(path: string): void {
    this.#fail(path, existsSync(path) ? 'EEXIST' : undefined);
    mkdirSync(path);
    this.#fill(path, this.#enabled(dirname(path)));
  }

  removeGroup(path: string): void {
    this.#fail(path, existsSync(path) ? undefined : 'ENOENT');
    this.log.push(`-${relative(this.path, path)}`);
    rmSync(path, { recursive: true });
  }

  groupsIn(path: string): readonly string[] {
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  read(path: string): string {
    this.#fail(path, existsSync(path) ? undefined : 'ENOENT');
    return readFileSync(path, 'utf8');
  }

  write(path: string, text: string): void {
    this.#fail(path, existsSync(path) ? undefined : 'ENOENT');
    this.log.push(`${relative(this.path, path)}=${text}`);
    if (basename(path) !== 'cgroup.subtree_control') return writeFileSync(path, text);
    const enabled = new Set([...this.#enabled(dirname(path)), text.slice(1)]);
    writeFileSync(path, [...enabled].join(' '));
  }

  /** Groups that there are. */
  get groups(): readonly string[] {
    return this.groupsIn(this.path);
  }

  #enabled(group: string): readonly string[] {
    const text = readFileSync(join(group, 'cgroup.subtree_control'), 'utf8');
    return text.split(' ').filter((name) => name !== '');
  }

  #fill(group: string, controllers: readonly string[]): void {
    const files = {
      'cgroup.controllers': controllers.join(' '),
      'cgroup.subtree_control': '',
      'cgroup.procs': '',
      'cgroup.kill': '',
      ...Object.assign({}, ...controllers.map((one) => FILES[one] ?? {})),
    } as Readonly<Record<string, string>>;
    for (const [name, content] of Object.entries(files)) writeFileSync(join(group, name), content);
  }

  #fail(path: string, found: string | undefined): void {
    const fault = this.faults.get(basename(path));
    const code = fault !== undefined && fault.times-- > 0 ? fault.code : found;
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${basename(path)}`), { code });
  }
}
