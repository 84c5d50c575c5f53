// RouterProcess: a router of a machine in a process of its own, which starts again whenever it was killed, as svc up does with the gateway.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import type { RouteTable } from '@svc/routing/route-table';

const PROGRAM = join(import.meta.dirname, 'router-program.ts');
const LOOK_MS = 5;

export class RouterProcess {
  readonly #socket: string;
  #child: ChildProcess;
  #isEnding = false;
  /** Table of the present process; undefined before its first one. */
  #table: RouteTable | undefined;

  constructor(socket: string) {
    this.#socket = socket;
    this.#child = this.#start();
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves with the names of the instances of the table once they are these, or with the last ones after the time. */
  async instancesWithin(timeMs: number, wanted: readonly string[]): Promise<readonly string[]> {
    const untilMs = performance.now() + timeMs;
    for (;;) {
      const names = (this.#table?.services ?? []).flatMap(({ instances }) =>
        instances.map(({ name }) => name),
      );
      const isWanted = this.#table !== undefined && names.join() === wanted.join();
      if (isWanted || performance.now() > untilMs) return names;
      // oxlint-disable-next-line no-await-in-loop -- it waits for a process
      await pause(LOOK_MS);
    }
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #start(): ChildProcess {
    this.#table = undefined;
    const child = spawn(process.execPath, [PROGRAM, this.#socket], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface(child.stdout).on('line', (line) => {
      if (child === this.#child) this.#table = JSON.parse(line) as RouteTable;
    });
    child.once('exit', () => {
      if (!this.#isEnding) this.#child = this.#start();
    });
    return child;
  }
}
