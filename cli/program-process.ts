// ProgramProcess: replaces this process by a program; where a process cannot be replaced, starts the program as a child. The
// program reads its arguments and its environment itself.
import { listeningSockets } from '@svc/kit/listening-sockets';
import { spawn, type StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { npmEnds } from './npm-end.ts';

/** `program`: the file of its entry point. `nodeOptions`: options of Node for it. Does not return. */
export async function continueAs(
  program: string,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<never> {
  const options = ['--disable-warning=ExperimentalWarning', ...nodeOptions];
  const command = [process.execPath, ...options, program, ...args];
  const env = { ...process.env };
  // When npm is stopped, it ends the shell between npm and this process. The shell may not pass the signal on, so the
  // program watches its parent process.
  delete env['SVC_PARENT_PID'];
  if (env['npm_lifecycle_event'] !== undefined) env['SVC_PARENT_PID'] = String(process.ppid);
  // Lets the listeners of cli/bin/svc.js handle a signal that process 1 has received until now. The signal would be
  // lost once the program has replaced this one.
  if (process.pid === 1) await setImmediate();
  // Node closes other files than stdin, stdout and stderr when it replaces a process, so that sockets are passed to a child.
  const sockets = listeningSockets(env, [process.pid, process.ppid]);
  if (process.platform !== 'win32' && process.execve !== undefined && sockets.length === 0)
    process.execve(process.execPath, command, env);
  // The child takes sockets that were given to its parent; they may have been given to the parent of this process (cli/bin/svc.js).
  if (sockets.length > 0) env['LISTEN_PID'] = String(process.pid);
  process.on('SIGINT', () => {});
  let isStopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    isStopping = true;
    child.kill(signal);
  };
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  // The parent of the child is this process, which watches its own.
  env['SVC_PARENT_PID'] = String(process.pid);
  // A second SIGTERM would cut requests that the first one lets finish.
  void npmEnds(env['npm_lifecycle_event']).then(() => isStopping || stop('SIGTERM'));
  const stdio: StdioOptions = ['inherit', 'inherit', 'inherit', ...sockets.map(({ fd }) => fd)];
  const child = spawn(command[0]!, command.slice(1), { stdio, env });
  const { promise, resolve } = Promise.withResolvers<number>();
  child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]));
  return process.exit(await promise);
}
