// RunningGateway: the gateway, from its certificates to its stop.
//
// Invariants:
// - Without usable certificates nothing listens.
// - It starts and serves without an orchestrator, by the routes that lie on disk.
// - A connection that was accepted before a stop may still send a request for a while.
import { UNREPEATABLE_IDLE_MS_MAX } from '@svc/forward/forward-limits';
import { KeptBodies } from '@svc/forward/kept-bodies';
import { PortListener } from '@svc/forward/port-listener';
import { serverLimits, serverTimes } from '@svc/forward/server-section';
import { type ClientFailure, type ServerHandler, type ServerTimes, Sweep } from '@svc/http1';
import { limitedLog } from '@svc/kit/limited-log';
import type { ListeningSocket } from '@svc/kit/listening-sockets';
import type { Log } from '@svc/kit/log';
import { RouteClient } from '@svc/routing/route-client';
import { readRouteFile } from '@svc/routing/route-file';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayIdentity, instanceConnectionAge } from './gateway-identity.ts';
import type { GatewaySettings } from './gateway-settings.ts';
import { HostCertificates } from './host-certificates.ts';
import { InstancePools } from './instance-pools.ts';
import { InstanceTarget, type InstanceTargetOptions } from './instance-target.ts';
import { PlatformTargets } from './platform-targets.ts';
import { RedirectPort } from './redirect-port.ts';
import { RequestPort, type RequestPortOptions } from './request-port.ts';
import { RoutedRequests, type RoutedToInstance } from './routed-requests.ts';
import { TlsServer } from './tls-server.ts';

const SWEEP_MS = 100;
/** Pause between two looks at the handshakes that are under way during a stop, in milliseconds. */
const HANDSHAKE_LOOK_MS = 50;

/** The ports, until the gateway stops. */
interface Ports {
  readonly tls: TlsServer;
  readonly listeners: readonly PortListener[];
}

export class RunningGateway {
  readonly #settings: GatewaySettings;
  readonly #log: Log;
  readonly #sockets: readonly ListeningSocket[];
  readonly #sweep = new Sweep(SWEEP_MS);
  readonly #routes: RoutedRequests;
  /** Releases what was opened, the last one first. */
  readonly #releases: (() => void)[] = [];

  /** `sockets`: those that were given to the process, first the one for TLS, unless their names say otherwise. */
  constructor(settings: GatewaySettings, log: Log, sockets: readonly ListeningSocket[]) {
    this.#settings = settings;
    this.#sockets = sockets;
    this.#log = limitedLog(log, settings.log, () => this.#sweep.now());
    this.#routes = new RoutedRequests(settings.section);
  }

  /** Resolves once the gateway has stopped. Rejects with an SvcError if it cannot start. */
  async run(stopRequested: Promise<string>): Promise<void> {
    try {
      const ports = await this.#start();
      const reason = await stopRequested;
      this.#log({ level: 'info', message: 'The gateway stops', fields: { reason } });
      await this.#stop(ports);
    } finally {
      for (const release of this.#releases.toReversed()) release();
    }
  }

  async #start(): Promise<Ports> {
    const { certificates: folder, section, publicPort } = this.#settings;
    const options = { log: this.#log, certificatesMax: section.certificatesMax };
    const certificates = await HostCertificates.open(folder, options);
    this.#releases.push(() => certificates.close());
    await this.#followRoutes();
    const targetOf = await this.#openTargets();
    const tls = new TlsServer(certificates, section.handshakeTimeoutMs);
    const requests = new RequestPort({
      certificates,
      publicPort,
      targetOf,
      keptBodies: new KeptBodies(section),
      onError: (error) => this.#report(error),
    });
    const listeners = [await this.#listen('https', tls.server, section.port, requests)];
    if (section.plainPort !== 0) {
      const redirects = new RedirectPort(certificates, publicPort);
      const plain = createServer({ allowHalfOpen: true });
      listeners.push(await this.#listen('http', plain, section.plainPort, redirects));
    }
    return { tls, listeners };
  }

  /** Uses the routes of the orchestrator, and those on disk until it is reached. */
  async #followRoutes(): Promise<void> {
    const { routesFile, routesSocket, section } = this.#settings;
    if (routesFile !== undefined) {
      const table = await readRouteFile(routesFile);
      if (!('problem' in table)) this.#routes.use(table);
      else
        this.#log({
          level: table.problem === 'missing' ? 'info' : 'warn',
          message: 'The file of routes was not used',
          fields: { file: routesFile, problem: table.problem },
        });
    }
    if (routesSocket === undefined) return;
    // Requests that go by the file could reach an instance that the orchestrator is about to end.
    const first = Promise.withResolvers<void>();
    const client = new RouteClient(routesSocket, {
      use: (table) => {
        this.#routes.use(table);
        first.resolve();
      },
      left: () => this.#routes.left(),
      hold: (key) => this.#routes.hold(key),
      release: (key) => this.#routes.release(key),
      unreachable: () => first.resolve(),
      connected: (isConnected) =>
        this.#log({
          level: isConnected ? 'info' : 'warn',
          message: isConnected
            ? 'The gateway follows the orchestrator'
            : 'The orchestrator is gone. Its last routes remain in use',
          fields: { socket: routesSocket },
        }),
    });
    this.#releases.push(() => client.close());
    const waited = setTimeout(() => first.resolve(), section.routesWaitMs);
    await first.promise;
    clearTimeout(waited);
  }

  /** Returns the function that finds where a request goes. */
  async #openTargets(): Promise<RequestPortOptions['targetOf']> {
    const { section, platform: settings } = this.#settings;
    const identity = await this.#openIdentity();
    const pools = new InstancePools({
      routes: this.#routes,
      tls: identity?.client,
      limits: section,
      sweep: this.#sweep,
      lifetimeMs: () => instanceConnectionAge(section),
    });
    this.#releases.push(() => pools.close());
    identity?.onRenewed(() => pools.retire());
    const platform = new PlatformTargets({ platform: settings, section, sweep: this.#sweep });
    this.#releases.push(() => platform.close());
    const options: InstanceTargetOptions = {
      routes: this.#routes,
      pools,
      answerTimeoutMs: section.answerTimeoutMs,
      unrepeatableIdleMsMax: UNREPEATABLE_IDLE_MS_MAX,
      onFailure: (to, failure) => this.#warnOf(to, failure),
    };
    return (hostname, path) =>
      platform.find(hostname, path) ?? new InstanceTarget(hostname, options);
  }

  async #openIdentity(): Promise<GatewayIdentity | undefined> {
    const { identity: settings, section } = this.#settings;
    if (settings === undefined) {
      this.#log({
        level: 'warn',
        message:
          'Requests go to instances without TLS (svc.gateway.plain-instances), and instances prove no identity: for development only',
      });
      return undefined;
    }
    const identity = await GatewayIdentity.open(settings, section, this.#log);
    this.#releases.push(() => identity.close());
    return identity;
  }

  async #listen(
    name: 'https' | 'http',
    server: Server,
    port: number,
    handler: ServerHandler,
  ): Promise<PortListener> {
    const fd = this.#givenSocket(name);
    const listener = await PortListener.open(server, {
      address: { host: this.#settings.host, port, ...(fd === undefined ? {} : { fd }) },
      words: {
        server: `the gateway's port for ${name}`,
        settings: {
          host: 'svc.gateway.host',
          port: name === 'https' ? 'svc.gateway.port' : 'svc.gateway.plain-port',
        },
      },
      handler: () => handler,
      limits: serverLimits(this.#settings.section),
      times: this.#times(),
      sweep: this.#sweep,
    });
    this.#releases.push(() => listener.cut());
    this.#log({
      level: 'info',
      message: `${name} listening`,
      fields: { host: listener.host, port: listener.port },
    });
    return listener;
  }

  /** Returns the socket that was given for a port, by its name, or by its place if the sockets have no names of ports. */
  #givenSocket(name: 'https' | 'http'): number | undefined {
    const named = this.#sockets.find((socket) => socket.name === name);
    if (named !== undefined) return named.fd;
    const areNamed = this.#sockets.some(
      (socket) => socket.name === 'https' || socket.name === 'http',
    );
    return areNamed ? undefined : this.#sockets[name === 'https' ? 0 : 1]?.fd;
  }

  #times(): ServerTimes {
    const { section } = this.#settings;
    return { ...serverTimes(section), retiredIdleMs: section.stopIdleMs };
  }

  async #stop({ tls, listeners }: Ports): Promise<void> {
    for (const listener of listeners) {
      listener.refuse();
      listener.connections.stop();
    }
    const drained = (async () => {
      for (const { connections } of listeners) await connections.empty();
      // A client that has connected before the stop may still send a request.
      while (tls.handshakes > 0) {
        await sleep(HANDSHAKE_LOOK_MS);
        for (const { connections } of listeners) await connections.empty();
      }
    })();
    const timeout = new AbortController();
    const { stopTimeoutMs } = this.#settings.section;
    const late = sleep(stopTimeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([drained, late]);
    timeout.abort();
    tls.cutHandshakes();
    const cut = listeners.reduce((sum, { connections }) => sum + connections.requestsInFlight, 0);
    if (cut > 0)
      this.#log({
        level: 'warn',
        message: 'Requests were cut by the stop',
        fields: { requests: cut },
      });
  }

  #warnOf({ key, instance }: RoutedToInstance, failure: ClientFailure): void {
    const cause = 'cause' in failure ? ` (${failure.cause.message})` : '';
    const reason = failure.kind === 'identity' ? failure.reason : `${failure.kind}${cause}`;
    this.#log({
      level: 'warn',
      message: 'An instance was not reached',
      fields: { called: key, instance: instance.name, reason },
    });
  }

  #report(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log({ level: 'error', message: 'The gateway failed', fields: { error: text } });
  }
}
