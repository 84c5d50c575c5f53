// RunningProxy: the proxy of a web-hosted pod, from its certificates to its stop.
//
// Invariants:
// - The pod is ready only once the service port listens, and not any more once a stop was asked for.
// - Without usable certificates nothing listens.
// - During a stop the process can call services as long as requests are in flight, for it may have to in order to answer them.
import { CallingPort } from '@svc/forward/calling-port';
import { installationFinder } from '@svc/forward/installation-finder';
import { KeptBodies } from '@svc/forward/kept-bodies';
import { MountTable } from '@svc/forward/mounts';
import { PortListener } from '@svc/forward/port-listener';
import { ProcessTarget } from '@svc/forward/process-target';
import { serverLimits, serverTimes } from '@svc/forward/server-section';
import { MutualTlsConnector } from '@svc/forward/service-connector';
import type { ServiceFinder } from '@svc/forward/service-finder';
import { ServicePort } from '@svc/forward/service-port';
import { ServiceTargets } from '@svc/forward/service-targets';
import {
  DEFAULT_MESSAGE_LIMITS,
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  type ServerLimits,
  type ServerTimes,
  Sweep,
} from '@svc/http1';
import { limitedLog } from '@svc/kit/limited-log';
import { httpUrl } from '@svc/kit/listen';
import type { Log } from '@svc/kit/log';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PodIdentity } from './pod-identity.ts';
import { ProcessProbe } from './process-probe.ts';
import type { ProxySettings } from './proxy-settings.ts';
import { ReadinessPort } from './readiness-port.ts';

const LOOPBACK = '127.0.0.1';
const SWEEP_MS = 100;
/** Pause between two looks at the handshakes that are under way during a stop, in milliseconds. */
const HANDSHAKE_LOOK_MS = 50;
/** The readiness port serves programs that ask for little. */
const READINESS_LIMITS: ServerLimits = {
  ...DEFAULT_SERVER_LIMITS,
  message: { ...DEFAULT_MESSAGE_LIMITS, headBytesMax: 16 * 1024, fieldsMax: 100 },
  connectionsMax: 1000,
  requestsMax: 1000,
  pipelinedMax: 1,
};
const READINESS_TIMES: ServerTimes = {
  ...DEFAULT_SERVER_TIMES,
  headMs: 2000,
  bodyMs: 2000,
  idleMs: 2000,
  retiredIdleMs: 0,
};

export class RunningProxy {
  readonly #settings: ProxySettings;
  readonly #log: Log;
  readonly #sweep = new Sweep(SWEEP_MS);
  readonly #keptBodies: KeptBodies;
  /** Releases what was opened, the last one first. */
  readonly #releases: (() => void)[] = [];

  constructor(settings: ProxySettings, log: Log) {
    this.#settings = settings;
    this.#keptBodies = new KeptBodies(settings.section);
    this.#log = limitedLog(log, settings.log, () => this.#sweep.now());
  }

  /** Resolves once the proxy has stopped. Rejects with an SvcError if it cannot start. */
  async run(stopRequested: Promise<string>): Promise<void> {
    try {
      const ports = await this.#start();
      const reason = await stopRequested;
      this.#log({ level: 'info', message: 'The proxy stops', fields: { reason } });
      await this.#stop(ports);
    } finally {
      for (const release of this.#releases.toReversed()) release();
    }
  }

  async #start(): Promise<Ports> {
    const settings = this.#settings;
    const { section, host } = settings;
    const identity = await PodIdentity.open(settings, this.#log);
    this.#releases.push(() => identity.close());
    const services = this.#openServices(identity);
    const service = await this.#openServicePort(identity, services);
    const calling = await this.#openCallingPort(services);
    const address = { host: LOOPBACK, port: section.processPort };
    const handler = new ReadinessPort(new ProcessProbe(address, section.readinessTimeoutMs));
    const readiness = await PortListener.open(createServer({ allowHalfOpen: true }), {
      address: { host, port: section.readinessPort },
      words: wordsOf('the readiness port', 'svc.proxy.readiness-port'),
      handler: () => handler,
      limits: READINESS_LIMITS,
      times: READINESS_TIMES,
      sweep: this.#sweep,
    });
    this.#opened('readiness port', readiness);
    return { identity, service, calling, readiness: handler };
  }

  #openServices(identity: PodIdentity): ServiceTargets {
    const { section } = this.#settings;
    const { project, rules } = this.#settings.identity;
    const services = new ServiceTargets({
      finder: this.#openFinder(),
      connector: new MutualTlsConnector(identity.client, rules.trustDomain),
      project,
      limits: section,
      sweep: this.#sweep,
      lifetimeMs: () => identity.lifetimeMs(),
      onFailure: ({ service, project: of = project }, reason) =>
        this.#log({
          level: 'warn',
          message: 'A service was not found or not reached',
          fields: { called: `${of}/${service}`, reason },
        }),
    });
    this.#releases.push(() => services.close());
    return services;
  }

  #openFinder(): ServiceFinder {
    const { servicesFile, identity, section } = this.#settings;
    return installationFinder({
      project: identity.project,
      servicesFile,
      nameServers: section.nameServers,
      now: () => this.#sweep.now(),
      warn: (message, fields) => this.#log({ level: 'warn', message, fields }),
    });
  }

  async #openServicePort(identity: PodIdentity, services: ServiceTargets): Promise<PortListener> {
    const { section, host, mounts, service, baseDomain } = this.#settings;
    const { project } = this.#settings.identity;
    const process = new ProcessTarget({
      address: { host: LOOPBACK, port: section.processPort },
      limits: section,
      sweep: this.#sweep,
    });
    this.#releases.push(() => process.close());
    const server = identity.createServer();
    const listener = await PortListener.open(server, {
      address: { host, port: section.port },
      words: wordsOf('the service port', 'svc.proxy.port'),
      handler: (port) =>
        new ServicePort({
          own: { service, project, port, baseDomain, hostnames: section.hostnames },
          callers: section.callers,
          mounts: new MountTable(mounts),
          process,
          services,
          keptBodies: this.#keptBodies,
          peerOf: (exchange) => identity.peerOf(exchange),
          onError: (error) => this.#report(error),
        }),
      limits: serverLimits(section),
      times: { ...serverTimes(section), lifetimeMs: () => identity.lifetimeMs() },
      sweep: this.#sweep,
    });
    identity.watch(server, listener.connections, () => services.retire());
    this.#opened('service port', listener);
    return listener;
  }

  async #openCallingPort(services: ServiceTargets): Promise<PortListener> {
    const { section } = this.#settings;
    const listener = await PortListener.open(createServer({ allowHalfOpen: true }), {
      address: { host: LOOPBACK, port: section.callingPort },
      words: { server: 'the calling port', settings: { port: 'svc.proxy.calling-port' } },
      handler: (port) =>
        new CallingPort({
          services,
          keptBodies: this.#keptBodies,
          servicesUrl: httpUrl({ host: LOOPBACK, port }),
          onError: (error) => this.#report(error),
        }),
      limits: serverLimits(section),
      times: serverTimes(section),
      sweep: this.#sweep,
    });
    this.#opened('calling port', listener);
    return listener;
  }

  #opened(name: string, listener: PortListener): void {
    this.#releases.push(() => listener.cut());
    const { host, port } = listener;
    this.#log({ level: 'info', message: `${name} listening`, fields: { host, port } });
  }

  async #stop({ identity, service, calling, readiness }: Ports): Promise<void> {
    readiness.stop();
    service.refuse();
    service.connections.stop();
    calling.connections.stop();
    const drained = (async () => {
      await service.connections.empty();
      // A client that has connected before the stop may still send a request.
      while (identity.handshakes > 0) {
        await sleep(HANDSHAKE_LOOK_MS);
        await service.connections.empty();
      }
      calling.refuse();
      await calling.connections.empty();
    })();
    const timeout = new AbortController();
    const { stopTimeoutMs } = this.#settings.section;
    const late = sleep(stopTimeoutMs, undefined, { signal: timeout.signal }).catch(() => undefined);
    await Promise.race([drained, late]);
    timeout.abort();
    const cut = service.connections.requestsInFlight + calling.connections.requestsInFlight;
    if (cut > 0)
      this.#log({
        level: 'warn',
        message: 'Requests were cut by the stop',
        fields: { requests: cut },
      });
  }

  #report(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log({ level: 'error', message: 'The proxy failed', fields: { error: text } });
  }
}

interface Ports {
  readonly identity: PodIdentity;
  readonly service: PortListener;
  readonly calling: PortListener;
  readonly readiness: ReadinessPort;
}

function wordsOf(server: string, port: string) {
  return { server, settings: { host: 'svc.proxy.host', port } };
}
