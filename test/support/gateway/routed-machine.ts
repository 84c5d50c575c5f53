// RoutedMachine: a real `svc control-plane` that runs services as processes of this machine, and a real `svc gateway` that follows its routes.
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { IdentityProvider } from '../identity-provider/identity-provider.ts';
import { LocalMachine } from '../local-machine.ts';
import { PacedPosts } from '../paced-posts.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DOMAIN, install, type Installation, TestGateway } from './test-gateway.ts';

/** Hostname of the service `counter` of the project `shop`. */
export const COUNTER = `counter-shop.${DOMAIN}`;

export class RoutedMachine {
  readonly machine: LocalMachine;
  readonly #installation: Installation;
  gateway: TestGateway;

  private constructor(machine: LocalMachine, installation: Installation, gateway: TestGateway) {
    this.machine = machine;
    this.#installation = installation;
    this.gateway = gateway;
  }

  /** Starts both, with the service `counter` of the module, exposed and ready. They end with the test. */
  static async start(module: Uint8Array): Promise<RoutedMachine> {
    const provider = await IdentityProvider.start();
    onTestFinished(() => provider.stop());
    const machine = new LocalMachine(provider, {
      SVC_CONTROL_PLANE_BASE_DOMAIN: DOMAIN,
      SVC_LOCAL_PLAIN_INSTANCES: 'false',
    });
    await machine.withProject();
    await machine.store('counter', module);
    const installation = await install(temporaryFolder());
    for (const name of ['routes.sock', 'routes.json'])
      symlinkSync(join(machine.cwd, 'machine', name), join(installation.folder, name));
    const routed = new RoutedMachine(
      machine,
      installation,
      await startGateway(machine, installation),
    );
    const { generation } = await machine.apply();
    await machine.until(
      (status) => status.generation === generation && status.lifecycle === 'ready',
    );
    await routed.send('POST /services/shop/counter/expose');
    await routed.until(200);
    return routed;
  }

  async send(line: string): Promise<void> {
    const { status, body } = await this.machine.svc.send(line, 'ann');
    if (status >= 300) throw new Error(`${line} was answered ${status}: ${JSON.stringify(body)}`);
  }

  /** Resolves once the gateway answers a request to the counter with the status. */
  async until(status: number): Promise<void> {
    while ((await this.gateway.get(COUNTER, [], '/counters/one')).status !== status)
      await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Resolves once the file of routes has the counter, which is a moment after the gateway has it. */
  async untilInFile(): Promise<void> {
    const file = join(this.machine.cwd, 'machine', 'routes.json');
    await vi.waitUntil(() => readFileSync(file, 'utf8').includes(COUNTER), { timeout: 30_000 });
  }

  /** Kills the gateway, and starts another one. */
  async killAndStartGateway(): Promise<void> {
    await this.gateway.svc.end('SIGKILL');
    this.gateway = await startGateway(this.machine, this.#installation);
  }

  /** Adds 1 to the counter `one` at the rate until `stop` is called. */
  posts(perSecond: number): PacedPosts {
    return new PacedPosts({
      port: this.gateway.port,
      hostname: COUNTER,
      path: '/counters/one',
      body: '{"amount":1}',
      ca: this.#installation.names.certificate,
      perSecond,
    });
  }

  /** Value of the counter `one`. */
  async value(): Promise<number> {
    const { body } = await this.gateway.get(COUNTER, [], '/counters/one');
    return (JSON.parse(body) as { value: number }).value;
  }

  /** Replaces the instance, and resolves once the next one serves alone. */
  async replace(): Promise<void> {
    await this.send('POST /services/shop/counter/restart');
    const { body } = await this.machine.svc.send('GET /services/shop/counter', 'ann');
    const { generation } = body as { generation: number };
    await this.machine.until(
      (status) => status.generation === generation && status.lifecycle === 'ready',
    );
    await this.machine.untilOneInstance();
  }
}

/** A gateway with the identity that the control plane has given it. */
async function startGateway(
  machine: LocalMachine,
  installation: Installation,
): Promise<TestGateway> {
  const gateway = await TestGateway.start(installation, {
    'svc.identity.folder': join(machine.cwd, 'machine', 'gateway', 'identity'),
  });
  onTestFinished(() => void gateway.svc.end('SIGKILL'));
  return gateway;
}
