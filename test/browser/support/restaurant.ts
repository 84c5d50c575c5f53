// Restaurant: the environment of the browser tests: a console whose page was built from the current sources, and
// services that register in a separate folder. They are real processes, of a module that the command line has built.
import type { FaultList, ServiceList } from '@svc/contract';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildStalePage } from '../../../cli/console-page.ts';
import { type Console, startConsole } from '../../../console/server/console.ts';
import { runSvc, SvcProcess } from '../../support/host-process.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
const PROJECT = join(CHECKOUT, 'fixtures/restaurant-bill');
const ENTRY = 'assembly/index.ts';
const LINE = lineOf(join(PROJECT, ENTRY), 'state.totalCents / input.guests');
/** Source location at which the module divides by zero guests. */
export const BUG = { line: LINE, file: join(PROJECT, ENTRY), place: `${ENTRY}:${LINE}` };

/** A service that `svc dev` runs. */
export interface Developed {
  readonly url: string;
  /** Text of the terminal. */
  readonly said: () => string;
  /** Changes its entry file. */
  edit(from: string, to: string): void;
  lineOf(text: string): number;
  /** Restores the entry file. */
  mend(): void;
}

export class Restaurant {
  readonly #console: Console;
  readonly #bugs: unknown[];
  readonly #folder: string;
  #module: Promise<string> | undefined;
  readonly #env: NodeJS.ProcessEnv;
  readonly #services: SvcProcess[] = [];

  private constructor(folder: string, env: NodeJS.ProcessEnv, served: Console, bugs: unknown[]) {
    this.#folder = folder;
    this.#env = env;
    this.#console = served;
    this.#bugs = bugs;
  }

  /** Address of the console. */
  get url(): string {
    return this.#console.url;
  }

  static async open(folder: string): Promise<Restaurant> {
    const runningFolder = join(folder, 'running');
    mkdirSync(runningFolder);
    buildStalePage(CHECKOUT);
    const bugs: unknown[] = [];
    const failed = (error: unknown) => bugs.push(error);
    const served = await startConsole({ port: 0, runningFolder, failed });
    return new Restaurant(folder, { SVC_RUNNING_DIR: runningFolder }, served, bugs);
  }

  /** Starts a service with this name; resolves with its address. */
  async serve(name: string): Promise<{ readonly process: SvcProcess; readonly url: string }> {
    const data = join(this.#folder, name);
    const module = await (this.#module ??= buildModule(join(this.#folder, 'project')));
    const process = new SvcProcess(
      ['run', module, '--port', '0', '--name', name, '--data', data, '--log', 'text'],
      {
        env: this.#env,
      },
    );
    this.#services.push(process);
    return { process, url: await process.listening() };
  }

  async develop(name: string): Promise<Developed> {
    const project = join(this.#folder, name);
    const entry = join(project, ENTRY);
    cpSync(PROJECT, project, { recursive: true });
    const process = new SvcProcess(['dev', project, '--port', '0', '--name', name], {
      env: this.#env,
    });
    this.#services.push(process);
    const url = await process.listening();
    return {
      url,
      said: () => process.stderr,
      edit(from, to) {
        const text = readFileSync(entry, 'utf8');
        const changed = text.replace(from, to);
        if (changed === text) throw new Error(`'${from}' is not in ${entry}`);
        writeFileSync(entry, changed);
      },
      lineOf: (text) => lineOf(entry, text),
      mend: () => writeFileSync(entry, readFileSync(BUG.file)),
    };
  }

  /** Resolves with the console's data about the service with this name. */
  async instanceOf(name: string): Promise<string> {
    for (;;) {
      const { services } = await this.#json<ServiceList>('/api/services');
      const found = services.find((service) => service.name === name);
      if (found !== undefined) return found.instanceId;
    }
  }

  /** Resolves with the service of this name, and the trace of the request that met the bug. */
  async failure(
    name: string,
  ): Promise<{ readonly instanceId: string; readonly failedTrace: string }> {
    const instanceId = await this.instanceOf(name);
    for (;;) {
      const { faults } = await this.#json<FaultList>(
        `/api/services/${instanceId}/observability/faults`,
      );
      // A span is recorded a moment after its answer.
      const failedTrace = faults.find(({ handler }) => handler === 'share')?.traceId;
      if (failedTrace != null) return { instanceId, failedTrace };
    }
  }

  async #json<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}${path}`)).json()) as T;
  }

  async close(): Promise<void> {
    // A killed process does not tell its host, which notices by itself.
    for (const process of this.#services) process.child.kill('SIGTERM');
    await Promise.all([...this.#services.map(({ ended }) => ended), this.#console.close()]);
    if (this.#bugs.length > 0) throw new AggregateError(this.#bugs, 'bugs of the console');
  }
}

async function buildModule(project: string): Promise<string> {
  const module = join(project, 'bill.wasm');
  cpSync(PROJECT, project, { recursive: true });
  const built = await runSvc(['build', ENTRY, '-o', module], { cwd: project });
  if (built.code !== 0) throw new Error(built.stderr);
  return module;
}

/** Requests: three dishes, a refusal, and the bug. */
export async function dine(url: string): Promise<void> {
  await send(url, 'POST', '/bills/table-7/dishes', { name: 'soup', cents: 650 });
  await send(url, 'POST', '/bills/table-7/dishes', { name: 'pasta', cents: 1250 });
  await send(url, 'GET', '/bills/table-7/shares/2');
  await send(url, 'GET', '/bills/table-7');
  await send(url, 'POST', '/bills/table-8/dishes', { name: 'tea', cents: 300 });
  await send(url, 'POST', '/bills/table-8/pay');
  await send(url, 'POST', '/bills/table-8/dishes', { name: 'cake', cents: 420 });
  await send(url, 'GET', '/bills/table-7/shares/0');
}

export async function send(
  url: string,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === undefined
      ? {}
      : {
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
  });
  await answer.arrayBuffer();
}

function lineOf(file: string, text: string): number {
  return readFileSync(file, 'utf8').slice(0, -1).split(text, 1)[0]!.split('\n').length;
}
