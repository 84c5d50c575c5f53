// LocalForwarder: the forwarding of a developer's machine. It has the rules of a pod's proxy, with plain connections: every
// caller is `local`, and services are found by their registrations.
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { CallingPort } from '@svc/forward/calling-port';
import { FORWARD_LIMITS } from '@svc/forward/forward-limits';
import { KeptBodies } from '@svc/forward/kept-bodies';
import { MountTable } from '@svc/forward/mounts';
import { ProcessTarget } from '@svc/forward/process-target';
import { RegistrationFinder } from '@svc/forward/registration-finder';
import { PlainConnector } from '@svc/forward/service-connector';
import { notFound, type ServiceFinder } from '@svc/forward/service-finder';
import { ServicePort } from '@svc/forward/service-port';
import { ServiceTargets } from '@svc/forward/service-targets';
import type { Target, TargetOutcome, TargetTaking } from '@svc/forward/target';
import {
  type ClientFailure,
  DEFAULT_SERVER_LIMITS,
  DEFAULT_SERVER_TIMES,
  ServerConnections,
  type ServerHandler,
  serveListener,
  Sweep,
} from '@svc/http1';
import { httpUrl, type AddressNames, listen, type ListenAddress } from '@svc/kit/listen';
import type { Forwarder, ForwarderOptions } from './forwarder.ts';

const LOOPBACK = '127.0.0.1';
const SWEEP_EVERY_MS = 250;
/** Time for requests in flight to finish after a stop, in milliseconds. */
const STOP_GRACE_MS = 10_000;

/** Rejects with SVC_PORT_IN_USE and SVC_ADDRESS_UNAVAILABLE; then nothing listens. */
export async function openLocalForwarder(options: ForwarderOptions): Promise<Forwarder> {
  const { name, port, mounts, log } = options;
  const sweep = new Sweep(SWEEP_EVERY_MS);
  const process = new CurrentProcess(options.processPort, sweep);
  const services = serviceTargets(options, sweep);
  const keptBodies = new KeptBodies(FORWARD_LIMITS);
  const onError = (error: unknown) =>
    log({
      level: 'error',
      message: 'the forwarding has failed',
      fields: { reason: String(error) },
    });
  const requests = new Listener(sweep);
  const calls = new Listener(sweep);
  const servicesUrl = httpUrl(await calls.listen({ host: LOOPBACK, port: 0 }));
  calls.serve(new CallingPort({ services, keptBodies, servicesUrl, onError }));
  const close = async () => {
    await Promise.all([requests.close(), calls.close()]);
    process.close();
    services.close();
  };
  const address = await requests
    .listen({ host: LOOPBACK, port }, { port: '--port' })
    .catch(async (failure: unknown) => {
      await close();
      throw failure;
    });
  requests.serve(
    new ServicePort({
      own: { service: name, project: undefined, port: address.port, baseDomain: undefined },
      callers: [],
      mounts: new MountTable(mounts),
      process,
      services,
      keptBodies,
      peerOf: () => ({ caller: { kind: 'local' }, isMount: false }),
      onError,
    }),
  );
  return { url: httpUrl(address), servicesUrl, close };
}

function serviceTargets({ runningFolder, log }: ForwarderOptions, sweep: Sweep): ServiceTargets {
  const nothing: ServiceFinder = {
    find: async () => notFound('there is no folder in which services register'),
    close() {},
  };
  return new ServiceTargets({
    finder:
      runningFolder === undefined
        ? nothing
        : new RegistrationFinder({ folder: runningFolder, now: () => performance.now() }),
    connector: new PlainConnector(FORWARD_LIMITS.connectTimeoutMs, sweep),
    project: undefined,
    limits: FORWARD_LIMITS,
    sweep,
    lifetimeMs: () => Infinity,
    onFailure: ({ service }, reason) =>
      log({
        level: 'warn',
        message: 'a service was not reached',
        fields: { called: service, reason },
      }),
  });
}

/** A listener and its connections. */
class Listener {
  readonly #server: Server = createServer();
  readonly #sweep: Sweep;
  #connections: ServerConnections | undefined;

  constructor(sweep: Sweep) {
    this.#sweep = sweep;
  }

  async listen(address: ListenAddress, settings?: AddressNames): Promise<ListenAddress> {
    return listen(this.#server, address, settings === undefined ? {} : { settings });
  }

  /** Called in the turn in which it listens, before a connection can arrive. */
  serve(handler: ServerHandler): void {
    this.#connections = new ServerConnections({
      handler,
      limits: DEFAULT_SERVER_LIMITS,
      times: DEFAULT_SERVER_TIMES,
      sweep: this.#sweep,
    });
    serveListener(this.#server, this.#connections);
    // The event reports a connection that cannot be accepted, for example when this process may open no more files.
    this.#server.on('error', () => {});
  }

  /** Takes no new connections; the open ones close after their responses, or are broken off after the grace time. */
  async close(): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    const connections = this.#connections;
    if (connections !== undefined) {
      connections.stop();
      const ended = new AbortController();
      await Promise.race([
        connections.empty(),
        delay(STOP_GRACE_MS, undefined, { signal: ended.signal }).catch(() => {}),
      ]);
      ended.abort();
      connections.cut();
    }
    await closed.promise;
  }
}

/** The process at the port that it has now. */
class CurrentProcess implements Target {
  readonly responder = 'process';
  readonly #port: () => number;
  readonly #sweep: Sweep;
  #target: { readonly port: number; readonly process: ProcessTarget } | undefined;

  constructor(port: () => number, sweep: Sweep) {
    this.#port = port;
    this.#sweep = sweep;
  }

  take(taking: TargetTaking, taken: (outcome: TargetOutcome) => void): () => void {
    return this.#current().take(taking, taken);
  }

  answerTo(failure: ClientFailure): ReturnType<Target['answerTo']> {
    return this.#current().answerTo(failure);
  }

  close(): void {
    this.#target?.process.close();
  }

  #current(): ProcessTarget {
    const port = this.#port();
    if (this.#target?.port !== port) {
      this.#target?.process.close();
      const process = new ProcessTarget({
        address: { host: LOOPBACK, port },
        limits: FORWARD_LIMITS,
        sweep: this.#sweep,
      });
      this.#target = { port, process };
    }
    return this.#target.process;
  }
}
