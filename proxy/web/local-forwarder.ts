// LocalForwarder: the forwarding of a developer's machine. It has the rules of a pod's proxy, with plain connections: every
// caller is `local`, and services are found by their registrations.
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { CallingPort } from '@svc/forward/calling-port';
import { FORWARD_LIMITS } from '@svc/forward/forward-limits';
import { KeptBodies } from '@svc/forward/kept-bodies';
import { MountTable } from '@svc/forward/mounts';
import { PortListener } from '@svc/forward/port-listener';
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
  type ServerHandler,
  Sweep,
} from '@svc/http1';
import { httpUrl, type ListenWords } from '@svc/kit/listen';
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
  const open = (wanted: number, words: ListenWords, handler: (bound: number) => ServerHandler) =>
    PortListener.open(createServer(), {
      address: { host: LOOPBACK, port: wanted },
      words,
      handler,
      limits: DEFAULT_SERVER_LIMITS,
      times: DEFAULT_SERVER_TIMES,
      sweep,
    });
  const calls = await open(0, {}, (bound) => {
    const servicesUrl = httpUrl({ host: LOOPBACK, port: bound });
    return new CallingPort({ services, keptBodies, servicesUrl, onError });
  });
  const requestHandler = (bound: number) =>
    new ServicePort({
      own: { service: name, project: undefined, port: bound, baseDomain: undefined },
      callers: [],
      mounts: new MountTable(mounts),
      process,
      services,
      keptBodies,
      peerOf: () => ({ caller: { kind: 'local' }, isMount: false }),
      onError,
    });
  try {
    const requests = await open(port, { settings: { port: '--port' } }, requestHandler);
    const close = async () => {
      await drain(requests, calls);
      process.close();
      services.close();
    };
    return { url: httpUrl(requests), servicesUrl: httpUrl(calls), close };
  } catch (failure) {
    calls.cut();
    throw failure;
  }
}

/**
 * Takes no new requests, and lets those in flight finish, which may still call services; those that take longer than the grace time
 * are broken off.
 */
async function drain(requests: PortListener, calls: PortListener): Promise<void> {
  requests.refuse();
  requests.connections.stop();
  calls.connections.stop();
  const drained = (async () => {
    await requests.connections.empty();
    calls.refuse();
    await calls.connections.empty();
  })();
  const ended = new AbortController();
  const late = delay(STOP_GRACE_MS, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([drained, late]);
  ended.abort();
  requests.cut();
  calls.cut();
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
