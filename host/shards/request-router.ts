// RequestRouter: sends a request to the shard of the entity that its handler will ask for, so that the handler runs beside it.
// Which entity that is, only the handler says. But handlers say the same again and again: of a route it is learned
// which parameter of the path became the id of the first entity that it asked for. A wrong guess costs time and
// changes nothing: any shard can run any handler, and calls find their entity from each.
import type { requestHandler } from '../http/requests/request-handler.ts';
import type { Awaitable, Metadata, Refusal } from '../model/call.ts';
import type { AnswerWaiter, EndpointRequest, EndpointResponse } from '../model/endpoint.ts';
import type { EntityRef } from '../model/entity.ts';
import { shardOf } from './shard-of.ts';
import type { ShardRouter } from './shard-router.ts';

/** After a request of a route that was sent to the wrong shard, so many stay here that might have taught better. */
const REQUESTS_NOT_SENT = 100;

/** The id is that parameter of the path. */
interface Guess {
  readonly component: string;
  readonly parameter: number;
}

interface Parts {
  readonly index: number;
  readonly count: number;
  readonly router: Pick<ShardRouter, 'request'>;
  /** Handles a request in this shard. */
  readonly handleHere: ReturnType<typeof requestHandler>;
}

export class RequestRouter {
  readonly #parts: Parts;
  /** By route. */
  readonly #guesses = new Map<number, Guess>();
  /** By route: requests that are not sent. */
  readonly #notSent = new Map<number, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  handle(
    request: EndpointRequest,
    metadata: Metadata,
    waiter?: AnswerWaiter,
  ): Awaitable<EndpointResponse | Refusal> {
    const guess = this.#guesses.get(request.route);
    if (guess !== undefined) {
      const { index, count, router } = this.#parts;
      const owner = shardOf(guess.component, request.parameters[guess.parameter]!, count);
      const answer =
        owner === index
          ? undefined
          : router.request(owner, request, metadata, waiter, () => this.#forget(request.route));
      if (answer !== undefined) return answer;
    }
    return this.#parts.handleHere(request, metadata, waiter);
  }

  /** The handler of a request that runs here has first asked for an entity of another shard. */
  asksElsewhere(
    { route, parameters }: EndpointRequest,
    { component, id }: EntityRef,
    waiter: AnswerWaiter | undefined,
  ): void {
    if (waiter?.forwarded !== undefined) {
      waiter.forwarded.wasMisrouted = true;
      return;
    }
    const left = this.#notSent.get(route) ?? 0;
    if (left > 0) {
      this.#notSent.set(route, left - 1);
      return;
    }
    const parameter = parameters.indexOf(id);
    if (parameter !== -1) this.#guesses.set(route, { component, parameter });
  }

  #forget(route: number): void {
    this.#guesses.delete(route);
    this.#notSent.set(route, REQUESTS_NOT_SENT);
  }
}
