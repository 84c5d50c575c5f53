// CommandProcess: one run of the command, without a shell, as the first process of a group of its own. Its standard input
// is empty, as in a pod.
//
// Invariants
// P1  Every signal goes to the whole group, so that processes which the command has started get it, too.
// P2  The guard knows the group from the moment in which the call that starts it returns.
// P3  When `ended` resolves, the group has ended: what its first process has left behind was ended as well.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { printable } from '../printable.ts';
import { SvcError } from '../svc-error.ts';
import { OutputLines } from './output-lines.ts';
import { endGroup, signalGroup } from './process-group.ts';
import type { GroupGuard } from './group-guard.ts';

/** Time for the last output to arrive after the end of the group, in milliseconds. */
const LAST_OUTPUT_MS = 500;

export type OutputStream = 'stdout' | 'stderr';

export interface CommandProcessOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Time between SIGTERM and SIGKILL, in milliseconds. */
  readonly stopGraceMs: number;
  readonly guard: GroupGuard;
  /** Receives each line of its output, without escapes. */
  readonly onLine: (stream: OutputStream, line: string) => void;
}

/** How the first process has ended: by an exit code or by a signal. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class CommandProcess {
  readonly pid: number;
  /** Resolves once the process and its group have ended, and all output has been reported. */
  readonly ended: Promise<ProcessEnd>;
  readonly #graceMs: number;
  #isStopping = false;
  #isGroupEnded = false;

  private constructor(child: ChildProcess, { stopGraceMs, guard, onLine }: CommandProcessOptions) {
    this.pid = child.pid!;
    this.#graceMs = stopGraceMs;
    const outputs = (['stdout', 'stderr'] as const).map((stream) => {
      const lines = new OutputLines((line) => onLine(stream, line));
      child[stream]!.on('data', (bytes: Buffer) => lines.push(bytes));
      return lines;
    });
    const closed = once(child, 'close');
    this.ended = once(child, 'exit').then(async ([code, signal]) => {
      // What the process has started would keep its port, for example.
      await endGroup(this.pid, this.#graceMs);
      this.#isGroupEnded = true;
      guard.guard(undefined);
      const limit = setTimeout(() => {
        // A process that has left the group still has the pipes.
        child.stdout!.destroy();
        child.stderr!.destroy();
      }, LAST_OUTPUT_MS);
      await closed;
      clearTimeout(limit);
      for (const lines of outputs) lines.end();
      return { code: code as number | null, signal: signal as NodeJS.Signals | null };
    });
  }

  /** Starts the command. Rejects with SVC_COMMAND_NOT_STARTED if the system cannot start it. */
  static async start(options: CommandProcessOptions): Promise<CommandProcess> {
    const { command, cwd, env, guard } = options;
    const [program, ...args] = command as readonly [string, ...string[]];
    try {
      const child = spawn(program, args, {
        cwd,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
        windowsHide: true,
      });
      // At once: were svc killed before, nobody would end the group.
      if (child.pid !== undefined) guard.guard(child.pid);
      await once(child, 'spawn');
      child.on('error', () => {});
      return new CommandProcess(child, options);
    } catch (error) {
      throw notStarted(program, cwd, error as NodeJS.ErrnoException);
    }
  }

  /** Ends the group: with SIGTERM, and with SIGKILL if it takes longer than the grace time. */
  async stop(): Promise<void> {
    // The id of a group that has ended may belong to another one.
    if (!this.#isStopping && !this.#isGroupEnded) {
      this.#isStopping = true;
      await endGroup(this.pid, this.#graceMs);
    }
    await this.ended;
  }

  /** Kills the group. */
  kill(): void {
    if (!this.#isGroupEnded) signalGroup(this.pid, 'SIGKILL');
  }
}

function notStarted(program: string, cwd: string, cause: NodeJS.ErrnoException): SvcError {
  const shown = printable(program);
  const reason =
    cause.code === 'ENOENT'
      ? `there is no such program (ENOENT). Look for a typing error; a path is relative to ${printable(cwd)}, and ` +
        'a line for a shell begins with sh -c.'
      : cause.code === 'EACCES'
        ? 'the file may not be executed (EACCES). Make it executable, or name the program that runs it.'
        : `the system says ${cause.code ?? cause.message}. Try the command in a terminal.`;
  return new SvcError(
    'SVC_COMMAND_NOT_STARTED',
    `The command ${shown} was not started: ${reason}`,
    {
      cause,
    },
  );
}
