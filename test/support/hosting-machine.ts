// HostingMachine: a real `svc control-plane` that runs programs of images as services, and requests to them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { InstanceFolder } from '../../control-plane/local/instance-folder.ts';
import { IdentifiedMachine } from './identified-machine.ts';
import type { IdentityProvider } from './identity-provider/identity-provider.ts';
import type { ShownStatus } from './local-machine.ts';

export class HostingMachine {
  readonly identified: IdentifiedMachine;

  constructor(identified: IdentifiedMachine) {
    this.identified = identified;
  }

  /** `env`: further settings. */
  static async start(
    provider: IdentityProvider,
    env: Readonly<Record<string, string>> = {},
  ): Promise<HostingMachine> {
    return new HostingMachine(await IdentifiedMachine.start(provider, env));
  }

  async apply(descriptor: Readonly<Record<string, unknown>>): Promise<ShownStatus> {
    const path = `/services/shop/${String(descriptor['name'])}`;
    const { svc } = this.identified.machine;
    const { status, body } = await svc.send(`PUT ${path}`, 'ann', descriptor);
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    return body as ShownStatus;
  }

  async status(name: string): Promise<ShownStatus> {
    const { body } = await this.identified.machine.svc.send(`GET /services/shop/${name}`, 'ann');
    return body as ShownStatus;
  }

  async until(name: string, holds: (status: ShownStatus) => boolean): Promise<ShownStatus> {
    for (;;) {
      const status = await this.status(name);
      if (holds(status)) return status;
      await pause(50);
    }
  }

  /** Applies the descriptor, and resolves with its instances once the generation is ready. */
  async deploy(descriptor: Readonly<Record<string, unknown>>): Promise<readonly InstanceFolder[]> {
    const name = String(descriptor['name']);
    const { generation } = await this.apply(descriptor);
    await this.until(name, (status) => {
      if (status.lifecycle === 'failed') throw new Error(JSON.stringify(status));
      return status.generation === generation && status.lifecycle === 'ready';
    });
    return this.instances(name).filter(({ spec }) => spec.generation === generation);
  }

  instances(name: string): readonly InstanceFolder[] {
    return this.identified.machine.instances().filter(({ spec }) => spec.key.service === name);
  }

  /** Asks as the gateway. Resolves with the body, which is JSON. */
  async ask(instance: InstanceFolder, path: string): Promise<unknown> {
    const { body } = await this.identified.askAsGateway(instance, path);
    return JSON.parse(body);
  }

  /** Resolves with the logs of the service as they are answered. */
  async logs(name: string, query = ''): Promise<string> {
    const { svc } = this.identified.machine;
    const { body } = await svc.send(`GET /services/shop/${name}/logs${query}`, 'ann');
    return JSON.stringify(body);
  }
}

/** Returns the ids of all processes that run for an instance, in its sandbox and around it. */
export function processesOf(instance: InstanceFolder): readonly number[] {
  const leader = instance.lastRun?.process?.pid;
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === leader || isBelow(parents.get(pid)));
  return [...parents.keys()].filter(isBelow);
}

/** Returns undefined for a process that has ended. */
function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

/** Returns the sockets for calls that are left in the folder of a machine. */
export function socketsIn(folder: string): readonly string[] {
  const files = readdirSync(join(folder, 'sockets'), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.sock'));
}
