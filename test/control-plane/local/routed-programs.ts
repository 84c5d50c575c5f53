// RoutedPrograms: a machine of small programs whose routes go over a real socket to a router in this process, which sends the service
// requests all the time.
import { request } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MANAGEMENT_PORT } from '@svc/client';
import { observeState } from '@svc/kit/state-file';
import { RouteClient } from '@svc/routing/route-client';
import { ROUTING_TIMES } from '@svc/routing/routing-limits';
import { GATEWAY_DEFAULTS } from '../../../gateway/gateway-section.ts';
import { type Routed, RoutedRequests } from '../../../gateway/routed-requests.ts';
import { InstanceFolder } from '../../../control-plane/local/instance-folder.ts';
import { LOCAL_DEFAULTS } from '../../../control-plane/local/local-section.ts';
import type { LocalOrchestrator } from '../../../control-plane/local/local-orchestrator.ts';
import { PublishedRoutes } from '../../../control-plane/local/published-routes.ts';
import { CART, cart } from './cart.ts';
import { openMachine } from './machine-under-test.ts';
import { until } from './until.ts';

const HOSTNAME = 'cart.svc.test';
const EVERY_MS = 5;
/** Time in which routers connect again, which is also the longest that they wait. */
const GATHER_MS = 300;

export interface Answered {
  readonly outcome: string;
  readonly tookMs: number;
}

export class RoutedPrograms {
  readonly folder = mkdtempSync(join(tmpdir(), 'svc-routed-'));
  readonly answered: Answered[] = [];
  orchestrator!: LocalOrchestrator;
  routes!: PublishedRoutes;
  readonly #requests = new RoutedRequests(GATEWAY_DEFAULTS);
  readonly #client: RouteClient;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    this.#client = new RouteClient(
      join(this.folder, 'routes.sock'),
      {
        use: (table) => this.#requests.use(table),
        hold: (key) => this.#requests.hold(key),
        release: (key) => this.#requests.release(key),
      },
      { ...ROUTING_TIMES, reconnectMs: [10, 50] },
    );
  }

  /** Starts a control plane on the folder. */
  async open(): Promise<void> {
    const section = { ...LOCAL_DEFAULTS, routersGatherMs: GATHER_MS };
    this.routes = await PublishedRoutes.open({
      socket: join(this.folder, 'routes.sock'),
      file: join(this.folder, 'routes.json'),
      trustDomain: 'svc.test',
      section,
      known: new Set(['web/cart']),
      log: () => {},
    });
    const options = { hasDataFolder: true, routes: this.routes };
    this.orchestrator = openMachine(this.folder, {
      ...options,
      section: { takeoverTimeoutMs: 10_000 },
    });
    await this.routes.listen();
  }

  /** Ends the control plane as a kill would: instances and router go on, and nothing is released. */
  async close(): Promise<void> {
    await this.orchestrator[Symbol.asyncDispose]();
    await this.routes[Symbol.asyncDispose]();
  }

  async apply(image: string, generation: number): Promise<void> {
    const more = { hostnames: [HOSTNAME] };
    await this.orchestrator.reconcile(cart(image, generation, more));
  }

  /** Resolves once the generation is complete and nothing of another one is left. */
  async complete(generation: number): Promise<void> {
    await until(async () => {
      const found = await this.orchestrator.observe(CART);
      return (
        found.kind === 'workload' &&
        found.rollout.kind === 'complete' &&
        found.generation === generation &&
        this.instances().length === 1
      );
    });
  }

  instances(): readonly InstanceFolder[] {
    return InstanceFolder.readOf(join(this.folder, 'instances'), CART);
  }

  instanceOf(generation: number): InstanceFolder | undefined {
    return this.instances().find(({ spec }) => spec.generation === generation);
  }

  /** Phase in the state file of the instance of a generation. */
  phaseOf(generation: number): string {
    const folder = this.instanceOf(generation);
    if (folder === undefined) return 'none';
    const observed = observeState(folder.stateFile);
    return 'state' in observed ? observed.state.phase : 'none';
  }

  /** Runs the image as the first generation, and begins to send requests. */
  async serve(image: string): Promise<void> {
    await this.apply(image, 1);
    await this.complete(1);
    this.#startRequests();
    await until(async () => this.answered.some(({ outcome }) => outcome === '200'));
  }

  /**
   * Replaces the instance of the first generation, ends the control plane at the moment, and starts another one. Returns the outcomes of
   * requests that are no success.
   */
  async replaceInterrupted(image: string, moment: () => boolean): Promise<readonly string[]> {
    await this.serve(image);
    await this.apply(image, 2);
    await until(async () => moment());
    await this.close();
    await this.open();
    await this.complete(2);
    return await this.stopRequests();
  }

  #startRequests(): void {
    this.#timer = setInterval(() => {
      this.#sent++;
      const startedMs = performance.now();
      void this.#send().then((outcome) =>
        this.answered.push({ outcome, tookMs: performance.now() - startedMs }),
      );
    }, EVERY_MS);
  }

  /** Resolves with the outcomes that are no success, once all requests have one. */
  async stopRequests(): Promise<readonly string[]> {
    clearInterval(this.#timer);
    await until(async () => this.answered.length === this.#sent);
    return this.answered.map(({ outcome }) => outcome).filter((outcome) => outcome !== '200');
  }

  async discard(): Promise<void> {
    clearInterval(this.#timer);
    await this.orchestrator.reconcile({ kind: 'removed', key: CART });
    await until(async () => (await this.orchestrator.observe(CART)).kind === 'none');
    await this.close();
    this.#client.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #send(): Promise<string> {
    const to = await new Promise<Routed>((routed) =>
      this.#requests.route({ hostname: HOSTNAME, tried: new Set() }, routed),
    );
    if (to.kind !== 'instance') return to.kind;
    try {
      return await statusOf(to.instance.address);
    } finally {
      to.end();
    }
  }
}

/** Returns the status of a small program's answer, or why there is none. */
async function statusOf(host: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  request({ host, port: MANAGEMENT_PORT, agent: false }, (response) => {
    response.resume();
    resolve(String(response.statusCode));
  })
    .on('error', ({ message }) => resolve(message))
    .end();
  return await promise;
}
