// EndpointRequests: the requests that a test sends to the endpoints of a module, a method for each method of HTTP.
/* oxlint-disable typescript/unbound-method -- these methods only mark where a stack begins, and are not called */
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
import type { EndpointAnswer } from './endpoint-answer.ts';
import type { RequestOptions } from './request-options.ts';
import type { StackStart } from './test-failure.ts';

/** Sends a request. The stack of an error begins at `stackStart`. */
export type SendRequest = (
  method: string,
  path: string,
  options: RequestOptions,
  stackStart: StackStart,
) => Promise<EndpointAnswer>;

export class EndpointRequests {
  readonly #send: SendRequest;

  constructor(send: SendRequest) {
    this.#send = send;
  }

  get<Json = any>(path: string, options: RequestOptions = {}): Promise<EndpointAnswer<Json>> {
    return this.#send('GET', path, options, this.get);
  }

  post<Json = any>(
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send('POST', path, { ...options, body }, this.post);
  }

  put<Json = any>(
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send('PUT', path, { ...options, body }, this.put);
  }

  patch<Json = any>(
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send('PATCH', path, { ...options, body }, this.patch);
  }

  delete<Json = any>(path: string, options: RequestOptions = {}): Promise<EndpointAnswer<Json>> {
    return this.#send('DELETE', path, options, this.delete);
  }

  /**
   * Sends a request with any method. `path` may have a query string; characters that an address cannot contain are
   * percent-encoded.
   */
  request<Json = any>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<EndpointAnswer<Json>> {
    return this.#send(method, path, options, this.request);
  }
}
