// CallingPort: the requests by which the process calls other services. Only the process can reach the port.
import type {
  RequestHead,
  ServerExchange,
  ServerHandler,
  WholeResponse,
  Refusal,
} from '@svc/http1';
import { refusalResponse, respondWith } from './answer-response.ts';
import { answer } from './answers.ts';
import { callTarget } from './call-target.ts';
import { headForCall } from './forwarded-head.ts';
import { relayToService } from './service-relay.ts';
import type { KeptBodies } from './kept-bodies.ts';
import type { ServiceTargets } from './service-targets.ts';

export interface CallingPortOptions {
  readonly services: ServiceTargets;
  /** Those of the proxy: its ports have them together. */
  readonly keptBodies: KeptBodies;
  /** Address of the port, as the process has it in `SVC_SERVICES_URL`. */
  readonly servicesUrl: string;
  /** Receives errors of the proxy itself. */
  readonly onError: (error: unknown) => void;
}

export class CallingPort implements ServerHandler {
  readonly #options: CallingPortOptions;

  constructor(options: CallingPortOptions) {
    this.#options = options;
  }

  request(exchange: ServerExchange): void {
    const { services, keptBodies, servicesUrl, onError } = this.#options;
    const target = callTarget(exchange.head.path);
    switch (target.kind) {
      case 'no-service':
        respondWith(exchange, answer('call-without-service', { servicesUrl }));
        break;
      case 'not-a-service':
        respondWith(exchange, answer('call-of-no-service', target));
        break;
      case 'service':
        relayToService(exchange, {
          find: (onWait) => services.find(target.called, 'call', onWait),
          headFor: ({ authority }) => headForCall(exchange.head, { path: target.path, authority }),
          keptBodies,
          onError,
        });
        break;
    }
  }

  refused(refusal: Refusal, _head: RequestHead | undefined): WholeResponse {
    return refusalResponse(refusal);
  }
}
