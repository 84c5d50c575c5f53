// ServicePort: the requests of the internet and of other services. Each is admitted by what its connection proves, and goes to
// the process, or to a mounted service.
import type {
  RequestHead,
  ServerExchange,
  ServerHandler,
  WholeResponse,
  Refusal,
} from '@svc/http1';
import { admit, type Peer } from './admission.ts';
import { refusalResponse, respondWith } from './answer-response.ts';
import { answer } from './answers.ts';
import type { Arrival, OwnService } from './arrival.ts';
import { headForMount, headForProcess } from './forwarded-head.ts';
import type { KeptBodies } from './kept-bodies.ts';
import type { MountTable } from './mounts.ts';
import { Relay } from './relay.ts';
import type { ServiceTargets } from './service-targets.ts';
import { relayToService } from './service-relay.ts';
import type { Target } from './target.ts';

export interface ServicePortOptions {
  readonly own: OwnService;
  /** Services that the descriptor admits. */
  readonly callers: readonly string[];
  readonly mounts: MountTable;
  readonly process: Target;
  readonly services: ServiceTargets;
  /** Those of the proxy: its ports have them together. */
  readonly keptBodies: KeptBodies;
  readonly peerOf: (exchange: ServerExchange) => Peer;
  /** Receives errors of the proxy itself. */
  readonly onError: (error: unknown) => void;
}

export class ServicePort implements ServerHandler {
  readonly #options: ServicePortOptions;

  constructor(options: ServicePortOptions) {
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
    return refusalResponse(refusal);
  }

  #forward(exchange: ServerExchange): void {
    const { own, callers, mounts, peerOf } = this.#options;
    const admission = admit(peerOf(exchange), own, callers);
    if (admission.kind === 'refused') {
      respondWith(exchange, admission.answer);
      return;
    }
    const { arrival } = admission;
    const routed = mounts.route(exchange.head.path);
    switch (routed.kind) {
      case 'process':
        this.#passToProcess(exchange, arrival);
        break;
      case 'mount':
        this.#passUnderMount(exchange, arrival, routed);
        break;
      case 'ambiguous':
        respondWith(exchange, answer('path-ambiguous', {}));
        break;
    }
  }

  #passToProcess(exchange: ServerExchange, arrival: Arrival): void {
    const { own, process, keptBodies } = this.#options;
    new Relay(exchange, headForProcess(exchange.head, arrival, own), process, keptBodies).start();
  }

  #passUnderMount(
    exchange: ServerExchange,
    arrival: Arrival,
    { service, path }: { readonly service: string; readonly path: string },
  ): void {
    const { own, services, keptBodies, onError } = this.#options;
    const called = { service, project: undefined };
    relayToService(exchange, {
      find: (onWait) => services.find(called, 'mount', onWait),
      headFor: (target) => headForMount(exchange.head, arrival, own, { path, ...target }),
      keptBodies,
      onError,
    });
  }
}
