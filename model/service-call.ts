// A request to another service and its response, as handlers make and get them, and CalledServices, which sends it.
import { SvcError } from '@svc/kit/svc-error';
import type { Metadata } from './call.ts';
import type { HeaderList } from './endpoint.ts';

/** A request as the module gives it. Nothing of it has been checked. */
export interface ServiceRequest {
  /** `<service>`, or `<service>.<project>`. */
  readonly service: string;
  readonly method: string;
  /** Path, with its query if there is one. */
  readonly path: string;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** The response of the service, or one that the runtime makes where no service answers (`x-svc-answered-by`). */
export interface ServiceResponse {
  /** 200 to 599. */
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

/** Sends the requests of handlers to other services. */
export interface CalledServices {
  /** The most requests of one handler. */
  readonly perHandlerMax: number;
  /**
   * Sends a request, with the trace of `metadata`, and waits for its response. `signal` cancels it: then the promise
   * rejects with the signal's reason. Rejects with SVC_SERVICE_CALL_DENIED if the request is not valid or may not be made, and with
   * SVC_OVERLOADED and SVC_STOPPING; then nothing was sent.
   */
  request(
    request: ServiceRequest,
    metadata: Metadata,
    signal: AbortSignal,
  ): Promise<ServiceResponse>;
}

/** Makes the error of a request that is not sent. `why`: worded to follow a colon; the module gets it. */
export function serviceCallDenied(why: string): SvcError {
  return new SvcError(
    'SVC_SERVICE_CALL_DENIED',
    `The request to another service was not sent: ${why}.`,
  );
}
