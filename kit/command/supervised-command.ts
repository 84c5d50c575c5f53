// SupervisedCommand: keeps the command running: starts it again after it has ended by itself, with growing pauses, and at
// once when a restart is asked for.
//
// Invariants
// S1  At most one process group of the command runs at a time: the next one starts after the former has ended.
// S2  Before each start the port is free, so that only the command itself can be found listening.
// S3  After `stop`, nothing runs and nothing starts.
import { setTimeout as delay } from 'node:timers/promises';
import { printable } from '../printable.ts';
import type { Log } from '../log.ts';
import type { ServiceDescription } from '@svc/contract';
import { CommandProcess, type OutputStream, type ProcessEnd } from './command-process.ts';
import { GroupGuard } from './group-guard.ts';
import { freePort, isListening } from './process-port.ts';

export interface CommandTimes {
  /** Time between SIGTERM and SIGKILL. */
  readonly stopGraceMs: number;
  /** Pause before the first start after the command has ended by itself; each further one is twice as long. */
  readonly pauseFirstMs: number;
  readonly pauseMaxMs: number;
  /** The pauses begin anew after the command has run for this time. */
  readonly healthyMs: number;
  /** The log says that the process does not listen once it has not done so for this time. */
  readonly silentMs: number;
}

export const COMMAND_TIMES_DEFAULT: CommandTimes = {
  stopGraceMs: 10_000,
  pauseFirstMs: 250,
  pauseMaxMs: 10_000,
  healthyMs: 10_000,
  silentMs: 3000,
};
const LOOK_FIRST_MS = 10;
const LOOK_MAX_MS = 200;

/** Words for the user, who knows the command by the program that runs it. */
export interface CommandWords {
  /** Names the option or setting that chooses the port. */
  readonly portSetting: string;
  /** Says what to do about a process that does not listen. `isChosen`: the port was chosen by the setting. */
  readonly silence: (port: number, isChosen: boolean) => string;
}

export interface SupervisedCommandOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Returns the environment of the process that has to listen on the port. */
  readonly environment: (port: number) => NodeJS.ProcessEnv;
  /** Port on which the process has to listen; undefined: a free one. */
  readonly processPort: number | undefined;
  readonly words: CommandWords;
  readonly times: CommandTimes;
  readonly log: Log;
  readonly onLine: (stream: OutputStream, line: string) => void;
  /** Called each time that a process of the command has begun to listen. */
  readonly onListening: (process: { readonly pid: number; readonly port: number }) => void;
}

export type ProcessState = NonNullable<ServiceDescription['process']>;

export class SupervisedCommand {
  readonly #options: SupervisedCommandOptions;
  #guard: GroupGuard | undefined;
  #port: number;
  #process: CommandProcess | undefined;
  #isListening = false;
  #restarts = 0;
  #isStopping = false;
  /** Resolved when a restart or the stop is asked for, so that a pause ends. */
  #changed = Promise.withResolvers<void>();
  #isRestartAsked = false;
  #supervision: Promise<void> = Promise.resolve();

  constructor(options: SupervisedCommandOptions) {
    this.#options = options;
    this.#port = options.processPort ?? 0;
  }

  get state(): ProcessState {
    return {
      pid: this.#process?.pid ?? null,
      port: this.#port,
      isListening: this.#isListening,
      restarts: this.#restarts,
    };
  }

  /**
   * Starts the command for the first time. Rejects with SVC_COMMAND_NOT_STARTED, or SVC_PORT_IN_USE for a port that was
   * chosen. Resolves once the process runs; it need not listen yet.
   */
  async start(): Promise<void> {
    this.#supervision = this.#supervise(await this.#startProcess());
  }

  /** Ends the process, and starts the command again at once. Also ends a pause. */
  restart(): void {
    if (this.#isStopping) return;
    this.#isRestartAsked = true;
    this.#changed.resolve();
    void this.#process?.stop();
  }

  /** Ends the process and all that it has started. Resolves once nothing runs. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#changed.resolve();
    await this.#process?.stop();
    await this.#supervision;
    this.#guard?.close();
  }

  /** Kills what runs. */
  kill(): void {
    this.#process?.kill();
  }

  async #startProcess(): Promise<CommandProcess> {
    const { command, cwd, environment, processPort, times, words, onLine } = this.#options;
    this.#guard ??= new GroupGuard();
    this.#port = await freePort(
      this.#port,
      processPort === undefined ? undefined : words.portSetting,
    );
    const process = await CommandProcess.start({
      command,
      cwd,
      env: environment(this.#port),
      stopGraceMs: times.stopGraceMs,
      guard: this.#guard,
      onLine,
    });
    this.#process = process;
    // The stop or a restart was asked for while the process started.
    if (this.#isStopping || this.#isRestartAsked) void process.stop();
    void this.#awaitListening(process);
    return process;
  }

  async #supervise(first: CommandProcess): Promise<void> {
    const { pauseFirstMs, pauseMaxMs, healthyMs } = this.#options.times;
    let process: CommandProcess | undefined = first;
    let pauseMs = pauseFirstMs;
    for (;;) {
      const startedMs = performance.now();
      const end = await process?.ended;
      this.#process = undefined;
      this.#isListening = false;
      if (this.#isStopping) return;
      if (performance.now() - startedMs >= healthyMs) pauseMs = pauseFirstMs;
      if (!this.#isRestartAsked) {
        if (end !== undefined) this.#logEnd(end, pauseMs);
        await this.#pause(pauseMs);
        pauseMs = Math.min(2 * pauseMs, pauseMaxMs);
      }
      if (this.#isStopping) return;
      // A restart that is asked for says that something has changed.
      if (this.#isRestartAsked) pauseMs = pauseFirstMs;
      this.#isRestartAsked = false;
      this.#changed = Promise.withResolvers<void>();
      this.#restarts++;
      process = await this.#startAgain(pauseMs);
    }
  }

  /** Starts the command again. A failure is logged; then there is no process, and the next start is tried later. */
  async #startAgain(pauseMs: number): Promise<CommandProcess | undefined> {
    try {
      return await this.#startProcess();
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException;
      this.#options.log({
        level: 'error',
        message: `${message} It is tried again.`,
        fields: { code, pauseMs },
      });
      return undefined;
    }
  }

  #logEnd({ code, signal }: ProcessEnd, pauseMs: number): void {
    this.#options.log({
      level: 'warn',
      message: 'the command has ended by itself; it is started again after a pause',
      fields: { ...(signal === null ? { exitCode: code ?? 0 } : { signal }), pauseMs },
    });
  }

  async #pause(ms: number): Promise<void> {
    const ended = new AbortController();
    await Promise.race([
      this.#changed.promise,
      delay(ms, undefined, { signal: ended.signal }).catch(() => {}),
    ]);
    ended.abort();
  }

  /** Waits until the process listens, and reports it; returns earlier if the process ends. */
  async #awaitListening(process: CommandProcess): Promise<void> {
    const { times, log, words, processPort, onListening } = this.#options;
    const silentAtMs = performance.now() + times.silentMs;
    const port = this.#port;
    let isSilenceLogged = false;
    for (let pauseMs = LOOK_FIRST_MS; ; pauseMs = Math.min(2 * pauseMs, LOOK_MAX_MS)) {
      await delay(pauseMs);
      const isFound = this.#process === process && (await isListening(port));
      if (this.#process !== process) return;
      if (isFound) {
        this.#isListening = true;
        onListening({ pid: process.pid, port });
        return;
      }
      if (isSilenceLogged || performance.now() < silentAtMs) continue;
      isSilenceLogged = true;
      log({
        level: 'warn',
        message: words.silence(port, processPort !== undefined),
        fields: { port, pid: process.pid, program: printable(this.#options.command[0]!) },
      });
    }
  }
}
