// A real `svc run` process: started on a free port with a folder of its own, watched, and ended.
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { type ListeningSocket, socketVariables } from '../../kit/listening-sockets.ts';

const root = join(import.meta.dirname, '..', '..');
const cli = join(root, 'cli', 'bin', 'svc.js');

/**
 * What every service of a test has in its environment: several are run at the same time, and none of them is a
 * developer's, whose console would show it.
 */
export const OWN_PLACES = {
  SVC_MANAGEMENT_PORT: '0',
  SVC_RUNNING_DIR: join(root, 'build', 'running'),
} as const;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line to its end. */
export async function runSvc(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  return new SvcProcess(args, options).ended;
}

export class SvcProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';

  /**
   * `program`: one that embeds the host, in the place of the command line. `sockets`: listening sockets that a program is given. `interpreter`: the
   * program that runs it; Node if absent.
   */
  constructor(
    args: readonly string[],
    options: {
      cwd?: string;
      env?: NodeJS.ProcessEnv;
      program?: string;
      sockets?: readonly ListeningSocket[];
      interpreter?: string;
    } = {},
  ) {
    const { program = cli, sockets = [], interpreter = process.execPath, cwd, env } = options;
    const names = sockets.map(({ name }) => name);
    const given = sockets.length === 0 ? {} : socketVariables(names, process.pid);
    this.child = spawn(interpreter, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe', ...sockets.map(({ fd }) => fd)],
      cwd,
      env: { ...process.env, ...OWN_PLACES, ...given, ...env },
    });
    this.child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (this.stdout += chunk));
    this.child.stderr!.setEncoding('utf8').on('data', (chunk: string) => (this.stderr += chunk));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      );
    });
  }

  /** Resolves with the address once the service listens. Rejects when it ends before. */
  async listening(): Promise<string> {
    return this.printed(/^(https?:\/\/\S+)$/m);
  }

  /** Resolves with the first group once stdout matches. Rejects when the process ends before. */
  async printed(pattern: RegExp): Promise<string> {
    const text = Promise.withResolvers<string>();
    const look = () => {
      const found = pattern.exec(this.stdout)?.[1];
      if (found !== undefined) text.resolve(found);
    };
    this.child.stdout!.on('data', look);
    look();
    void this.ended.then(({ stderr }) =>
      text.reject(new Error(`it ended before it listened:\n${stderr}`)),
    );
    return text.promise;
  }

  /** Resolves once the log (stderr) matches. Rejects when the process ends before. */
  async logged(pattern: RegExp): Promise<void> {
    const found = Promise.withResolvers<void>();
    const look = () => {
      if (pattern.test(this.stderr)) found.resolve();
    };
    this.child.stderr!.on('data', look);
    look();
    void this.ended.then(({ stderr }) =>
      found.reject(new Error(`it ended without logging ${pattern}:\n${stderr}`)),
    );
    return found.promise;
  }

  async end(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal);
    return this.ended;
  }
}

/** For a process that a test did not start itself, and that may have ended. */
export function stopForGood(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, as it should have.
  }
}
