// FakeService: stands in for another service in tests: a function that answers the requests of handlers and consumers. The kit
// checks each request as the runtime does; a service without a function cannot be found.
/* oxlint-disable typescript/no-explicit-any -- a test that is wrong about JSON finds out when it runs */
import {
  CALL_SETTINGS_DEFAULT,
  type CalledServices,
  type Metadata,
  type ServiceRequest,
  type ServiceResponse,
  outgoingRequest,
  unfoundService,
} from '@svc/host/tools';
import { jsonText } from './json-value.ts';

/** A request to another service. */
export interface FakeServiceRequest<Body = any> {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** Names are in lower case; a repeated name has its last value. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON value of the body, or its text if it is no JSON; undefined if there is no body. */
  readonly body: Body;
}

/**
 * Returns the response or a promise of it: a JSON value (200), undefined (204), or a response that `answered` creates.
 */
export type FakeService = (request: FakeServiceRequest) => unknown;

/** A response of a service with a status of its own, created by `answered`. */
export class ServiceAnswer {
  /** @internal */
  readonly response: ServiceResponse;

  constructor(response: ServiceResponse) {
    this.response = response;
  }
}

/** Creates a response. `body`: a JSON value; absent: there is none. */
export function answered(
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): ServiceAnswer {
  const given = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const json = body === undefined ? '' : jsonText(body);
  const type = json === '' ? [] : [['content-type', 'application/json'] as const];
  return new ServiceAnswer({ status, headers: [...type, ...given], body: Buffer.from(json) });
}

/** The services that a module under test calls. */
export class FakeServices implements CalledServices {
  readonly perHandlerMax = CALL_SETTINGS_DEFAULT.perHandlerMax;
  readonly #fakes: ReadonlyMap<string, FakeService>;
  readonly #broken: (error: unknown) => void;

  /** `fakes`: by the name with which the module calls. `broken`: receives an error that a function throws. */
  constructor(fakes: ReadonlyMap<string, FakeService>, broken: (error: unknown) => void) {
    this.#fakes = fakes;
    this.#broken = broken;
  }

  async request(given: ServiceRequest, metadata: Metadata): Promise<ServiceResponse> {
    const { called, method, path, fields, body } = outgoingRequest(
      given,
      metadata,
      CALL_SETTINGS_DEFAULT,
    );
    const fake = this.#fakes.get(given.service);
    if (fake === undefined) return unfoundService(called);
    const headers: Record<string, string> = {};
    for (let index = 0; index < fields.count; index++)
      headers[fields.name(index).toLowerCase()] = fields.value(index);
    try {
      return responseOf(await fake({ method, path, headers, body: valueOf(body) }));
    } catch (error) {
      // The function is the test's, and so is its error.
      this.#broken(error);
      throw error;
    }
  }
}

function responseOf(answer: unknown): ServiceResponse {
  if (answer instanceof ServiceAnswer) return answer.response;
  return answered(answer === undefined ? 204 : 200, answer).response;
}

function valueOf(body: Uint8Array): unknown {
  if (body.length === 0) return undefined;
  const text = Buffer.from(body).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
