// DevService: the process in which the service of a session runs. It ends when the channel to it closes, so that none is
// left whatever becomes of this one.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromDevHost, ToDevHost } from '@svc/host/tools';

/** More than the service takes to stop. */
const STOP_MS = 15_000;

export interface DevServiceOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly hear: (message: FromDevHost) => void;
  /** What the process writes by itself. */
  readonly said: (text: string) => void;
}

export class DevService {
  /** Resolves with its exit code, once it has ended; null: by a signal. */
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;

  constructor({ args, cwd, env, hear, said }: DevServiceOptions) {
    const host = fileURLToPath(import.meta.resolve('@svc/host/dev-host'));
    this.#child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', host, ...args],
      { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    this.#child.on('message', (message: FromDevHost) => hear(message));
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding('utf8').on('data', said);
    // Once the channel was closed from here, Node tells of no 'close'.
    this.ended = once(this.#child, 'exit').then(([code]: unknown[]) => code as number | null);
  }

  tell(message: ToDevHost): void {
    // One that has ended is told nothing, and that is noticed elsewhere.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  /** Resolves once it has ended. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), STOP_MS);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
