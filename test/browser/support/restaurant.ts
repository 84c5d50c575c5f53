// Restaurant: what the browser tests look at: a console and a service of this machine that register in a folder of
// their own, real processes both, and the service built by the command line as a user builds it.
import type { FaultList } from '@svc/contract';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSvc, SvcProcess } from '../../support/host-process.ts';

const PROJECT = join(import.meta.dirname, '../../../fixtures/restaurant-bill');
const ENTRY = 'assembly/index.ts';
const LINE = lineOf(join(PROJECT, ENTRY), 'state.totalCents / input.guests');
/** Where the module divides by no guests. */
export const BUG = { line: LINE, file: join(PROJECT, ENTRY), place: `${ENTRY}:${LINE}` };

export class Restaurant {
  readonly console: SvcProcess;
  /** Of the console. */
  readonly url: string;
  readonly #folder: string;
  readonly #module: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #services: SvcProcess[] = [];

  private constructor(
    folder: string,
    module: string,
    env: NodeJS.ProcessEnv,
    served: SvcProcess,
    url: string,
  ) {
    this.#folder = folder;
    this.#module = module;
    this.#env = env;
    this.console = served;
    this.url = url;
  }

  static async open(folder: string): Promise<Restaurant> {
    const project = join(folder, 'project');
    const module = join(project, 'bill.wasm');
    cpSync(PROJECT, project, { recursive: true });
    const env = { SVC_RUNNING_DIR: join(folder, 'running') };
    const served = new SvcProcess(['console', '--port', '0'], { env });
    const [built, url] = await Promise.all([
      runSvc(['build', ENTRY, '-o', module], { cwd: project }),
      served.listening(),
    ]);
    if (built.code !== 0) throw new Error(built.stderr);
    return new Restaurant(folder, module, env, served, url);
  }

  /** A service of this name, and its address. */
  async serve(name: string): Promise<{ readonly process: SvcProcess; readonly url: string }> {
    const data = join(this.#folder, name);
    const process = new SvcProcess(
      ['run', this.#module, '--port', '0', '--name', name, '--data', data],
      { env: this.#env },
    );
    this.#services.push(process);
    return { process, url: await process.listening() };
  }

  /** A service that is being worked on: `edit` changes its entry file. */
  async develop(name: string): Promise<{ edit(from: string, to: string): void }> {
    const project = join(this.#folder, name);
    const entry = join(project, ENTRY);
    cpSync(PROJECT, project, { recursive: true });
    const process = new SvcProcess(['dev', project, '--port', '0', '--name', name], {
      env: this.#env,
    });
    this.#services.push(process);
    await process.listening();
    return {
      edit(from, to) {
        writeFileSync(entry, readFileSync(entry, 'utf8').replace(from, to));
      },
    };
  }

  /** The service that runs, and the trace of the request that met the bug. */
  async failure(): Promise<{ readonly instanceId: string; readonly failedTrace: string }> {
    const { services } = await this.#json<{ services: { instanceId: string }[] }>('/api/services');
    const { instanceId } = services[0]!;
    for (;;) {
      const { faults } = await this.#json<FaultList>(
        `/api/services/${instanceId}/observability/faults`,
      );
      // A span is there a moment after its answer.
      const failedTrace = faults.find(({ handler }) => handler === 'share')?.traceId;
      if (failedTrace != null) return { instanceId, failedTrace };
    }
  }

  async #json<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}${path}`)).json()) as T;
  }

  async close(): Promise<void> {
    // A killed one leaves its host to find out by itself.
    for (const process of [...this.#services, this.console]) process.child.kill('SIGTERM');
    await Promise.all([...this.#services, this.console].map(({ ended }) => ended));
  }
}

/** Three dishes, a refusal, and the bug. */
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
): Promise<void> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, { method, ...(body === undefined ? {} : json) });
  await answer.arrayBuffer();
}

function lineOf(file: string, text: string): number {
  return readFileSync(file, 'utf8').slice(0, -1).split(text, 1)[0]!.split('\n').length;
}
