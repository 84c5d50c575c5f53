// CartLanguages: the languages in which the cart can be served by a process of its own on this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePorts } from '../../test/support/free-ports.ts';
import { python, PYTHON_ENVIRONMENT } from '../../test/support/python.ts';

export interface CartLanguage {
  readonly name: string;
  /** Ends the letters of its rows. */
  readonly suffix: '' | '2';
  /** The command line that serves the cart at the port of SVC_PROCESS_PORT. */
  readonly command: readonly [program: string, ...args: string[]];
  readonly variables: Readonly<Record<string, string>>;
}

/** A process that holds the cart. It may not listen yet: the runtime waits for it. */
export interface CartProcess {
  /** `127.0.0.1:PORT`. */
  readonly address: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export const TYPESCRIPT: CartLanguage = {
  name: 'TypeScript',
  suffix: '',
  command: [process.execPath, join(import.meta.dirname, 'cart-process.ts')],
  variables: {},
};

const PYTHON_MISSING = 'there is no Python 3.11 with grpcio and protobuf';
/** Returns the languages of which this machine has all that they need, and prints which one is left out, and why. */
export function cartLanguages(): readonly CartLanguage[] {
  if (python === undefined) {
    const rows = 'da2, db2, dc2, dd2';
    process.stderr.write(`bench: ${rows} are left out: ${PYTHON_MISSING}\n`);
    return [TYPESCRIPT];
  }
  const command = [python, join(import.meta.dirname, 'cart_process.py')] as const;
  return [TYPESCRIPT, { name: 'Python', suffix: '2', command, variables: PYTHON_ENVIRONMENT }];
}

/** Returns variables as `env` takes them. */
function words(variables: CartLanguage['variables']): readonly string[] {
  return Object.entries(variables).map((variable) => variable.join('='));
}

export async function startCartProcess({ command, variables }: CartLanguage): Promise<CartProcess> {
  const [port] = await freePorts(1);
  const set = words({ ...variables, SVC_PROCESS_PORT: String(port) });
  // `env` becomes the program, so the child's number is that of the program.
  const child = spawn('env', [...set, ...command], { stdio: ['ignore', 'ignore', 'inherit'] });
  return { address: `127.0.0.1:${port}`, pid: child.pid!, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
