// DeployUnderTest: `svc deploy` with a real control plane whose orchestrator does what the test says, and with a network that fails.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import type { ServiceStatus } from '@svc/client';
import type {
  DesiredService,
  Orchestrator,
  Workload,
} from '../../../control-plane/orchestration/orchestrator.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import { ApiUnderTest, idleOrchestrator } from '../../control-plane/endpoints/api-under-test.ts';
import { compileFixture } from '../../support/compile-fixture.ts';
import { runCommand, type CommandEnded } from '../../support/command-line.ts';
import { FaultyFront, type Fate } from '../../support/faulty-front.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const STATUS = 'GET /services/shop/cart';

export class DeployUnderTest {
  readonly home = temporaryFolderOfFile();
  readonly images = join(this.home, 'images');
  /** The descriptor that the command finds; there is none at the beginning of a test. */
  readonly file = join(this.home, 'service.yaml');
  readonly module = join(this.home, 'cart.wasm');
  /** What the orchestrator says of the service, beside what it says of one that runs as it should. */
  observed: Partial<Workload> | undefined;
  desired: DesiredService | undefined;
  /** True: the orchestrator gives no answer, so what was observed last is repeated. */
  isAway = false;
  logs: readonly { instance: string; output: string; error: null }[] = [];
  /** Decides about each question for the status, by its number from 1 on. */
  atStatus: (count: number) => Fate | void = () => {};
  #api: ApiUnderTest | undefined;
  #front: FaultyFront | undefined;

  /** Every test of the file has a new context and no descriptor. */
  constructor() {
    beforeAll(() => this.#start());
    afterAll(async () => {
      await this.#front?.[Symbol.asyncDispose]();
      await this.api[Symbol.asyncDispose]();
    });
    beforeEach(() => this.#prepare());
    afterEach(() => vi.unstubAllEnvs());
  }

  get api(): ApiUnderTest {
    return this.#api!;
  }

  async run(...args: readonly string[]): Promise<CommandEnded> {
    return await runCommand(['deploy', this.module, ...args]);
  }

  async status(): Promise<ServiceStatus> {
    return (await this.api.done(STATUS, { as: 'ann' })) as ServiceStatus;
  }

  /** Lets the command use an installation with a base domain, and with the registry beside its control plane. */
  useRegistry(host: string): string {
    const { port } = new URL(this.#front!.url);
    this.#front!.registry = `http://${host}`;
    vi.stubEnv('SVC_URL', `http://api.svc.localhost:${port}`);
    return `registry.svc.localhost:${port}`;
  }

  async #start(): Promise<void> {
    const orchestration = { ...ORCHESTRATOR_DEFAULTS, observationAgeMaxMs: 1 };
    this.#api = await ApiUnderTest.start({ orchestration }, undefined, this.#orchestrator());
    const ann = { subject: 'ann', name: 'Ann', email: 'ann@example.com', verified: true };
    this.api.knows(ann);
    const project = { name: 'Shop', organizationId: 'acme' };
    await this.api.done('POST /organizations/acme', { as: 'ann', json: { name: 'Acme' } });
    await this.api.done('POST /projects/shop', { as: 'ann', json: project });
    this.#front = await FaultyFront.open(this.api.control.url);
    writeFileSync(this.module, await compileFixture('counter'));
  }

  async #prepare(): Promise<void> {
    const { url } = this.#front!;
    for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'])
      vi.stubEnv(name, join(this.home, name));
    vi.stubEnv('SVC_URL', url);
    vi.stubEnv('SVC_TOKEN', await this.api.token('ann'));
    vi.stubEnv('SVC_PROJECT', 'shop');
    mkdirSync(this.images, { recursive: true });
    const images = `images=${this.images}`;
    await runCommand(['context', 'set', 'x', '--url', url, '--images', images]);
    rmSync(this.file, { force: true });
    this.observed = undefined;
    this.isAway = false;
    this.logs = [];
    this.atStatus = () => {};
    let count = 0;
    this.#front!.fate = (line) => (line === STATUS ? (this.atStatus(++count) ?? 'pass') : 'pass');
  }

  #orchestrator(): Orchestrator {
    return idleOrchestrator({
      reconcile: async (service) => {
        this.desired = service.kind === 'desired' ? service : undefined;
      },
      observe: async (key) => {
        if (this.isAway) throw new Error('the orchestrator is away');
        if (this.desired === undefined) return { kind: 'none', key };
        const { incarnation, generation, instances } = this.desired;
        return {
          kind: 'workload',
          key,
          incarnation,
          generation,
          wantedInstances: instances,
          readyInstances: 1,
          updatedInstances: 1,
          rollout: { kind: 'complete' },
          ...this.observed,
        };
      },
      logs: async () => this.logs,
    });
  }
}

/** What an orchestrator says while the first instance is not ready. */
export function progressing(): Partial<Workload> {
  const rollout = { kind: 'progressing', sinceMs: Date.now() } as const;
  return { readyInstances: 0, updatedInstances: 0, rollout };
}
