// GroupGuard: a small shell process that ends the command's processes when this process ends without ending them itself,
// for example because it was killed. The shell waits for the end of a pipe, which the system closes with this process.
// A group that is just being started is not known to it: its id exists only once the system has started the command.
// A shell that held the command until then would drop variables whose names have dots.
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Reads the id of the group to end, a line each time it changes. After the last line the group gets SIGTERM, and
 * SIGKILL if it has not ended within 5 seconds. An empty line: there is none.
 */
const SCRIPT = `
while read -r group; do last=$group; done
[ -n "$last" ] || exit 0
kill -TERM "-$last" 2>/dev/null || exit 0
for _ in 1 2 3 4 5; do
  sleep 1
  kill -0 "-$last" 2>/dev/null || exit 0
done
kill -KILL "-$last" 2>/dev/null`;

export class GroupGuard {
  readonly #shell: ChildProcess | undefined;

  constructor() {
    if (process.platform === 'win32') return;
    // In a group of its own, so that ctrl-c in the terminal does not end it.
    this.#shell = spawn('/bin/sh', ['-c', SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      cwd: '/',
    });
    // Without a shell, nothing but this process ends the group.
    this.#shell.on('error', () => {});
    this.#shell.stdin!.on('error', () => {});
    this.#shell.unref();
  }

  /** Names the group that has to end with this process; undefined: none any more. */
  guard(groupId: number | undefined): void {
    this.#shell?.stdin?.write(`${groupId ?? ''}\n`);
  }

  close(): void {
    this.#shell?.stdin?.end('\n');
  }
}
