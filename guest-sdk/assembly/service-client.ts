// ServiceClient: the requests of a handler to other services, and their responses.
import { callError } from "./client";
import { Code, INTERNAL, Refusal, TIMED_OUT, UNAVAILABLE } from "./code";
import { fromJson } from "./codec";
import { Done } from "./done";
import { host, routing, wellFormed } from "./host";
import { Header } from "./http-answer";
import { JsonReader } from "./json-reader";
import { Result } from "./result";

/** A response of another service, whatever its status. */
export class ServiceResponse {
  constructor(
    /** The service that was called. */
    public readonly service: string,
    /** 200 to 599. */
    public readonly status: i32,
    private headersAt: usize,
    private headersCount: i32,
    private bodyAt: usize,
    private bodyLength: i32,
  ) {}

  /** Whether the status is below 300. */
  get isOk(): bool {
    return this.status < 300;
  }

  /**
   * Returns the first header with this name, in any case; null when there is none. Where no service answered, the runtime
   * has, with the header `x-svc-answered-by`.
   */
  header(name: string): string | null {
    return host.findPair(this.headersAt, this.headersCount, name.toLowerCase());
  }

  /** Returns all headers in order. Names are in lower case, and a name may occur more than once. */
  headers(): Header[] {
    const all: Header[] = [];
    for (let i = 0; i < this.headersCount; ++i) {
      const pair = this.headersAt + (<usize>i << 4);
      all.push(new Header(host.textAt(pair), host.textAt(pair + 8)));
    }
    return all;
  }

  /** Returns a copy of the body; empty if there is none. */
  bytes(): Uint8Array {
    const bytes = new Uint8Array(this.bodyLength);
    memory.copy(bytes.dataStart, this.bodyAt, this.bodyLength);
    return bytes;
  }

  /** Returns the body as text, in UTF-8. */
  text(): string {
    if (this.bodyLength == 0) return "";
    return wellFormed(String.UTF8.decodeUnsafe(this.bodyAt, this.bodyLength));
  }

  /** Decodes the body as JSON, whatever the status. The result is refused with INTERNAL if it is no JSON of this type. */
  json<T>(): Result<T> {
    const reader = new JsonReader(this.text());
    const value = fromJson<T>(reader);
    if (!reader.failed) return Result.__svc_of<T>(value);
    const message = "the response of service '" + this.service + "' does not decode: " + reader.problem("body");
    return Result.__svc_refused<T>(Refusal.other(INTERNAL, message));
  }
}

/**
 * The result of a typed request: the value of a response whose status is below 300. Any other response is a refusal with its
 * status (`404` is NOT_FOUND) and its message, which a handler can return as it is.
 */
export class ServiceReply<T> extends Result<T> {
  private received: ServiceResponse | null = null;

  static __svc_to<T>(sent: Result<ServiceResponse>): ServiceReply<T> {
    const reply = new ServiceReply<T>();
    const refusal = sent.refusal;
    if (refusal !== null) {
      reply.refused = refusal;
      return reply;
    }
    const response = sent.value;
    reply.received = response;
    if (!response.isOk) reply.refused = refusalOf(response);
    else reply.take(response);
    return reply;
  }

  /** Status of the response; 0 if the request was not sent. */
  get status(): i32 {
    const received = this.received;
    return received !== null ? received.status : 0;
  }

  /** The response. Aborts when the request was not sent: its status is 0 then. */
  get response(): ServiceResponse {
    const received = this.received;
    if (received === null) throw new Error("there is no response, the request was not sent: " + this.message);
    return received;
  }

  private take(response: ServiceResponse): void {
    if (isString<T>()) {
      this.given = changetype<T>(response.text());
    } else if (isReference<T>() && idof<nonnull<T>>() == idof<Uint8Array>()) {
      this.given = changetype<T>(response.bytes());
    } else if (isReference<T>() && idof<nonnull<T>>() == idof<Done>()) {
      this.given = changetype<T>(new Done());
    } else {
      const read = response.json<T>();
      const refusal = read.refusal;
      if (refusal !== null) this.refused = refusal;
      else this.given = read.value;
    }
  }
}

/**
 * Sends requests to another service of the installation: `new ServiceClient("billing")`, or
 * `new ServiceClient("ledger.finance")` for one of another project. Only handlers of endpoints and consumers can.
 */
export class ServiceClient {
  private given: Header[] = [];

  constructor(public readonly service: string) {}

  /** Adds a header to each request of this client. The runtime sets those of the connection and of the trace. */
  header(name: string, value: string): this {
    this.given.push(new Header(name, value));
    return this;
  }

  /** `path`: begins with a slash, percent-encoded, with a query if there is one. */
  get<T>(path: string): ServiceReply<T> {
    return ServiceReply.__svc_to<T>(this.request("GET", path));
  }

  delete<T>(path: string): ServiceReply<T> {
    return ServiceReply.__svc_to<T>(this.request("DELETE", path));
  }

  /** `json`: JSON text of the body, `toJson(order)`. */
  post<T>(path: string, json: string): ServiceReply<T> {
    return this.sendJson<T>("POST", path, json);
  }

  put<T>(path: string, json: string): ServiceReply<T> {
    return this.sendJson<T>("PUT", path, json);
  }

  patch<T>(path: string, json: string): ServiceReply<T> {
    return this.sendJson<T>("PATCH", path, json);
  }

  /** Sends a request with any method. The result is refused only if the request was not sent. */
  request(method: string, path: string, body: Uint8Array | null = null): Result<ServiceResponse> {
    return this.send(
      method,
      path,
      this.given,
      body !== null ? body.dataStart : 0,
      body !== null ? body.length : 0,
    );
  }

  private sendJson<T>(method: string, path: string, json: string): ServiceReply<T> {
    const body = String.UTF8.encode(wellFormed(json));
    const headers = [new Header("content-type", "application/json")].concat(this.given);
    const at = changetype<usize>(body);
    return ServiceReply.__svc_to<T>(this.send(method, path, headers, at, body.byteLength));
  }

  private send(
    method: string,
    path: string,
    headers: Header[],
    bodyAt: usize,
    bodyLength: i32,
  ): Result<ServiceResponse> {
    const service = wellFormed(this.service);
    const methodText = wellFormed(method);
    const pathText = wellFormed(path);
    // A list<tuple<string, string>>: pointer and length of each text.
    const list = new StaticArray<usize>(headers.length << 2);
    const listAt = changetype<usize>(list);
    for (let i = 0; i < headers.length; ++i) {
      host.putText(listAt + (<usize>i << 4), headers[i].name);
      host.putText(listAt + (<usize>i << 4) + 8, headers[i].value);
    }
    const answer = host.answerAt;
    routing.request(
      changetype<usize>(service),
      service.length,
      changetype<usize>(methodText),
      methodText.length,
      changetype<usize>(pathText),
      pathText.length,
      listAt,
      headers.length,
      bodyAt,
      bodyLength,
      answer,
    );
    if (load<u8>(answer) != 0) return Result.__svc_refused<ServiceResponse>(callError(answer + 4));
    return Result.__svc_of<ServiceResponse>(
      new ServiceResponse(
        this.service,
        load<u16>(answer + 4),
        load<usize>(answer + 8),
        load<i32>(answer + 12),
        load<usize>(answer + 16),
        load<i32>(answer + 20),
      ),
    );
  }
}

/** Returns the refusal for a response whose status is 300 or more. */
function refusalOf(response: ServiceResponse): Refusal {
  const answered = "service '" + response.service + "' answered " + response.status.toString();
  const error = errorOf(response);
  const message = error.length > 0 ? answered + ": " + error : answered;
  switch (response.status) {
    case 400:
      return new Refusal(Code.BAD_REQUEST, message);
    case 401:
      return new Refusal(Code.UNAUTHENTICATED, message);
    case 403:
      return new Refusal(Code.FORBIDDEN, message);
    case 404:
      return new Refusal(Code.NOT_FOUND, message);
    case 409:
      return new Refusal(Code.CONFLICT, message);
    case 422:
      return new Refusal(Code.UNPROCESSABLE, message);
    case 429:
      return new Refusal(Code.TOO_MANY_REQUESTS, message);
    case 503:
      return Refusal.other(UNAVAILABLE, message);
    case 504:
      return Refusal.other(TIMED_OUT, message);
    default:
      return Refusal.other(INTERNAL, message);
  }
}

/** Returns the member `error` of a JSON body, as services of the platform write it; "" if there is none. */
function errorOf(response: ServiceResponse): string {
  const reader = new JsonReader(response.text());
  reader.begin();
  let more = reader.beginObject();
  while (more && !reader.failed) {
    if (reader.keyIs("error")) {
      const text = reader.readString();
      return reader.failed ? "" : text;
    }
    reader.skipValue();
    more = !reader.failed && reader.nextKey();
  }
  return "";
}
