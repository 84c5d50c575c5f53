// PodSandbox runs the container of a manifest on this machine: a process with exactly its variables, its files at its paths, the name of its pod as
// host name, and a hosts file of its own. It has the network of this machine, so each pod has a loopback address.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Container } from './read-manifests.ts';

/** All addresses of a pod, which on this machine are those of the other pods, too. */
const EVERYWHERE = '0.0.0.0';
const OWN = new Set(['data', 'dev', 'etc', 'proc', 'service']);
const BINDS =
  '--dev-bind /dev /dev --bind /proc /proc --unshare-uts --die-with-parent --chdir /'.split(' ');
const CLI = join(import.meta.dirname, '../../../cli/bin/svc.js');

export interface PodFiles {
  /** Name of the pod. */
  readonly name: string;
  /** A loopback address of its own. */
  readonly address: string;
  /** A folder for its files. */
  readonly folder: string;
  /** Files by their absolute paths, below `/etc/svc` or `/service`. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** Names of hosts, and their addresses. */
  readonly hosts: Readonly<Record<string, string>>;
  /** Folder with the files of `/data`, which outlives the pod. Absent: a new one of the pod. */
  readonly dataFolder?: string;
  /** Gets each line that the program logs. */
  readonly onLine?: (line: string) => void;
}

/** Returns why this machine cannot run containers in this way; undefined: it can. */
export function missingSandbox(): string | undefined {
  const trial = spawnSync(
    'bwrap',
    ['--dev-bind', '/', '/', '--unshare-uts', '--hostname', 'pod', 'hostname'],
    { encoding: 'utf8' },
  );
  if (trial.stdout?.trim() === 'pod') return undefined;
  return `bubblewrap does not run here (${trial.error?.message ?? trial.stderr.trim()})`;
}

export class PodSandbox {
  readonly name: string;
  readonly address: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #stderr = '';

  constructor(container: Container, pod: PodFiles) {
    const { name, address, folder, files, hosts, dataFolder = join(folder, 'data') } = pod;
    this.name = name;
    this.address = address;
    for (const part of ['etc', 'service']) mkdirSync(join(folder, part));
    mkdirSync(dataFolder, { recursive: true });
    const all = {
      ...files,
      '/etc/hosts': Object.entries(hosts)
        .map(([host, at]) => `${at} ${host}\n`)
        .join(''),
      '/etc/nsswitch.conf': 'hosts: files\n',
    };
    for (const [path, content] of Object.entries(all)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const [program, ...args] = container.command!;
    if (program !== 'svc') throw new Error(`the command is ${program}`);
    const others = readdirSync('/').filter((entry) => !OWN.has(entry));
    this.#child = spawn(
      'bwrap',
      [
        ...others.flatMap((entry) => ['--bind', `/${entry}`, `/${entry}`]),
        ...BINDS,
        '--ro-bind',
        join(folder, 'etc'),
        '/etc',
        '--bind',
        dataFolder,
        '/data',
        '--ro-bind',
        join(folder, 'service'),
        '/service',
        '--hostname',
        name,
        '--',
        process.execPath,
        CLI,
        ...args,
      ],
      { stdio: ['ignore', 'ignore', 'pipe'], env: environment(container, address) },
    );
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    if (pod.onLine !== undefined)
      createInterface({ input: this.#child.stderr! }).on('line', pod.onLine);
    this.#ended = once(this.#child, 'close');
  }

  /** What the program has logged so far. */
  get log(): string {
    return this.#stderr;
  }

  /** Resolves with the exit code once the program has ended by itself, or by SIGTERM that was sent to it. */
  async ended(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  /** Sends SIGTERM to the program, which bubblewrap does not pass on, and resolves once it has ended. */
  async stop(): Promise<void> {
    const { pid } = this.#child;
    try {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
      for (const child of children.trim().split(' ')) process.kill(Number(child), 'SIGTERM');
    } catch {
      // It has ended by itself.
    }
    await this.#ended;
  }

  /** Ends the program. */
  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      this.#child.kill('SIGKILL');
    await this.#ended;
  }
}

function environment({ env = [] }: Container, address: string): Record<string, string> {
  const given = env.map(({ name, value }): [string, string] => {
    const text = value?.replaceAll('$$', () => '$') ?? address;
    return [name, text === EVERYWHERE ? address : text];
  });
  return { PATH: process.env['PATH']!, ...Object.fromEntries(given) };
}
