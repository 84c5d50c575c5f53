// ServiceConnector: how connections to services are opened: with mutual TLS in an installation, in plain on a developer's
// machine.
import type { ServiceKey } from '@svc/client';
import { tcpConnect, type ClientFailure, type Connect, type Sweep } from '@svc/http1';
import type { ClientTls, ConnectFailure, ConnectTarget } from '@svc/identity/client-tls';
import { serviceId } from '@svc/identity/spiffe-id';
import { callSocketFile, SOCKET_PATH_BYTES_MAX } from '@svc/kit/call-sockets';
import type { InstanceAddress } from './service-finder.ts';

export interface ServiceConnector {
  /** `protocol`: what ALPN has to select; undefined: nothing is offered. */
  connectTo(address: InstanceAddress, called: ServiceKey, protocol: string | undefined): Connect;
}

/** Opens connections to services of a developer's machine, which prove no identity. */
export class PlainConnector implements ServiceConnector {
  readonly #connectTimeoutMs: number;
  readonly #sweep: Sweep;

  constructor(connectTimeoutMs: number, sweep: Sweep) {
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#sweep = sweep;
  }

  connectTo(address: InstanceAddress): Connect {
    return tcpConnect(address, this.#connectTimeoutMs, this.#sweep);
  }
}

/** Opens connections whose peer has proved to be the called service before a byte is written. */
export class MutualTlsConnector implements ServiceConnector {
  readonly #tls: ClientTls;
  readonly #trustDomain: string;
  readonly #socketsFolder: string | undefined;

  /**
   * `socketsFolder`: connections are opened to the Unix domain sockets of the instances in this folder. Undefined: they are opened
   * to their addresses.
   */
  constructor(tls: ClientTls, trustDomain: string, socketsFolder?: string) {
    this.#tls = tls;
    this.#trustDomain = trustDomain;
    this.#socketsFolder = socketsFolder;
  }

  connectTo(address: InstanceAddress, called: ServiceKey, protocol: string | undefined): Connect {
    const folder = this.#socketsFolder;
    const socketFile =
      folder === undefined ? undefined : callSocketFile(folder, called.project, address);
    // The system would connect to another path: the part of this one that fits.
    if (socketFile !== undefined && Buffer.byteLength(socketFile) > SOCKET_PATH_BYTES_MAX)
      return unreachable(`the path of its socket is longer than ${SOCKET_PATH_BYTES_MAX} bytes`);
    return connectToIdentity(this.#tls, {
      ...address,
      ...(socketFile === undefined ? {} : { socketFile }),
      expectedId: serviceId(this.#trustDomain, called),
      ...(protocol === undefined ? {} : { protocol }),
    });
  }
}

/** Returns how connections are opened whose peer has proved the SPIFFE ID before a byte is written. */
export function connectToIdentity(tls: ClientTls, target: ConnectTarget): Connect {
  return (onread, settled) =>
    tls.connect({ ...target, onread }, (result) => {
      if (result.kind === 'connected') settled({ socket: result.socket });
      else settled({ socket: undefined, failure: failureOf(result.failure) });
    });
}

/** Opens no connection. Like every opener, it settles after it has returned. */
function unreachable(reason: string): Connect {
  return (_onread, settled) => {
    let isCancelled = false;
    queueMicrotask(() => {
      const cause = new Error(reason);
      if (!isCancelled) settled({ socket: undefined, failure: { kind: 'unreachable', cause } });
    });
    return () => {
      isCancelled = true;
    };
  };
}

function failureOf({ kind, detail }: ConnectFailure): ClientFailure {
  const cause = new Error(detail);
  switch (kind) {
    case 'refused':
      return { kind: 'refused', cause };
    case 'timed-out':
      return { kind: 'connect-timeout' };
    case 'unreachable':
    case 'closed':
    // A service of an older runtime takes no requests under a mount, and its others are of no use.
    case 'protocol-not-selected':
      return { kind: 'unreachable', cause };
    case 'untrusted':
    case 'no-certificate':
    case 'other-identity':
      return { kind: 'identity', reason: detail };
  }
}
