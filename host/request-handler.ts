// RequestHandler: what happens between the HTTP server and a module's handler. It gives the handler
// its context and its calls, and sees to it that a failure of a component which the handler only
// passes on is answered as what it is (500, 503 or 504 with an error id), not as the handler's word.
import type { EntityEngine } from './engine/entity-engine.ts';
import type { Chance, Clock } from './engine/needs/clock.ts';
import type { Guest, HostCalls } from './engine/needs/guest.ts';
import type { Awaitable, Metadata, Refusal } from './model/call.ts';
import type { EndpointRequest, EndpointResponse } from './model/endpoint.ts';

interface Parts {
  readonly guest: Pick<Guest, 'endpoints'>;
  readonly engine: Pick<EntityEngine, 'call' | 'queryAtOnce' | 'readEvents'>;
  readonly clock: Clock;
  readonly chance: Chance;
}

/** With code OTHER, the SDK's words for a call that gave no reply. */
const PASSED_ON: ReadonlySet<string | undefined> = new Set([
  'UNAVAILABLE',
  'TIMED_OUT',
  'INTERNAL',
]);

export function requestHandler(parts: Parts) {
  const { guest, clock, chance } = parts;
  return (request: EndpointRequest, metadata: Metadata): Awaitable<EndpointResponse | Refusal> => {
    const calls = new RequestCalls(parts);
    const context = { nowMs: clock.nowMs(), seed: chance.seed(), metadata };
    const answer = guest.endpoints.handle(context, request, calls);
    return answer instanceof Promise
      ? answer.then((later) => calls.notPassedOn(later))
      : calls.notPassedOn(answer);
  };
}

/** What the handler of one request may reach, and what failed of it. */
class RequestCalls implements HostCalls {
  readonly #engine: Parts['engine'];
  readonly #clock: Clock;
  #failure: unknown;
  /** A handler that has begun to wait was served without before, perhaps: that failed for nobody. */
  #mayWait = false;

  constructor({ engine, clock }: Parts) {
    this.#engine = engine;
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  call(...call: Parameters<HostCalls['call']>): ReturnType<HostCalls['call']> {
    return this.#noticing(() => this.#engine.call(...call));
  }

  queryAtOnce(
    ...query: Parameters<EntityEngine['queryAtOnce']>
  ): ReturnType<EntityEngine['queryAtOnce']> {
    try {
      return this.#engine.queryAtOnce(...query);
    } catch (error) {
      return this.#noticed(error);
    }
  }

  readEvents(...range: Parameters<HostCalls['readEvents']>): ReturnType<HostCalls['readEvents']> {
    return this.#noticing(() => this.#engine.readEvents(...range));
  }

  /** Throws the failure of a component whose refusal is the handler's answer. */
  notPassedOn(answer: EndpointResponse | Refusal): EndpointResponse | Refusal {
    const isPassedOn =
      answer.kind === 'refusal' && answer.code === 'OTHER' && PASSED_ON.has(answer.otherCode);
    if (isPassedOn && this.#failure !== undefined) throw this.#failure;
    return answer;
  }

  /** Stays synchronous where the call does. */
  #noticing<T>(call: () => Awaitable<T>): Awaitable<T> {
    if (!this.#mayWait) {
      this.#mayWait = true;
      this.#failure = undefined;
    }
    try {
      const answer = call();
      return answer instanceof Promise ? answer.catch((error) => this.#noticed(error)) : answer;
    } catch (error) {
      return this.#noticed(error);
    }
  }

  #noticed(error: unknown): never {
    this.#failure = error;
    throw error;
  }
}
