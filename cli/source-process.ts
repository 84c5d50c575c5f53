// SourceProcess is a process that a command has started, because the process holds the code with which the command folds events. It has
// no terminal of its own: what it prints appears on stderr.
//
// Invariants
// S1  Once `end` has resolved, nothing of the process runs.
// S2  The command does not wait for a process that has ended, or that does not answer for START_TIMEOUT_MS.
import type { GuestSource, ProcessChild } from '@svc/host/tools';
import { printable } from '@svc/kit/printable';
import { CommandFailure } from './command.ts';
import { UsageError } from './usage-error.ts';

/** Time in which a process has to answer after its start, in milliseconds. */
const START_TIMEOUT_MS = 30_000;

type Tools = typeof import('@svc/host/tools');

export class SourceProcess {
  readonly #tools: Tools;
  readonly #line: string;
  readonly #child: ProcessChild;
  #ending: Promise<void> | undefined;

  private constructor(tools: Tools, line: string, child: ProcessChild) {
    this.#tools = tools;
    this.#line = line;
    this.#child = child;
  }

  /** Starts the command line, without a shell. Rejects with UsageError if it has no program, and with SVC_COMMAND_NOT_STARTED. */
  static async start(tools: Tools, line: string): Promise<SourceProcess> {
    const command = tools.commandWords(line);
    if (command === undefined)
      throw new UsageError(
        `a process is started by a program and its arguments, and the command found is '${line}'.`,
      );
    const child = await tools.ProcessChild.start({
      command,
      cwd: process.cwd(),
      env: process.env,
      onLine: (_stream, text) => void process.stderr.write(`${printable(text)}\n`),
    });
    return new SourceProcess(tools, line, child);
  }

  /** Waits until the process answers. Rejects with SVC_PROCESS_UNAVAILABLE and SVC_PROCESS_INVALID. */
  async source(): Promise<GuestSource> {
    const { address, ended } = this.#child;
    const stop = new AbortController();
    void ended.then(({ code, signal }) => {
      const how = code === null ? `by the signal ${signal}` : `with the exit code ${code}`;
      stop.abort(this.#failure(`has ended ${how} before it answered`));
    });
    return this.#tools.readStartingProcess(address, START_TIMEOUT_MS, stop.signal);
  }

  /** Ends the process and all that it has started. May be called again. */
  end(): Promise<void> {
    this.#ending ??= this.#child.stop();
    return this.#ending;
  }

  #failure(why: string): CommandFailure {
    return new CommandFailure(
      'SVC_PROCESS_UNAVAILABLE',
      `The process that '${this.#line}' starts ${why}. It has to listen at the port of the variable SVC_PROCESS_PORT.`,
    );
  }
}
