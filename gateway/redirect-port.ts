// RedirectPort: the plain port, which sends every request to the same URL with TLS.
import { respondWith } from '@svc/forward/answer-response';
import type {
  Refusal,
  RequestHead,
  ServerExchange,
  ServerHandler,
  WholeResponse,
} from '@svc/http1';
import { gatewayAnswer } from './gateway-answers.ts';
import type { HostCertificates } from './host-certificates.ts';
import { refusedWith } from './refused-request.ts';
import { publicAuthority, requestedHost } from './requested-host.ts';

export class RedirectPort implements ServerHandler {
  readonly #certificates: HostCertificates;
  readonly #publicPort: number;

  constructor(certificates: HostCertificates, publicPort: number) {
    this.#certificates = certificates;
    this.#publicPort = publicPort;
  }

  request(exchange: ServerExchange): void {
    const { authority, path } = exchange.head;
    const hostname = requestedHost(authority);
    if (hostname === undefined || this.#certificates.covering(hostname) === undefined) {
      respondWith(exchange, gatewayAnswer('misdirected', {}));
      return;
    }
    const location = `https://${publicAuthority(hostname, this.#publicPort)}${path === '*' ? '/' : path}`;
    respondWith(exchange, gatewayAnswer('redirect', { location }));
  }

  refused(refusal: Refusal, _head: RequestHead | undefined): WholeResponse {
    return refusedWith(refusal);
  }
}
