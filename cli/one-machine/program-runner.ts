// ProgramRunner: the processes of the programs of one machine, as Supervision wants them. Each is in a process group of its own, so that
// ctrl-c reaches this process alone, and ends by itself if this process is gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { socketVariables } from '@svc/kit/listening-sockets';
import { type ProcessStart, processStartOf } from '@svc/kit/process-start';
import type { MachineProgram } from './machine-programs.ts';
import {
  Supervision,
  SUPERVISION_LIMITS,
  type SupervisionEffect,
  type SupervisionLimits,
} from './supervision.ts';

/** Lines of each program that are kept for a message. */
const LAST_LINES = 20;

export interface RunnerCallbacks {
  /** A line that a program has written, without its end. */
  readonly onLine: (name: string, line: string) => void;
  /** The processes that run have changed. */
  readonly onProcesses: (processes: Readonly<Record<string, ProcessStart>>) => void;
  readonly onAllReady: () => void;
  /** A program that was ready has ended by itself, and is started again. */
  readonly onRestart: (name: string, end: string) => void;
}

/** Why no program runs any more: a stop that was asked for, or a program that could not be started. */
export type RunnerEnd =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'broken'; readonly name: string; readonly lines: readonly string[] };

interface Run {
  readonly child: ChildProcess;
  readonly start: ProcessStart;
}

export class ProgramRunner {
  readonly #programs: ReadonlyMap<string, MachineProgram>;
  readonly #callbacks: RunnerCallbacks;
  readonly #supervision: Supervision;
  readonly #runs = new Map<string, Run>();
  readonly #lines = new Map<string, string[]>();
  readonly #wereReady = new Set<string>();
  readonly #ended = Promise.withResolvers<RunnerEnd>();
  #end: RunnerEnd = { kind: 'stopped' };
  #isStopping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    programs: readonly MachineProgram[],
    callbacks: RunnerCallbacks,
    limits: SupervisionLimits = SUPERVISION_LIMITS,
  ) {
    this.#programs = new Map(programs.map((program) => [program.name, program]));
    this.#callbacks = callbacks;
    this.#supervision = new Supervision(programs, limits);
  }

  /** Starts all programs. Resolves once none runs any more. */
  run(): Promise<RunnerEnd> {
    this.#perform(this.#supervision.start());
    return this.#ended.promise;
  }

  stop(): void {
    this.#isStopping = true;
    this.#perform(this.#supervision.stop(performance.now()));
  }

  #perform(effects: readonly SupervisionEffect[]): void {
    for (const effect of effects)
      switch (effect.kind) {
        case 'start':
          this.#prepare(this.#programs.get(effect.name)!);
          break;
        case 'signal':
          this.#signal(effect.name, effect.signal);
          break;
        case 'all-ready':
          this.#callbacks.onAllReady();
          break;
        case 'broken': {
          this.#isStopping = true;
          const lines = this.#lines.get(effect.name) ?? [];
          this.#end = { kind: 'broken', name: effect.name, lines };
          break;
        }
        case 'stopped':
          this.#ended.resolve(this.#end);
          break;
        default:
          effect satisfies never;
      }
    this.#schedule();
  }

  #prepare(program: MachineProgram): void {
    const { prepare } = program;
    if (prepare === undefined) this.#start(program);
    else
      void prepare().then(
        () => this.#prepared(program),
        ({ message }: Error) => this.#prepared(program, message),
      );
  }

  /** A stop may have begun meanwhile: then the program is not started. */
  #prepared(program: MachineProgram, failure?: string): void {
    const { name } = program;
    if (failure === undefined && !this.#isStopping) return this.#start(program);
    if (failure !== undefined) {
      this.#lines.set(name, [failure]);
      this.#callbacks.onLine(name, failure);
      if (!this.#isStopping) this.#callbacks.onRestart(name, 'it could not be prepared');
    }
    this.#perform(this.#supervision.ended(name, performance.now()));
  }

  #start(program: MachineProgram): void {
    const { name, command, firstWords = [], env, sockets = [] } = program;
    const [file = '', ...args] = command;
    const words = this.#wereReady.has(name) ? args : [...args, ...firstWords];
    const socketNames = sockets.map((socket) => socket.name);
    const child = spawn(file, words, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', ...sockets.map(({ fd }) => fd)],
      env: { ...env, ...socketVariables(socketNames, process.pid) },
    });
    const lines: string[] = [];
    this.#lines.set(name, lines);
    const follow = (stream: Readable): void => {
      stream.on('error', () => {});
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        if (lines.length > LAST_LINES) lines.shift();
        this.#callbacks.onLine(name, line);
        if (!program.readyLine.test(line)) return;
        this.#wereReady.add(name);
        this.#perform(this.#supervision.ready(name, performance.now()));
      });
    };
    follow(child.stdout!);
    follow(child.stderr!);
    // The end of the process, and not of its output: a child of its own may keep that open.
    child.once('exit', (code, signal) =>
      this.#over(name, child, signal ?? `exit code ${code}`, code === 0),
    );
    child.once('error', ({ message }) => {
      if (child.pid !== undefined) return;
      lines.push(message);
      this.#over(name, child, message, false);
    });
    if (child.pid === undefined) return;
    this.#runs.set(name, { child, start: processStartOf(child.pid) });
    this.#reportProcesses();
  }

  #over(name: string, child: ChildProcess, end: string, wasAsked: boolean): void {
    if (this.#runs.get(name)?.child === child) this.#runs.delete(name);
    this.#reportProcesses();
    if (!this.#isStopping) this.#callbacks.onRestart(name, end);
    this.#perform(this.#supervision.ended(name, performance.now(), wasAsked));
  }

  #signal(name: string, signal: 'SIGTERM' | 'SIGKILL'): void {
    const run = this.#runs.get(name);
    // Killed with everything that it has started.
    if (signal === 'SIGKILL' && run !== undefined) process.kill(-run.start.pid, signal);
    else run?.child.kill(this.#programs.get(name)!.stopSignal ?? signal);
  }

  #reportProcesses(): void {
    this.#callbacks.onProcesses(
      Object.fromEntries([...this.#runs].map(([name, { start }]) => [name, start])),
    );
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { dueMs } = this.#supervision;
    if (dueMs === undefined) return;
    const advance = (): void => this.#perform(this.#supervision.advance(performance.now()));
    this.#timer = setTimeout(advance, Math.max(1, Math.ceil(dueMs - performance.now())));
  }
}
