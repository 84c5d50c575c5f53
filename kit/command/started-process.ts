// StartedProcess: the process beside a sidecar, which is a proxy or a runtime, where the sidecar starts it: one run of a command, without a
// shell, as the first process of a group of its own.
//
// Invariants
// P1  A command that is bubblewrap ends at once when it gets a signal, and its sandbox with it. Signals therefore go to the program in the
//     sandbox, whose id bubblewrap writes to file descriptor 3 (`--info-fd 3`). Another command gets them as a group.
// P2  An id that is written there counts only if it is that of a child of the command. In a further namespace of processes bubblewrap sees
//     other ids: there the program is the only process that a child of the command has started.
// P3  Nothing gets a signal once the command has ended: the id may be that of another process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { LastWords } from '../last-words.ts';
import { printable } from '../printable.ts';
import { onlyGrandchildOf } from '../process-start.ts';
import { settlesWithin } from '../settles-within.ts';
import { SvcError } from '../svc-error.ts';
import { OutputLines } from './output-lines.ts';
import type { ProcessCommand } from './process-file.ts';
import { signalGroup } from './process-group.ts';

export type OutputStream = 'stdout' | 'stderr';

/** How the process has ended. */
export interface ProcessEnd {
  /** `with exit code 3`, `by SIGSEGV`. */
  readonly how: string;
  /** The line of its output that says best why it has ended, shortened; undefined: it has written none. */
  readonly lastLine: string | undefined;
}

/** Maximum size of what bubblewrap writes about its child, in bytes. */
const INFO_BYTES_MAX = 4096;
const LAST_LINE_UNITS_MAX = 500;
/** Time for the last output to arrive after the end of the command, in milliseconds. */
const LAST_OUTPUT_MS = 500;
/** Time in which the system ends a killed process, in milliseconds. */
const KILLED_MS = 1000;
/** Exit codes from here on stand for the signal by which the program in a sandbox has ended. */
const SIGNAL_CODES = 128;

export class StartedProcess {
  /** Resolves once the command has ended, and all output has been reported. */
  readonly ended: Promise<ProcessEnd>;
  readonly #commandId: number;
  /** True once the command has written an id as bubblewrap does. */
  #isBubblewrap = false;
  /** Id of the program in the sandbox, if it is a child of the command. */
  #sandboxedId: number | undefined;
  #hasEnded = false;
  readonly #lastWords = new LastWords();

  private constructor(child: ChildProcess, onLine: (stream: OutputStream, line: string) => void) {
    this.#commandId = child.pid!;
    const outputs = (['stdout', 'stderr'] as const).map((stream) => {
      const lines = new OutputLines((line) => {
        this.#lastWords.take(line);
        onLine(stream, line);
      });
      child[stream]!.on('data', (bytes: Buffer) => lines.push(bytes));
      return lines;
    });
    const info = child.stdio[3] as Readable;
    this.#readInfo(info);
    const closed = once(child, 'close');
    this.ended = once(child, 'exit').then(async ([code, signal]) => {
      this.#hasEnded = true;
      // What the command has left behind in its group would keep the port.
      signalGroup(this.#commandId, 'SIGKILL');
      const limit = setTimeout(() => {
        // A process that has left the group still has the pipes.
        for (const stream of [child.stdout!, child.stderr!, info]) stream.destroy();
      }, LAST_OUTPUT_MS);
      await closed;
      clearTimeout(limit);
      for (const lines of outputs) lines.end();
      return {
        how: this.#howEnded(code as number | null, signal as NodeJS.Signals | null),
        lastLine:
          this.#lastWords.line && printable(this.#lastWords.line.slice(0, LAST_LINE_UNITS_MAX)),
      };
    });
  }

  /** `onLine` receives each line of its output. Rejects with SVC_COMMAND_NOT_STARTED if the system cannot start the command. */
  static async start(
    { setting, command: [program, ...args], env }: ProcessCommand,
    onLine: (stream: OutputStream, line: string) => void,
  ): Promise<StartedProcess> {
    try {
      const child = spawn(program, args, {
        env,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        detached: true,
      });
      // Before anything is awaited: the command may end at once.
      const started = child.pid === undefined ? undefined : new StartedProcess(child, onLine);
      await once(child, 'spawn');
      child.on('error', () => undefined);
      return started!;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new SvcError(
        'SVC_COMMAND_NOT_STARTED',
        `The command of the process was not started: the system says ${code ?? message}. Look at "command" in the file that ${setting} names.`,
        { cause: error },
      );
    }
  }

  /** Asks the process to end, with SIGTERM. */
  terminate(): void {
    if (this.#hasEnded) return;
    const id = this.#programId();
    if (id === undefined) signalGroup(this.#commandId, 'SIGTERM');
    else sendSignal(id, 'SIGTERM');
  }

  /** Kills the command with its group, and the program in its sandbox. */
  kill(): void {
    if (this.#hasEnded) return;
    const id = this.#programId();
    if (id !== undefined) sendSignal(id, 'SIGKILL');
    signalGroup(this.#commandId, 'SIGKILL');
  }

  /** Waits for the end, and kills the process after the time. Resolves with whether it has ended before. */
  async endsWithin(waitMs: number): Promise<boolean> {
    if (await settlesWithin(this.ended, waitMs)) return true;
    this.kill();
    await settlesWithin(this.ended, KILLED_MS);
    return false;
  }

  /** Returns the id of the program in the sandbox; undefined: there is none. */
  #programId(): number | undefined {
    if (this.#sandboxedId !== undefined || !this.#isBubblewrap) return this.#sandboxedId;
    return onlyGrandchildOf(this.#commandId);
  }

  #readInfo(info: Readable): void {
    let text = '';
    info.on('error', () => undefined);
    info.on('data', (bytes: Buffer) => {
      if (this.#isBubblewrap || text.length + bytes.length > INFO_BYTES_MAX) return;
      text += bytes.toString('latin1');
      const id = childIdIn(text);
      this.#isBubblewrap = id !== undefined;
      if (id !== undefined && parentOf(id) === this.#commandId) this.#sandboxedId = id;
    });
  }

  #howEnded(code: number | null, signalName: NodeJS.Signals | null): string {
    if (signalName !== null) return `by ${signalName}`;
    const name = this.#isBubblewrap ? signalOf(code! - SIGNAL_CODES) : undefined;
    return name === undefined ? `with exit code ${code}` : `by ${name}`;
  }
}

/** Returns the failure of a process that has ended by itself. */
export function processEnded({ how, lastLine }: ProcessEnd): SvcError {
  const seen =
    lastLine === undefined
      ? 'It has written nothing.'
      : `Look at its log, whose last line is: ${lastLine}`;
  return new SvcError('SVC_PROCESS_ENDED', `The process has ended ${how}. ${seen}`);
}

/** Returns `child-pid` of what bubblewrap writes; undefined: it is not whole, or something else. */
function childIdIn(text: string): number | undefined {
  try {
    const { 'child-pid': id } = JSON.parse(text) as { readonly 'child-pid'?: unknown };
    return Number.isSafeInteger(id) && (id as number) > 1 ? (id as number) : undefined;
  } catch {
    return undefined;
  }
}

function parentOf(id: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1');
    // The name of the program stands in parentheses and may contain any character.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function signalOf(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}

function sendSignal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name);
  } catch {
    // It has ended.
  }
}
