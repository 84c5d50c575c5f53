// PeerProcess: a program of others that listens on a loopback port of its own. It has begun once `isReady` says so, and it is
// killed at last.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PEER_ENVIRONMENT } from './peer-programs.ts';

export interface PeerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

const POLL_MS = 20;
const START_MS_MAX = 30_000;
/** Another process may take a port between the moment in which it was free and the one in which the program listens. */
const ATTEMPTS = 5;

/** Programs that this process has started, and that are to end with it. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class PeerProcess {
  readonly port: number;
  readonly pid: number;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.port = port;
    this.pid = child.pid!;
    this.#child = child;
  }

  /** Starts the command for a free port, and rejects with what the program has printed if it does not begin. */
  static async start(
    commandFor: (port: number) => PeerCommand,
    isReady: (port: number) => Promise<boolean>,
  ): Promise<PeerProcess> {
    let printed = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const port = await freePort();
      const { program, args, env } = commandFor(port);
      const child = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...PEER_ENVIRONMENT, ...env },
      });
      running.add(child);
      child.once('exit', () => running.delete(child));
      // It is read to its end, so that the program never waits for a reader.
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          if (printed.length < 10_000) printed += text;
        });
      await once(child, 'spawn');
      if (await hasBegun(child, () => isReady(port))) return new PeerProcess(port, child);
      await killed(child);
    }
    throw new Error(`a program has not begun:\n${printed}`);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(): Promise<void> {
    await killed(this.#child);
  }
}

async function hasBegun(child: ChildProcess, isReady: () => Promise<boolean>): Promise<boolean> {
  const untilMs = performance.now() + START_MS_MAX;
  while (child.exitCode === null && child.signalCode === null && performance.now() < untilMs) {
    if (await isReady().catch(() => false)) return true;
    await pause(POLL_MS);
  }
  return false;
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
