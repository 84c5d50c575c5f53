// RequestServices sends the requests that the handler of one request, or of one event, makes to other services.
//
// Invariants: a handler makes no more of them than the limit, and none is under way after the handler was cancelled.
import type { Metadata } from '@svc/model/call';
import {
  type CalledServices,
  type ServiceRequest,
  type ServiceResponse,
  serviceCallDenied,
} from '@svc/model/service-call';

export class RequestServices {
  readonly #services: CalledServices | undefined;
  readonly #cancelled = new AbortController();
  #count = 0;

  /** `services`: undefined if the service cannot call others. */
  constructor(services: CalledServices | undefined) {
    this.#services = services;
  }

  /** Sends a request, with the trace of `metadata`. Rejects as `CalledServices.request` does. */
  async send(request: ServiceRequest, metadata: Metadata): Promise<ServiceResponse> {
    const services = this.#services;
    if (services === undefined) throw serviceCallDenied('this service calls no others');
    if (++this.#count > services.perHandlerMax)
      throw serviceCallDenied(
        `its handler has made ${services.perHandlerMax} of them, the most that one may make (svc.calls.per-handler-max)`,
      );
    return services.request(request, metadata, this.#cancelled.signal);
  }

  /** Cancels the requests that are under way. */
  cancel(reason: Error): void {
    this.#cancelled.abort(reason);
  }
}
