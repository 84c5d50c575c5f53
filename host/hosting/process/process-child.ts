// ProcessChild: a process that svc starts for a tool, at a free port of this machine. It is not started again.
import { CommandProcess, type OutputStream, type ProcessEnd } from '@svc/kit/command-process';
import { GroupGuard } from '@svc/kit/group-guard';
import { freePort } from '@svc/kit/process-port';
import { processEnvironment } from './process-environment.ts';

/** Milliseconds between SIGTERM and SIGKILL. */
const STOP_GRACE_MS = 5_000;

export interface ProcessChildOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Environment of svc. */
  readonly env: NodeJS.ProcessEnv;
  /** Receives each line of its output, without escapes. */
  readonly onLine: (stream: OutputStream, line: string) => void;
}

export class ProcessChild {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly #process: CommandProcess;
  readonly #guard: GroupGuard;

  private constructor(port: number, process: CommandProcess, guard: GroupGuard) {
    this.address = `127.0.0.1:${port}`;
    this.#process = process;
    this.#guard = guard;
  }

  /** Resolves once the process runs; it need not listen yet. Rejects with SVC_COMMAND_NOT_STARTED. */
  static async start({ command, cwd, env, onLine }: ProcessChildOptions): Promise<ProcessChild> {
    const port = await freePort(0);
    const guard = new GroupGuard();
    try {
      const process = await CommandProcess.start({
        command,
        cwd,
        env: processEnvironment(env, port),
        stopGraceMs: STOP_GRACE_MS,
        guard,
        onLine,
      });
      return new ProcessChild(port, process, guard);
    } catch (error) {
      guard.close();
      throw error;
    }
  }

  /** Resolves when the process has ended, and all that it has started. */
  get ended(): Promise<ProcessEnd> {
    return this.#process.ended;
  }

  /** Ends the process and all that it has started. */
  async stop(): Promise<void> {
    await this.#process.stop();
    this.#guard.close();
  }
}
