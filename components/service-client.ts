// ServiceClient: a handler's requests to another service: `service('billing').get('/invoices/1', Invoice)`.
import type { HostCalls } from '@svc/model/guest';
import type { HeaderList } from '@svc/model/endpoint';
import type { ServiceResponse as Received } from '@svc/model/service-call';
import { type Codec, CodecProblem, codecOf, type Schema, type ValueOf } from './codec.ts';
import { Ok, Refused, type Result } from './result.ts';

export interface ServiceRequestOptions {
  /** The runtime sets those of the connection and of the trace itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes, or text, which is sent in UTF-8. */
  readonly body?: string | Uint8Array;
}

/** A response of another service, whatever its status. Where no service answers, the runtime does (`x-svc-answered-by`). */
export class ServiceResponse {
  /** The service that was called. */
  readonly service: string;
  /** 200 to 599. */
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: HeaderList;
  /** The body; empty if there is none. */
  readonly bytes: Uint8Array;

  constructor(service: string, { status, headers, body }: Received) {
    this.service = service;
    this.status = status;
    this.headers = headers;
    this.bytes = body;
  }

  /** Whether the status is below 300. */
  get isOk(): boolean {
    return this.status < 300;
  }

  /** Returns the first header with this name, in any case. */
  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    return this.headers.find(([known]) => known === wanted)?.[1];
  }

  /** Returns the body as text, in UTF-8. */
  text(): string {
    return Buffer.from(this.bytes).toString();
  }

  /** Decodes the body as JSON. Throws a CodecProblem (a TypeError) if it does not fit the schema. */
  json<Described extends Schema>(schema: Described): ValueOf<Described> {
    try {
      return codecFor(schema).decode(this.text(), 'body') as ValueOf<Described>;
    } catch (error) {
      if (!(error instanceof CodecProblem)) throw error;
      const message = `the response of service '${this.service}' does not decode: ${error.message}`;
      throw new CodecProblem(message);
    }
  }
}

/** A schema of a response's body; undefined: the body does not matter, and the value is undefined. */
type Reply<Described> = Result<Described extends Schema ? ValueOf<Described> : undefined>;

/**
 * Sends requests to another service. A request is made once. The typed methods resolve to the decoded body of a response whose
 * status is below 300, and to a refusal for any other: 404 is `NOT_FOUND`, and the message contains that of the service. A
 * method rejects with a CodecProblem (a TypeError) if the body does not fit the schema, and with an SvcError if nothing
 * was sent.
 */
export class ServiceClient {
  /** The service that is called. */
  readonly service: string;
  readonly #calls: Pick<HostCalls, 'request'>;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(
    service: string,
    calls: Pick<HostCalls, 'request'>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.service = service;
    this.#calls = calls;
    this.#headers = headers;
  }

  /** Returns a client whose requests have these headers, beside those of this client. */
  withHeaders(headers: Readonly<Record<string, string>>): ServiceClient {
    return new ServiceClient(this.service, this.#calls, { ...this.#headers, ...headers });
  }

  /** `path`: begins with a slash, percent-encoded, with a query if there is one. `reply`: schema of the body. */
  get<Described extends Schema | undefined = undefined>(
    path: string,
    reply?: Described,
  ): Promise<Reply<Described>> {
    return this.#typed('GET', path, undefined, reply);
  }

  delete<Described extends Schema | undefined = undefined>(
    path: string,
    reply?: Described,
  ): Promise<Reply<Described>> {
    return this.#typed('DELETE', path, undefined, reply);
  }

  /** `body`: a value with a JSON form. */
  post<Described extends Schema | undefined = undefined>(
    path: string,
    body: unknown,
    reply?: Described,
  ): Promise<Reply<Described>> {
    return this.#typed('POST', path, body, reply);
  }

  put<Described extends Schema | undefined = undefined>(
    path: string,
    body: unknown,
    reply?: Described,
  ): Promise<Reply<Described>> {
    return this.#typed('PUT', path, body, reply);
  }

  patch<Described extends Schema | undefined = undefined>(
    path: string,
    body: unknown,
    reply?: Described,
  ): Promise<Reply<Described>> {
    return this.#typed('PATCH', path, body, reply);
  }

  /** Sends a request with any method, and resolves to its response, whatever the status. */
  async request(
    method: string,
    path: string,
    { headers, body = new Uint8Array() }: ServiceRequestOptions = {},
  ): Promise<ServiceResponse> {
    const response = await this.#calls.request({
      service: this.service,
      method,
      path,
      headers: Object.entries({ ...this.#headers, ...headers }),
      body: typeof body === 'string' ? Buffer.from(body) : body,
    });
    return new ServiceResponse(this.service, response);
  }

  async #typed<Described extends Schema | undefined>(
    method: string,
    path: string,
    body: unknown,
    reply: Described | undefined,
  ): Promise<Reply<Described>> {
    const options =
      body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await this.request(method, path, options);
    if (!response.isOk) return refusedBy(response);
    const value: unknown = reply === undefined ? undefined : response.json(reply);
    return new Ok(value) as Reply<Described>;
  }
}

const codecs = new WeakMap<Schema, Codec>();

function codecFor(schema: Schema): Codec {
  let codec = codecs.get(schema);
  if (codec === undefined) {
    codec = codecOf(schema, 'the schema of a response');
    codecs.set(schema, codec);
  }
  return codec;
}

const CODES: Readonly<Record<number, Refused['code']>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'UNPROCESSABLE',
  429: 'TOO_MANY_REQUESTS',
};
/** Codes of the runtime, with `OTHER`, as the SDK of modules has them. */
const OTHER_CODES: Readonly<Record<number, string>> = { 503: 'UNAVAILABLE', 504: 'TIMED_OUT' };

function refusedBy(response: ServiceResponse): Refused {
  const { service, status } = response;
  const error = errorOf(response);
  const answered = `service '${service}' answered ${status}`;
  const message = error === undefined ? answered : `${answered}: ${error}`;
  const code = CODES[status];
  if (code !== undefined) return new Refused(message, code);
  return new Refused(message, 'OTHER', { otherCode: OTHER_CODES[status] ?? 'INTERNAL' });
}

/** Returns the member `error` of a JSON body, as services of the platform write it. */
function errorOf(response: ServiceResponse): string | undefined {
  try {
    const { error } = JSON.parse(response.text()) as { readonly error?: unknown };
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}
