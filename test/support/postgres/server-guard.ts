// ServerGuard ends a server and removes its folder when the process of the tests has ended, however it ended. It is a shell whose
// standard input ends with that process.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

// `read` returns when the input has ended. The processes of the server may be stopped (SIGSTOP), so only SIGKILL ends them.
const SCRIPT = `
read -r nothing
server=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
[ -z "$server" ] || kill -KILL "$server" $(pgrep -P "$server") 2>/dev/null
rm -rf "$1"
`;

export class ServerGuard {
  readonly #shell: ChildProcess;

  /** The server keeps its files in the folder `data` of `folder`. */
  constructor(folder: string) {
    this.#shell = spawn('sh', ['-c', SCRIPT, 'sh', folder], {
      stdio: ['pipe', 'ignore', 'ignore'],
      // Signals to the group of the tests, such as Ctrl-C in a terminal, leave it alive.
      detached: true,
    });
    this.#shell.unref();
    (this.#shell.stdin as unknown as { unref(): void }).unref();
  }

  /** Kills what is left of the server, and removes the folder. */
  async end(): Promise<void> {
    if (this.#shell.exitCode !== null) return;
    const exited = once(this.#shell, 'exit');
    this.#shell.ref();
    this.#shell.stdin!.end();
    await exited;
  }
}
