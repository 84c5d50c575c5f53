// GuardedProcesses are the processes of a server with several programs. They end with `end`, and at the latest when the process of the
// tests has ended, however it ended: a shell whose standard input ends with that process kills them, and removes their folder.
//
// Invariant: the file `pids` names the processes that were started and are not known to have ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const GUARD = `
read -r nothing
pids=$(cat "$1/pids" 2>/dev/null)
[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
rm -rf "$1"
`;
const LOG_LENGTH_MAX = 3000;

export class GuardedProcesses {
  readonly #folder: string;
  readonly #guard: ChildProcess;
  readonly #children = new Map<string, ChildProcess>();

  /** Logs and what processes store are in `folder`, which is removed with them. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#guard = spawn('sh', ['-c', GUARD, 'sh', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      // Signals to the group of the tests, such as Ctrl-C in a terminal, leave it alive.
      detached: true,
    });
    this.#guard.unref();
    (this.#guard.stdin as unknown as { unref(): void }).unref();
  }

  /** Starts a program. Its output goes to `NAME.log`. */
  start(name: string, program: string, args: readonly string[]): void {
    const log = openSync(join(this.#folder, `${name}.log`), 'a');
    const child = spawn(program, args, {
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.on('error', () => undefined);
    child.unref();
    this.#children.set(name, child);
    this.#write();
  }

  isRunning(name: string): boolean {
    const child = this.#children.get(name);
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  pid(name: string): number {
    if (!this.isRunning(name)) throw new Error(`${name} is not running: ${this.log(name)}`);
    return this.#children.get(name)!.pid!;
  }

  /** Sends a signal to a process and waits for its end. Does nothing if the process is not running. */
  async stop(name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#children.get(name);
    if (child !== undefined && this.isRunning(name)) {
      child.ref();
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    }
    this.#children.delete(name);
    this.#write();
  }

  /** The end of what a process has printed. */
  log(name: string): string {
    return readFileSync(join(this.#folder, `${name}.log`), 'utf8').slice(-LOG_LENGTH_MAX);
  }

  /** Kills all processes, and removes the folder. */
  async end(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((name) => this.stop(name)));
    if (this.#guard.exitCode !== null) return;
    const ended = once(this.#guard, 'exit');
    this.#guard.ref();
    this.#guard.stdin!.end();
    await ended;
  }

  #write(): void {
    const pids = [...this.#children.values()].map(({ pid }) => pid).filter((pid) => pid);
    const file = join(this.#folder, 'pids');
    writeFileSync(`${file}.new`, pids.join(' '));
    renameSync(`${file}.new`, file);
  }
}
