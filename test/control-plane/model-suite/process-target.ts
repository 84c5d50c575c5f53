// ProcessTarget: a control plane over HTTP in a process of its own, which is killed while it answers requests.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Target } from './history-fleet.ts';
import { HttpDriver } from './http-driver.ts';
import type { Message, Reply } from './served-control-plane.ts';

const PROGRAM = join(import.meta.dirname, 'served-control-plane.ts');
/** A round takes some tens of milliseconds. */
const MS_PER_CALL = 4;

export class ProcessTarget implements Target {
  readonly driver = new HttpDriver(
    () => this.#url,
    (run) => this.#settled(run),
  );
  readonly #dataFolder: string;
  #aheadMs = 0;
  #url = '';
  #process: ChildProcess | undefined;
  #kill: NodeJS.Timeout | undefined;

  private constructor(dataFolder: string) {
    this.#dataFolder = dataFolder;
  }

  static async start(dataFolder: string): Promise<ProcessTarget> {
    const target = new ProcessTarget(dataFolder);
    await target.#start();
    return target;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.#start();
  }

  beginKill(afterCalls: number): void {
    this.#kill = setTimeout(() => this.#process!.kill('SIGKILL'), afterCalls * MS_PER_CALL);
  }

  async endKill(): Promise<void> {
    clearTimeout(this.#kill);
    await this.restart();
  }

  passTime(ms: number): void {
    this.#aheadMs += ms;
    this.#send({ passMs: ms });
  }

  async stop(): Promise<void> {
    const process = this.#process!;
    if (process.exitCode !== null || process.signalCode !== null) return;
    const exited = once(process, 'exit');
    process.kill('SIGKILL');
    await exited;
  }

  async #start(): Promise<void> {
    const child = fork(PROGRAM, [this.#dataFolder, String(this.#aheadMs)]);
    this.#process = child;
    const failed = once(child, 'exit').then(() => {
      throw new Error('the control plane has ended instead of starting');
    });
    const [reply] = (await Promise.race([once(child, 'message'), failed])) as [Reply];
    failed.catch(() => {});
    if (!('url' in reply)) throw new Error('the control plane sent no URL');
    this.#url = reply.url;
  }

  async #settled(run: string): Promise<void> {
    const child = this.#process!;
    const { promise, resolve } = Promise.withResolvers<string>();
    const take = (reply: Reply) => {
      if ('run' in reply && reply.run === run) resolve(reply.problem);
    };
    child.on('message', take);
    this.#send({ run });
    const problem = await promise;
    child.off('message', take);
    if (problem !== '') throw new Error(problem);
  }

  #send(message: Message): void {
    this.#process!.send(message);
  }
}
