// DevService: the process that runs the service of a session. The process ends when its IPC channel closes, so that
// it never outlives this process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromDevHost, ToDevHost } from '@svc/host/tools';

/**
 * Time for the service to stop, in milliseconds, before it is killed. It is longer than the service's own limit for a
 * stop with the default settings, svc.supervisor.stop-grace-ms and svc.supervisor.stop-margin-ms.
 */
const STOP_MS = 15_000;

export interface DevServiceOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onMessage: (message: FromDevHost) => void;
  /** Receives the text that the process writes to stdout and stderr. */
  readonly onOutput: (text: string) => void;
}

export class DevService {
  /** Resolves with the exit code of the process once it has ended; with null if a signal ended it. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor({ args, cwd, env, onMessage, onOutput }: DevServiceOptions) {
    const host = fileURLToPath(import.meta.resolve('@svc/host/dev-host'));
    this.#child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', host, ...args],
      { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    this.#child.on('message', (message: FromDevHost) => onMessage(message));
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding('utf8').on('data', onOutput);
    // Waits for 'exit', because Node emits no 'close' after this process has closed the channel.
    this.ended = once(this.#child, 'exit').then(([code]: unknown[]) => code as number | null);
  }

  send(message: ToDevHost): void {
    // A process that has ended receives no message; `ended` reports its end.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Stops the process. Resolves once it has ended. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), STOP_MS);
    await this.ended;
    clearTimeout(timer);
  }

  /** Kills the process with SIGKILL, without waiting for its end. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
