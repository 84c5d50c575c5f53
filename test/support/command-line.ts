// Commands of the command line, run in the process of the test: a command that only reads or changes a folder takes
// milliseconds there, and a quarter of a second as a process of its own. One test of each command starts a real process.
import { vi } from 'vitest';
import { runCommandLine } from '../../cli/command-line.ts';
import { OWN_PLACES } from './host-process.ts';

export interface CommandEnded {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

let isRunning = false;

/**
 * Runs a command to its end and returns what it wrote, without colours. Commands run one at a time, since they share the streams
 * of the process; one that listens for signals or serves needs a process of its own.
 */
export async function runCommand(args: readonly string[]): Promise<CommandEnded> {
  if (isRunning) throw new Error('another command writes to the streams of the process');
  isRunning = true;
  const out = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      out[name] += typeof text === 'string' ? text : Buffer.from(text).toString();
      return true;
    }),
  );
  const { env } = process;
  process.env = { ...env, ...OWN_PLACES, NO_COLOR: '1', FORCE_COLOR: undefined };
  try {
    return { code: await runCommandLine(args), ...out };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.env = env;
    isRunning = false;
  }
}

/** Runs commands one after the other. */
export async function runCommands(
  commands: readonly (readonly string[])[],
): Promise<CommandEnded[]> {
  const ended: CommandEnded[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one at a time
  for (const args of commands) ended.push(await runCommand(args));
  return ended;
}
