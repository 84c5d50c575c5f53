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
  readonly engine: Pick<EntityEngine, 'call' | 'readEvents'>;
  readonly clock: Clock;
  readonly chance: Chance;
}

/** With code OTHER, the SDK's words for a call that gave no reply. */
const PASSED_ON: ReadonlySet<string | undefined> = new Set([
  'UNAVAILABLE',
  'TIMED_OUT',
  'INTERNAL',
]);

export function requestHandler({ guest, engine, clock, chance }: Parts) {
  return async (
    request: EndpointRequest,
    metadata: Metadata,
  ): Promise<EndpointResponse | Refusal> => {
    let failure: unknown;
    const noticed = (error: unknown): never => {
      failure = error;
      throw error;
    };
    const calls: HostCalls = {
      nowMs: () => clock.nowMs(),
      call: (...call) => noticing(() => engine.call(...call), noticed),
      readEvents: (...range) => noticing(() => engine.readEvents(...range), noticed),
    };
    const context = { nowMs: clock.nowMs(), seed: chance.seed(), metadata };
    const answer = await guest.endpoints.handle(context, request, calls);
    const isPassedOn =
      answer.kind === 'refusal' && answer.code === 'OTHER' && PASSED_ON.has(answer.otherCode);
    if (isPassedOn && failure !== undefined) throw failure;
    return answer;
  };
}

/** Stays synchronous where the call does. */
function noticing<T>(call: () => Awaitable<T>, noticed: (error: unknown) => never): Awaitable<T> {
  try {
    const answer = call();
    return answer instanceof Promise ? answer.catch(noticed) : answer;
  } catch (error) {
    return noticed(error);
  }
}
