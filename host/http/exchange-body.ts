// ExchangeBody: the body of one request: whether its route takes it, as the headers say, and its bytes, for which the caller is
// asked with 100 (Continue). A request that is refused for another header is refused here as well, before its body.
//
// Invariants: nothing of the body is read, and the caller is not asked for it, before `read` is called. Its bytes count in the
// budget of all bodies until `free` is called.
import type { ServerExchange } from '@svc/http1';
import type { Body } from '@svc/model/endpoint';
import { KeptBytes } from '@svc/model/kept-bytes';
import type { Answer } from './answers.ts';
import type { ExchangeParts } from './exchange-parts.ts';
import {
  type BodyRead,
  emptyBody,
  hasBody,
  mediaTypeProblem,
  readBody,
  tooLargeAnswer,
} from './request-body.ts';
import type { Route } from './route-table.ts';

export class ExchangeBody {
  readonly #parts: Pick<ExchangeParts, 'settings' | 'budgets'>;
  readonly #exchange: ServerExchange;
  readonly #route: Route;
  readonly #refused: Answer | undefined;
  #kept: KeptBytes | undefined;

  /** `refused`: the answer to the request, whatever its body; undefined: the body decides. */
  constructor(
    parts: Pick<ExchangeParts, 'settings' | 'budgets'>,
    exchange: ServerExchange,
    route: Route,
    refused: Answer | undefined,
  ) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#route = route;
    this.#refused = refused;
  }

  /**
   * Body that the route receives for a request without one; undefined if there is a body to read, the route needs one, or the
   * request is refused.
   */
  get ofNone(): Body | undefined {
    if (this.#refused !== undefined || hasBody(this.#exchange.head.framing)) return undefined;
    const empty = emptyBody(this.#route);
    return empty.kind === 'read' ? empty.body : undefined;
  }

  /** Returns the answer to a request that the route does not take, as the headers say; undefined: the body has to be read. */
  refusal(): Answer | undefined {
    if (this.#refused !== undefined) return this.#refused;
    const { framing, fields } = this.#exchange.head;
    if (!hasBody(framing)) return undefined;
    const refused = mediaTypeProblem(this.#route.bodyKind, fields);
    if (refused !== undefined) return refused;
    const { bodyBytesMax } = this.#parts.settings;
    const isTooLarge = framing.kind === 'length' && framing.bytes > bodyBytesMax;
    return isTooLarge ? tooLargeAnswer(bodyBytesMax) : undefined;
  }

  /** Reads the body of a request that is not over. `done` is called once, which may be before this returns. */
  read(done: (read: BodyRead) => void): void {
    const { framing, expectsContinue } = this.#exchange.head;
    if (!hasBody(framing)) {
      done(emptyBody(this.#route));
      return;
    }
    const kept = new KeptBytes(this.#parts.budgets.bodies);
    this.#kept = kept;
    if (expectsContinue) this.#exchange.informational(100, 'Continue', []);
    const { bodyBytesMax: bytesMax } = this.#parts.settings;
    readBody(this.#exchange, this.#route, { bytesMax, kept }, done);
  }

  /** Releases the memory of the body. */
  free(): void {
    this.#kept?.free();
  }
}
