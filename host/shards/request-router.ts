// RequestRouter sends a request to the shard that owns the entity which its handler will call, so that the handler runs
// beside the entity. Only the handler decides which entity that is, so the router learns: for each route it notes which
// path parameter was the id of the first entity that a handler called. A wrong guess costs time and changes nothing:
// any shard can run any handler, and a call finds its entity from every shard.
import type { Ownership } from '../engine/needs/ownership.ts';
import type { requestHandler } from '../http/requests/request-handler.ts';
import type { Awaitable, Metadata, Refusal } from '@svc/model/call';
import type { AnswerWaiter, EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { EntityRef } from '@svc/model/entity';
import type { ShardRouter } from './shard-router.ts';

/**
 * Number of requests of a route whose first call goes to another shard, and from which nothing is learned, after a
 * request that was sent to the wrong shard. All requests of the route stay in this shard meanwhile.
 */
const REQUESTS_NOT_SENT = 100;

/** Entity that handlers of a route call first: its component, and the index of the path parameter that is its id. */
interface Guess {
  readonly component: string;
  readonly parameter: number;
}

interface Parts {
  /** Index of this shard. */
  readonly index: number;
  readonly ownership: Ownership;
  readonly router: Pick<ShardRouter, 'request'>;
  /** Handles a request in this shard. */
  readonly handleHere: ReturnType<typeof requestHandler>;
}

export class RequestRouter {
  readonly #parts: Parts;
  /** Indexed by route. */
  readonly #guesses = new Map<number, Guess>();
  /** Indexed by route: from how many more such requests (REQUESTS_NOT_SENT) nothing is learned. */
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
      const { index, ownership, router } = this.#parts;
      const owner = ownership.ownerOf(guess.component, request.parameters[guess.parameter]!);
      const answer =
        owner === index
          ? undefined
          : router.request(owner, request, metadata, waiter, () => this.#forget(request.route));
      if (answer !== undefined) return answer;
    }
    return this.#parts.handleHere(request, metadata, waiter);
  }

  /**
   * Learns from a request whose handler ran here and whose first call went to an entity of another shard. If another
   * shard sent the request here, it is marked as sent to the wrong shard instead.
   */
  firstCallIsRemote(
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
