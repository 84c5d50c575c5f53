// InstanceAddresses: an address with free ports for each instance. On Linux it is one of the loopback network alone, with the ports of a
// deployed instance on it; elsewhere the loopback network has one address, and its free ports are used.
//
// Invariants
// A1  Each port is tried before it is given, without `reusePort`: with it two programs would share the port without noticing.
// A2  An address, or a port of the shared one, is given to one instance at a time.
import { createServer, type AddressInfo, type Server } from 'node:net';
import { SvcError } from '@svc/kit/svc-error';
import { listenerOf } from './port-listener.ts';

/** Value of svc.local.network with which instances share 127.0.0.1. */
export const PORTS_NETWORK = 'ports';
const SHARED_ADDRESS = '127.0.0.1';
/** Addresses that are tried. More of them being taken means that something is wrong. */
const ATTEMPTS_MAX = 50;
const HOSTS = 256 * 254;
/** Time in which an instance is made with an address that it was given, in milliseconds. */
const GIVEN_MS = 10_000;

export interface InstancePorts {
  /** Undefined: the service takes no requests. */
  readonly http?: number;
  /** It says whether the instance is ready: that of the runtime, or that of the proxy of a web-hosted service. */
  readonly management: number;
  /** Undefined: the service is web-hosted. */
  readonly remoting?: number;
}

export interface InstanceAddress {
  readonly address: string;
  readonly ports: InstancePorts;
}

/** Returns the network that is used on a platform unless another one is set. */
export function defaultNetwork(platform: NodeJS.Platform): string {
  // Elsewhere an address of 127.0.0.0/8 has to be configured before a program can listen on it.
  return platform === 'linux' ? '127.83' : PORTS_NETWORK;
}

export class InstanceAddresses {
  readonly #network: string;
  readonly #inUse: () => readonly InstanceAddress[];
  readonly #bootMs: () => number;
  /** Times at which addresses were given to instances that may not have a folder yet. */
  readonly #given = new Map<string, number>();

  /** `network`: the first two numbers of addresses, such as `127.83`, or `ports`. `inUse`: of instances, whether they run or not. */
  constructor(network: string, inUse: () => readonly InstanceAddress[], bootMs: () => number) {
    this.#network = network;
    this.#inUse = inUse;
    this.#bootMs = bootMs;
  }

  /**
   * Returns an address on which nothing listens: `present`, if it is one. `wanted`: the ports where the address is the instance's alone.
   * Rejects with SVC_PORT_IN_USE, which names the program that is in the way.
   */
  async find(wanted: InstancePorts, present?: InstanceAddress): Promise<InstanceAddress> {
    if (present !== undefined && (await isFree(present))) return present;
    for (const [given, ms] of this.#given)
      if (this.#bootMs() - ms > GIVEN_MS) this.#given.delete(given);
    const taken = new Set([...this.#inUse().flatMap(namesOf), ...this.#given.keys()]);
    const found =
      this.#network === PORTS_NETWORK
        ? await freePorts(wanted, taken)
        : await freeAddress(this.#network, wanted, taken);
    for (const name of namesOf(found)) this.#given.set(name, this.#bootMs());
    return found;
  }
}

/** Returns what nobody else may have: the address, or the ports of the shared one. */
function namesOf({ address, ports }: InstanceAddress): readonly string[] {
  return address === SHARED_ADDRESS ? numbersOf(ports).map((port) => `port ${port}`) : [address];
}

function numbersOf({ http, management, remoting }: InstancePorts): readonly number[] {
  return [http, management, remoting].filter((port) => port !== undefined);
}

async function isFree({ address, ports }: InstanceAddress): Promise<boolean> {
  try {
    for (const port of numbersOf(ports)) await (await listening(address, port)).close();
    return true;
  } catch {
    return false;
  }
}

async function freeAddress(
  network: string,
  ports: InstancePorts,
  taken: ReadonlySet<string>,
): Promise<InstanceAddress> {
  let refusal: NodeJS.ErrnoException & { readonly port?: number } = new Error('all are taken');
  let next = Math.floor(Math.random() * HOSTS);
  for (let attempt = 0, tries = 0; attempt < ATTEMPTS_MAX && tries < HOSTS; next++, tries++) {
    const host = next % HOSTS;
    const address = `${network}.${Math.floor(host / 254)}.${(host % 254) + 1}`;
    if (taken.has(address)) continue;
    attempt++;
    try {
      for (const port of numbersOf(ports)) await (await listening(address, port)).close();
      return { address, ports };
    } catch (error) {
      refusal = error as typeof refusal;
    }
  }
  throw noAddress(network, refusal);
}

function noAddress(
  network: string,
  { code, message, port }: NodeJS.ErrnoException & { readonly port?: number },
): SvcError {
  const addresses = `any address of ${network}.0.0/16`;
  if (code !== 'EADDRINUSE' || port === undefined)
    return new SvcError(
      'SVC_ADDRESS_UNAVAILABLE',
      `No instance can listen on ${addresses} (${code ?? message}). Set another network with svc.local.network, such as ${PORTS_NETWORK}.`,
    );
  return new SvcError(
    'SVC_PORT_IN_USE',
    `Port ${port} cannot be had on ${addresses}: ${listenerOf(port)} listens there. Stop that program, or let it listen on one address alone.`,
  );
}

async function freePorts(
  wanted: InstancePorts,
  taken: ReadonlySet<string>,
): Promise<InstanceAddress> {
  const opened: Listening[] = [];
  // All are open at the same time, so that none is given twice.
  const next = async (): Promise<number> => {
    const one = await listening(SHARED_ADDRESS, 0);
    opened.push(one);
    return taken.has(`port ${one.port}`) && opened.length < ATTEMPTS_MAX ? await next() : one.port;
  };
  try {
    const http = wanted.http === undefined ? {} : { http: await next() };
    const management = await next();
    const remoting = wanted.remoting === undefined ? {} : { remoting: await next() };
    const ports = { ...http, management, ...remoting };
    return { address: SHARED_ADDRESS, ports };
  } catch (error) {
    throw noAddress('127.0', error as NodeJS.ErrnoException);
  } finally {
    for (const one of opened) await one.close();
  }
}

interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

async function listening(host: string, port: number): Promise<Listening> {
  const server: Server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host, port, exclusive: true }, resolve);
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((closed) => server.close(() => closed())),
  };
}
