// EndpointPool serves the requests of a module's endpoints.
import type { GuestEndpoints, HostCalls } from '@svc/model/guest';
import type { Awaitable, CallContext, Refusal } from '@svc/model/call';
import {
  type EndpointRequest,
  type EndpointResponse,
  isWhole,
  type WholeRequest,
} from '@svc/model/endpoint';
import { HandlerPool, type PoolNeeds } from './handler-pool.ts';
import { HTTP_HANDLE } from './http-binding.ts';

export class EndpointPool implements GuestEndpoints {
  /** Name of the endpoint in the log, indexed by route. */
  readonly #sources: readonly string[];
  readonly #pool: HandlerPool<WholeRequest, EndpointResponse | Refusal>;

  /** Makes the first instance. Throws GuestFault if the module does not start, SVC_OVERLOADED if memory is lacking. */
  constructor(needs: PoolNeeds) {
    this.#sources = needs.module.descriptor.endpoints.flatMap(({ name, routes }) =>
      routes.map(() => `endpoint ${name}`),
    );
    this.#pool = new HandlerPool(needs, HTTP_HANDLE, this.#sources.length);
  }

  handle(
    context: CallContext,
    input: EndpointRequest,
    calls: HostCalls,
  ): Awaitable<EndpointResponse | Refusal> {
    if (!isWhole(input)) throw new Error('a module is given a request with its body');
    const source = this.#sources[input.route] ?? 'module';
    return this.#pool.handle({ context, input, calls, handler: input.route, source });
  }

  /** Instances that currently exist. */
  get instances(): number {
    return this.#pool.instances;
  }

  /** Fails the requests that are being served or wait for an instance. */
  close(): void {
    this.#pool.close();
  }
}
