// RunningProxy: the proxy of a web-hosted pod, from its certificates to its stop, and the process beside it if the proxy starts that.
//
// Invariants:
// - The pod is ready only once the service port listens, and not any more once a stop was asked for.
// - Without usable certificates nothing listens.
// - The process starts once every port listens. It is asked to end when the stop begins, and runs no longer than the proxy.
// - The proxy ends with a failure when the process ends by itself.
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
import type { ListeningSocket } from '@svc/kit/listening-sockets';
import type { Log } from '@svc/kit/log';
import { type ProcessCommand, readProcessFile } from '@svc/kit/process-file';
import type { ServiceStatus } from '@svc/kit/service-status';
import { processEnded, StartedProcess } from '@svc/kit/started-process';
import { settlesWithin } from '@svc/kit/settles-within';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallsSocket } from './calls-socket.ts';
import { PodIdentity } from './pod-identity.ts';
import { ProcessProbe } from './process-probe.ts';
import type { ProxySettings } from './proxy-settings.ts';
import { ReadinessPort } from './readiness-port.ts';

const LOOPBACK = '127.0.0.1';
const SWEEP_MS = 100;
/** Pause between two looks at the handshakes that are under way during a stop, in milliseconds. */
const HANDSHAKE_LOOK_MS = 50;
/** Time for the answers to requests that the end of the process has broken off, in milliseconds. */
const LAST_ANSWERS_MS = 500;
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

export interface RunningProxyOptions {
  readonly log: Log;
  readonly status: ServiceStatus;
  /** Sockets that were given to this program, by the names `service`, `readiness` and `calls`. */
  readonly sockets: readonly ListeningSocket[];
}

export class RunningProxy {
  readonly #settings: ProxySettings;
  readonly #status: ServiceStatus;
  readonly #sockets: readonly ListeningSocket[];
  readonly #processLog: Log;
  readonly #log: Log;
  readonly #sweep = new Sweep(SWEEP_MS);
  readonly #keptBodies: KeptBodies;
  /** Releases what was opened, the last one first. */
  readonly #releases: (() => void)[] = [];

  constructor(settings: ProxySettings, { log, status, sockets }: RunningProxyOptions) {
    this.#settings = settings;
    this.#status = status;
    this.#sockets = sockets;
    this.#keptBodies = new KeptBodies(settings.section);
    const now = (): number => this.#sweep.now();
    this.#log = limitedLog(log, settings.log, now);
    // A process that writes much leaves the lines of the proxy their place.
    this.#processLog = limitedLog(log, settings.log, now);
  }

  /**
   * Resolves once the proxy has stopped. Rejects with an SvcError if it cannot start, and with SVC_PROCESS_ENDED once the process has
   * ended by itself.
   */
  async run(stopRequested: Promise<string>): Promise<void> {
    const { processFile, section } = this.#settings;
    try {
      const command =
        processFile === undefined
          ? undefined
          : await readProcessFile(processFile, 'svc.proxy.process-file');
      const ports = await this.#start();
      const process = command && (await this.#startProcess(command));
      this.#status.enter('ready');
      const first = await Promise.race([
        stopRequested.then((reason) => ({ reason })),
        ...(process === undefined ? [] : [process.ended.then((end) => ({ end }))]),
      ]);
      this.#status.enter('stopping');
      if ('end' in first) {
        await this.#stop(ports, LAST_ANSWERS_MS, true);
        throw processEnded(first.end);
      }
      this.#log({ level: 'info', message: 'The proxy stops', fields: { reason: first.reason } });
      const endsAtMs = performance.now() + section.stopTimeoutMs;
      process?.terminate();
      await this.#stop(ports, section.stopTimeoutMs);
      if (process !== undefined) await this.#awaitEnd(process, endsAtMs);
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
    const { listener: service, calls } = await this.#openServicePort(identity, services);
    const calling = await this.#openCallingPort(services);
    const address = { host: LOOPBACK, port: section.processPort };
    const handler = new ReadinessPort(new ProcessProbe(address, section.readinessTimeoutMs));
    const readiness = await PortListener.open(createServer({ allowHalfOpen: true }), {
      address: { host, port: section.readinessPort, ...this.#given('readiness') },
      words: wordsOf('the readiness port', 'svc.proxy.readiness-port'),
      handler: () => handler,
      limits: READINESS_LIMITS,
      times: READINESS_TIMES,
      sweep: this.#sweep,
    });
    this.#opened('readiness port', readiness);
    return { identity, service, calls, calling, readiness: handler };
  }

  async #startProcess(command: ProcessCommand): Promise<StartedProcess> {
    const process = await StartedProcess.start(command, (stream, message) =>
      this.#processLog({ level: 'info', message, fields: { from: 'process', stream } }),
    );
    this.#releases.push(() => process.kill());
    return process;
  }

  /** Kills the process if it runs for longer. */
  async #awaitEnd(process: StartedProcess, endsAtMs: number): Promise<void> {
    const waitMs = Math.max(0, endsAtMs - performance.now());
    if (await process.endsWithin(waitMs)) return;
    this.#log({ level: 'warn', message: 'The process did not end in time and was killed' });
  }

  #openServices(identity: PodIdentity): ServiceTargets {
    const { section, socketsFolder } = this.#settings;
    const { project, rules } = this.#settings.identity;
    const services = new ServiceTargets({
      finder: this.#openFinder(),
      connector: new MutualTlsConnector(identity.client, rules.trustDomain, socketsFolder),
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

  async #openServicePort(
    identity: PodIdentity,
    services: ServiceTargets,
  ): Promise<ServiceListeners> {
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
      address: { host, port: section.port, ...this.#given('service') },
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
    const { fd } = this.#given('calls');
    if (fd === undefined) return { listener, calls: undefined };
    const calls = await CallsSocket.open(fd, server, section.connectionsMax);
    this.#releases.push(() => calls.refuse());
    return { listener, calls };
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

  /** Returns the socket that was given by the name, for an address to listen on. */
  #given(name: string): { readonly fd?: number } {
    const socket = this.#sockets.find((one) => one.name === name);
    return socket === undefined ? {} : { fd: socket.fd };
  }

  #opened(name: string, listener: PortListener): void {
    this.#releases.push(() => listener.cut());
    const { host, port } = listener;
    this.#log({ level: 'info', message: `${name} listening`, fields: { host, port } });
  }

  /** Stops serving, within the time. `closesIdle`: nobody answers a further request. */
  async #stop(
    { identity, service, calls, calling, readiness }: Ports,
    timeoutMs: number,
    closesIdle = false,
  ): Promise<void> {
    readiness.stop();
    service.refuse();
    calls?.refuse();
    service.connections.stop();
    calling.connections.stop();
    if (closesIdle) service.connections.closeIdle();
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
    await settlesWithin(drained, timeoutMs);
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

interface ServiceListeners {
  readonly listener: PortListener;
  /** Undefined: the service is only reached at its port. */
  readonly calls: CallsSocket | undefined;
}

interface Ports {
  readonly identity: PodIdentity;
  readonly service: PortListener;
  readonly calls: CallsSocket | undefined;
  readonly calling: PortListener;
  readonly readiness: ReadinessPort;
}

function wordsOf(server: string, port: string) {
  return { server, settings: { host: 'svc.proxy.host', port } };
}
