// ReadinessPort: the requests at the plain port that anyone may reach. It only says whether the pod is ready: a connection to
// the process succeeds, and no stop has begun.
import { ANSWERED_BY_HEADER, ANSWERED_BY_PROXY } from '@svc/client';
import { answer } from '@svc/forward/answers';
import { refusalResponse, respondWith } from '@svc/forward/answer-response';
import type {
  Refusal,
  RequestHead,
  ServerExchange,
  ServerHandler,
  WholeResponse,
} from '@svc/http1';
import type { ProcessProbe } from './process-probe.ts';

const READY = Buffer.from('{"ready":true}');
const READY_FIELDS = [
  'Content-Type',
  'application/json',
  'Content-Length',
  String(READY.length),
  'Cache-Control',
  'no-store',
  ANSWERED_BY_HEADER,
  ANSWERED_BY_PROXY,
];

export class ReadinessPort implements ServerHandler {
  readonly #probe: ProcessProbe;
  #isStopping = false;

  constructor(probe: ProcessProbe) {
    this.#probe = probe;
  }

  stop(): void {
    this.#isStopping = true;
  }

  request(exchange: ServerExchange): void {
    const { method, path } = exchange.head;
    const isProbe = path.split('?', 1)[0] === '/ready' && (method === 'GET' || method === 'HEAD');
    if (isProbe) void this.#answer(exchange);
    else respondWith(exchange, answer('not-readiness', {}));
  }

  refused(refusal: Refusal, _head: RequestHead | undefined): WholeResponse {
    return refusalResponse(refusal);
  }

  async #answer(exchange: ServerExchange): Promise<void> {
    const isListening = !this.#isStopping && (await this.#probe.isListening());
    if (this.#isStopping) {
      respondWith(exchange, answer('stopping', {}));
      return;
    }
    if (!isListening) {
      respondWith(exchange, answer('process-not-listening', {}));
      return;
    }
    const body = exchange.respond(200, 'OK', READY_FIELDS, { kind: 'length', bytes: READY.length });
    body.write(READY);
    body.end();
  }
}
