// ForwardingPorts: the two ports of a proxy on plain sockets, with a clock that stands still unless the test moves it. The
// process and the services are listeners of the test.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import {
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  ServerConnections,
  Sweep,
  serveListener,
  type ServerHandler,
} from '@svc/http1';
import { onTestFinished } from 'vitest';
import type { Mount, ServiceReference } from '@svc/client';
import type { Peer } from '../../../forward/admission.ts';
import type { OwnService } from '../../../forward/arrival.ts';
import { CallingPort } from '../../../forward/calling-port.ts';
import { FORWARD_LIMITS, type ForwardLimits } from '../../../forward/forward-limits.ts';
import { KeptBodies } from '../../../forward/kept-bodies.ts';
import { MountTable } from '../../../forward/mounts.ts';
import { ProcessTarget } from '../../../forward/process-target.ts';
import { PlainConnector, type ServiceConnector } from '../../../forward/service-connector.ts';
import { notFound, type FoundService } from '../../../forward/service-finder.ts';
import { ServicePort } from '../../../forward/service-port.ts';
import { tlsPeer } from '../../../forward/tls-peer.ts';
import type { ServerTls } from '@svc/identity/server-tls';
import { ServiceTargets } from '../../../forward/service-targets.ts';
import { SHOP } from './heads.ts';
import { dial, RawListener, type RawPeer } from './raw-peer.ts';

export interface PortsOptions {
  readonly own?: OwnService;
  readonly callers?: readonly string[];
  readonly mounts?: readonly Mount[];
  readonly limits?: Partial<ForwardLimits>;
  readonly connector?: ServiceConnector;
  /** Serves the service port with mutual TLS; absent: in plain, and `peer` says what connections prove. */
  readonly tls?: ServerTls;
}

export class ForwardingPorts {
  nowMs = 1000;
  readonly sweep = new Sweep(1_000_000, () => this.nowMs);
  /** What the connection of the next requests proves. */
  peer: Peer = { caller: { kind: 'internet' }, isMount: false };
  /** Services by their references as written in a call, and where they listen. */
  readonly services = new Map<string, readonly number[]>();
  /** Services that are held, by their names. */
  readonly held = new Set<string>();
  /** Number of times that a service was looked for. */
  finds = 0;
  /** Called before a service is looked for. */
  onFind: (count: number) => unknown = () => undefined;
  /** Why services were not found or reached, and errors of the proxy. */
  readonly reports: string[] = [];
  readonly process: RawListener;
  servicePort = 0;
  callingPort = 0;
  #keptBodies: KeptBodies | undefined;
  #services: ServiceTargets | undefined;
  #released: (key: string) => void = () => undefined;

  private constructor(process: RawListener) {
    this.process = process;
  }

  static async open(options: PortsOptions = {}): Promise<ForwardingPorts> {
    const ports = new ForwardingPorts(await RawListener.open());
    const limits = { ...FORWARD_LIMITS, ...options.limits };
    const { sweep, reports } = ports;
    const own = options.own ?? SHOP;
    const keptBodies = new KeptBodies(limits);
    ports.#keptBodies = keptBodies;
    const onError = (error: unknown) => reports.push(`error: ${String(error)}`);
    const services = new ServiceTargets({
      finder: {
        find: async (called) => Promise.resolve(ports.#find(called)),
        onReleased: (listener) => (ports.#released = listener),
        close: () => undefined,
      },
      connector: options.connector ?? new PlainConnector(limits.connectTimeoutMs, sweep),
      project: own.project,
      limits,
      sweep,
      lifetimeMs: () => Infinity,
      onFailure: ({ service }, reason) => reports.push(`${service}: ${reason}`),
    });
    ports.#services = services;
    const address = () => ({ host: '127.0.0.1', port: ports.process.port });
    const process = new ProcessTarget({ address, limits, sweep });
    onTestFinished(() => {
      process.close();
      services.close();
      expectNoErrors(reports);
    });
    ports.servicePort = await ports.#serve(
      new ServicePort({
        own,
        callers: options.callers ?? [],
        mounts: new MountTable(options.mounts ?? []),
        process,
        services,
        keptBodies,
        peerOf: (exchange) =>
          options.tls === undefined ? ports.peer : tlsPeer(options.tls, exchange),
        onError,
      }),
      options.tls,
    );
    const servicesUrl = 'http://127.0.0.1:7630';
    ports.callingPort = await ports.#serve(
      new CallingPort({ services, keptBodies, servicesUrl, onError }),
    );
    return ports;
  }

  /** Bytes of memory that the bodies take that are kept to be sent once more. */
  get keptBytes(): number {
    return this.#keptBodies!.bytes;
  }

  /** Moves the clock, and lets the deadlines pass that are due. */
  advance(ms: number): void {
    this.nowMs += ms;
    this.sweep.run();
  }

  /** Number of requests that wait because their service is held. */
  get waiting(): number {
    return this.#services!.held;
  }

  /** Ends the hold of a service of the project. */
  release(service: string): void {
    this.held.delete(service);
    this.#released(`shop/${service}`);
  }

  /** A connection of a client to the service port, on which the request was written. */
  async request(...lines: readonly string[]): Promise<RawPeer> {
    const client = await dial(this.servicePort);
    client.write(requestText(lines));
    return client;
  }

  /** A connection of the process to the calling port, on which the request was written. */
  async call(...lines: readonly string[]): Promise<RawPeer> {
    const client = await dial(this.callingPort);
    client.write(requestText(lines));
    return client;
  }

  #find({ service, project }: ServiceReference): FoundService {
    this.onFind(++this.finds);
    if (this.held.has(service)) return { kind: 'held', key: `shop/${service}` };
    const ports = this.services.get(project === undefined ? service : `${service}.${project}`);
    if (ports === undefined) return notFound('the test has none');
    return {
      kind: 'found',
      authority: `${service}.svc-${project ?? 'shop'}.svc.cluster.local:9000`,
      addresses: ports.map((port) => ({ host: '127.0.0.1', port })),
    };
  }

  async #serve(handler: ServerHandler, tls?: ServerTls): Promise<number> {
    const connections = new ServerConnections({
      handler,
      limits: DEFAULT_SERVER_LIMITS,
      times: DEFAULT_SERVER_TIMES,
      sweep: this.sweep,
    });
    const server =
      tls === undefined
        ? createServer({ allowHalfOpen: true })
        : createTlsServer(tls.serverOptions);
    if (tls !== undefined) onTestFinished(tls.attach(server as TlsServer));
    serveListener(server, connections);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      connections.cut();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }
}

/** A request; the last line may be a body behind an empty one. */
export function requestText(lines: readonly string[]): string {
  const at = lines.indexOf('');
  if (at === -1) return `${lines.join('\r\n')}\r\n\r\n`;
  return `${lines.slice(0, at).join('\r\n')}\r\n\r\n${lines.slice(at + 1).join('\r\n')}`;
}

function expectNoErrors(reports: readonly string[]): void {
  const errors = reports.filter((report) => report.startsWith('error: '));
  if (errors.length > 0) throw new Error(errors.join('\n'));
}
