// PublishedRoutes: the routes of this machine's services at the socket of routers, and on disk.
//
// Invariants
// P1  Routers get a table only once every service was looked at; one that could not be looked at keeps its route of before.
// P2  A release never reaches a router before the route that it releases to.
// P3  Nothing counts as acknowledged before the routers that follow a former orchestrator have had time to connect again.
// P4  An instance that a router has not acknowledged to have dropped counts as used for `removalMs`.
// P5  A service whose route breaks a rule of the table takes no route from another one.
import type { ServiceKey } from '@svc/client';
import { serviceId } from '@svc/identity/spiffe-id';
import type { Log } from '@svc/kit/log';
import { readRouteFile } from '@svc/routing/route-file';
import { RouteServer, type Settled } from '@svc/routing/route-server';
import { parseRouteTable, type RoutedService } from '@svc/routing/route-table';
import { ROUTING_TIMES, type RoutingTimes } from '@svc/routing/routing-limits';
import type { LocalSection } from './local-section.ts';
import type { RequestRoutes, ServiceRoute } from './request-routes.ts';
import { RouteFileWriter } from './route-file-writer.ts';

/** Part of the time of a hold in which it is given up, before a router ends it by itself, in milliseconds. */
const HOLD_MARGIN_MS = 1000;

export interface PublishedRoutesOptions {
  /** Path of the socket of routers. */
  readonly socket: string;
  /** File of the table. */
  readonly file: string;
  readonly trustDomain: string;
  readonly section: Pick<LocalSection, 'routersGatherMs' | 'routesRetryMs' | 'removalMs'>;
  /** Keys of the services that are looked after, `<project>/<service>`. */
  readonly known: ReadonlySet<string>;
  readonly log: Log;
  readonly times?: RoutingTimes;
}

interface HeldService {
  readonly acknowledged: () => void;
  readonly releases: (() => void)[];
  isAcknowledged: boolean;
  sinceMs: number;
}

interface UsedInstance {
  /** The first table without the instance. */
  goneFrom: number | undefined;
  /** Until when the instance counts as used because a router has not acknowledged that table; undefined: until all have. */
  untilMs: number | undefined;
}

export class PublishedRoutes implements RequestRoutes, AsyncDisposable {
  readonly #options: PublishedRoutesOptions;
  readonly #times: RoutingTimes;
  readonly #file: RouteFileWriter;
  /** In the order of their last change, the latest last. */
  readonly #services: Map<string, RoutedService>;
  readonly #holds = new Map<string, HeldService>();
  /** Instances that are in the table or were in one that is not replaced everywhere, by key and name. */
  readonly #used = new Map<string, UsedInstance>();
  #published = 0;
  #server: RouteServer | undefined;
  #isChanged = true;
  #hasGathered = false;
  readonly #gathered = Promise.withResolvers<void>();
  #gathering: NodeJS.Timeout | undefined;

  private constructor(options: PublishedRoutesOptions, services: readonly RoutedService[]) {
    this.#options = options;
    this.#times = options.times ?? ROUTING_TIMES;
    this.#services = new Map(services.map((service) => [service.key, service]));
    this.#file = new RouteFileWriter(options.file, options.section.routesRetryMs, options.log);
  }

  /** Begins with the routes on disk. Nothing is published yet. */
  static async open(options: PublishedRoutesOptions): Promise<PublishedRoutes> {
    const { file, known, log } = options;
    const table = await readRouteFile(file);
    if ('problem' in table && table.problem !== 'missing')
      log({
        level: 'warn',
        message: 'The file of routes was not used',
        fields: { file, problem: table.problem },
      });
    const services = 'problem' in table ? [] : table.services;
    return new PublishedRoutes(
      options,
      services.filter(({ key }) => known.has(key)),
    );
  }

  /** Publishes the table, and gives it to routers from now on. Rejects with the error of the system. */
  async listen(): Promise<void> {
    const { socket, section } = this.#options;
    // Whoever connects gets the table at once, since it is published before this function gives the thread away.
    this.#server = await RouteServer.listen(socket, this.#times);
    this.#gathering = setTimeout(() => this.#endGathering(), section.routersGatherMs);
    this.#flush();
    for (const [text, held] of this.#holds) void this.#awaitHold(text, held);
  }

  route(key: ServiceKey, route: ServiceRoute): void {
    const text = textOf(key);
    const service: RoutedService = {
      key: text,
      state: route.state,
      identity: serviceId(this.#options.trustDomain, key),
      hostnames: route.hostnames,
      instances: route.instances.map(({ name, address, port }) => ({ name, address, port })),
    };
    if (JSON.stringify(this.#services.get(text)) === JSON.stringify(service)) return;
    const parsed = parseRouteTable({ version: 0, services: [service] });
    if ('problem' in parsed) {
      this.#report('The route of a service cannot be published', {
        key: text,
        problem: parsed.problem,
      });
      return;
    }
    this.#services.delete(text);
    this.#services.set(text, service);
    this.#change();
  }

  withdraw(key: ServiceKey): void {
    if (this.#services.delete(textOf(key))) this.#change();
  }

  hold(key: ServiceKey, acknowledged: () => void): void {
    const text = textOf(key);
    if (this.#holds.has(text)) return;
    const held: HeldService = { acknowledged, releases: [], isAcknowledged: false, sinceMs: 0 };
    this.#holds.set(text, held);
    void this.#awaitHold(text, held);
  }

  release(key: ServiceKey): void {
    this.#flush();
    const text = textOf(key);
    for (const release of this.#holds.get(text)?.releases ?? []) release();
    this.#holds.delete(text);
  }

  get haveRoutersGathered(): boolean {
    return this.#hasGathered;
  }

  holdOf(key: ServiceKey): 'none' | 'asked' | 'acknowledged' {
    const held = this.#holds.get(textOf(key));
    if (held?.isAcknowledged !== true) return held === undefined ? 'none' : 'asked';
    if (performance.now() - held.sinceMs < this.#times.holdMs - HOLD_MARGIN_MS)
      return 'acknowledged';
    // Such as after this process was stopped for a while: routers may have ended the hold by now.
    this.release(key);
    return 'none';
  }

  isUnused(key: ServiceKey, name: string): boolean {
    const use = this.#used.get(`${textOf(key)} ${name}`);
    return !this.#isChanged && (use === undefined || isOver(use));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#gathering);
    this.#flush();
    await this.#server?.close();
    await this.#file.close();
  }

  #change(): void {
    if (this.#isChanged) return;
    this.#isChanged = true;
    // Services that change at the same time are published together.
    setImmediate(() => this.#flush());
  }

  /** Publishes what has changed. */
  #flush(): void {
    if (this.#server === undefined || !this.#isChanged) return;
    this.#isChanged = false;
    const services = withoutRepeatedHostnames([...this.#services.values()]);
    let settled: Promise<Settled>;
    try {
      settled = this.#server.publish(services);
    } catch (error) {
      this.#report('The routes cannot be published', { error: (error as Error).message });
      return;
    }
    const table = ++this.#published;
    this.#file.write({ version: table, services });
    this.#noteUsed(services, table);
    void this.#awaitTable(table, settled);
  }

  #noteUsed(services: readonly RoutedService[], table: number): void {
    const now = new Set(
      services.flatMap(({ key, instances }) => instances.map(({ name }) => `${key} ${name}`)),
    );
    for (const [id, use] of this.#used)
      if (isOver(use)) this.#used.delete(id);
      else if (!now.has(id)) use.goneFrom ??= table;
    for (const id of now) this.#used.set(id, { goneFrom: undefined, untilMs: undefined });
  }

  async #awaitTable(table: number, settled: Promise<Settled>): Promise<void> {
    const sinceMs = performance.now();
    let { missing } = await settled;
    if (!this.#hasGathered) {
      await this.#gathered.promise;
      // Published once more, for the acknowledgement of those that have connected meanwhile.
      const again = this.#server?.publish(withoutRepeatedHostnames([...this.#services.values()]));
      missing = [...missing, ...((await again)?.missing ?? [])];
    }
    for (const [id, use] of this.#used) {
      if (use.goneFrom === undefined || use.goneFrom > table) continue;
      if (missing.length > 0) use.untilMs ??= sinceMs + this.#options.section.removalMs;
      if (use.untilMs === undefined) this.#used.delete(id);
    }
  }

  async #awaitHold(text: string, held: HeldService): Promise<void> {
    if (this.#server === undefined) return;
    this.#flush();
    const isWanted = (): boolean => this.#holds.get(text) === held;
    const first = this.#server.hold(text);
    held.releases.push(first.release);
    let { missing } = await first.settled;
    if (!this.#hasGathered) {
      await this.#gathered.promise;
      if (!isWanted()) return;
      const again = this.#server.hold(text);
      held.releases.push(again.release);
      ({ missing } = await again.settled);
    }
    if (!isWanted()) return;
    if (missing.length > 0)
      this.#options.log({
        level: 'warn',
        message: 'Routers have not acknowledged in time that requests of a service are held',
        fields: { key: text, routers: missing.length },
      });
    held.sinceMs = performance.now();
    held.isAcknowledged = true;
    held.acknowledged();
  }

  #endGathering(): void {
    this.#hasGathered = true;
    this.#gathered.resolve();
  }

  #report(message: string, fields: Readonly<Record<string, string>>): void {
    this.#options.log({ level: 'error', message, fields });
  }
}

/** A hostname that passes from one service to another is that of the service which has changed last. */
function withoutRepeatedHostnames(services: readonly RoutedService[]): readonly RoutedService[] {
  const taken = new Set<string>();
  return services
    .toReversed()
    .map((service) => {
      const hostnames = [...new Set(service.hostnames)].filter((name) => !taken.has(name));
      for (const hostname of hostnames) taken.add(hostname);
      return hostnames.length === service.hostnames.length ? service : { ...service, hostnames };
    })
    .toReversed();
}

function isOver({ untilMs = Infinity }: UsedInstance): boolean {
  return untilMs <= performance.now();
}

function textOf({ project, service }: ServiceKey): string {
  return `${project}/${service}`;
}
