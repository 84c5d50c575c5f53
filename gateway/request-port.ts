// RequestPort: the requests of the internet, with TLS. The host of a request has to be one of its connection, and names the exposed service
// or the part of the platform that answers.
import { refusedWith } from './refused-request.ts';
import { respondWith } from '@svc/forward/answer-response';
import { headForInside } from '@svc/forward/forwarded-head';
import type { KeptBodies } from '@svc/forward/kept-bodies';
import { Relay } from '@svc/forward/relay';
import type { Target } from '@svc/forward/target';
import type {
  Refusal,
  RequestHead,
  ServerExchange,
  ServerHandler,
  WholeResponse,
} from '@svc/http1';
import type { TLSSocket } from 'node:tls';
import { coversName } from './certificate-names.ts';
import { gatewayAnswer } from './gateway-answers.ts';
import type { HostCertificates } from './host-certificates.ts';
import { publicAuthority, requestedHost, serverName } from './requested-host.ts';

export interface RequestPortOptions {
  readonly certificates: HostCertificates;
  /** Port of the URLs at which the gateway is reached. */
  readonly publicPort: number;
  /** Returns where a request goes. `path`: its target in origin form. */
  readonly targetOf: (hostname: string, path: string) => Target;
  readonly keptBodies: KeptBodies;
  /** Receives errors of the gateway itself. */
  readonly onError: (error: unknown) => void;
}

export class RequestPort implements ServerHandler {
  readonly #options: RequestPortOptions;

  constructor(options: RequestPortOptions) {
    this.#options = options;
  }

  request(exchange: ServerExchange): void {
    try {
      this.#forward(exchange);
    } catch (error) {
      this.#options.onError(error);
      exchange.reset();
    }
  }

  refused(refusal: Refusal, _head: RequestHead | undefined): WholeResponse {
    return refusedWith(refusal);
  }

  #forward(exchange: ServerExchange): void {
    const { publicPort: port, targetOf, keptBodies } = this.#options;
    const socket = exchange.socket as TLSSocket;
    const hostname = this.#hostOf(exchange.head, socket);
    if (hostname === undefined) {
      respondWith(exchange, gatewayAnswer('misdirected', {}));
      return;
    }
    const address = { scheme: 'https', authority: publicAuthority(hostname, port), port } as const;
    const head = headForInside(exchange.head, address, clientAddress(socket));
    new Relay(exchange, head, targetOf(hostname, head.path), keptBodies).start();
  }

  /** Returns the hostname of a request; undefined if its connection is not for that host. */
  #hostOf({ authority }: RequestHead, socket: TLSSocket): string | undefined {
    const hostname = requestedHost(authority);
    const name = serverName(socket.servername);
    if (hostname === undefined || (name !== undefined && name !== hostname)) return undefined;
    const certificate = this.#options.certificates.find(name);
    return certificate !== undefined && coversName(certificate.hostnames, hostname)
      ? hostname
      : undefined;
  }
}

const MAPPED = '::ffff:';

/** Returns the address of the client; one of IPv4 in its own form, also if the socket takes both kinds. */
function clientAddress({ remoteAddress = 'unknown' }: TLSSocket): string {
  const mapped = remoteAddress.startsWith(MAPPED) ? remoteAddress.slice(MAPPED.length) : '';
  return mapped.includes('.') ? mapped : remoteAddress;
}
