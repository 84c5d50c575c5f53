// CartLanguages: the languages in which the cart can be served by a process of its own on this machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePorts } from '../../test/support/free-ports.ts';

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

/** Returns the languages of which this machine has all that they need, and prints which one is left out, and why. */
export function cartLanguages(): readonly CartLanguage[] {
  return [TYPESCRIPT];
}

export async function startCartProcess({ command, variables }: CartLanguage): Promise<CartProcess> {
  const [port] = await freePorts(1);
  const [program, ...args] = command;
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...variables, SVC_PROCESS_PORT: String(port) },
  });
  return { address: `127.0.0.1:${port}`, pid: child.pid!, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
