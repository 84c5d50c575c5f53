// A program of an SDK that listens on a free port, and prints `listening at ADDRESS`.
import { spawn } from 'node:child_process';
import { freePorts } from '../../support/free-ports.ts';
import { PYTHON_ENVIRONMENT } from '../../support/python.ts';
import type { ServedProgram } from '../../suites/process-protocol/process-protocol-suite.ts';

export type StartedProgram = ServedProgram & {
  readonly pid: number;
  /** The latest lines that it has printed. */
  output(): string;
};

/** Starts the program, and resolves when it listens. Rejects with its output when it ends before. */
export async function servedProgram(
  command: string,
  ...args: readonly string[]
): Promise<StartedProgram> {
  const [port] = await freePorts(1);
  const env = { ...process.env, ...PYTHON_ENVIRONMENT, SVC_PROCESS_PORT: String(port!) };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let output = '';
  const address = await new Promise<string>((resolve, reject) => {
    const onText = (text: string): void => {
      output = (output + text).slice(-10_000);
      const found = /listening at (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', onText);
    child.stderr.setEncoding('utf8').on('data', onText);
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the program has ended:\n${output}`)));
  });
  return {
    address,
    pid: child.pid!,
    output: () => output,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
