// Request and Response: the parts of an HTTP request and response besides a handler's arguments and its reply.
import { host } from "./host";
import { Header, HttpAnswer } from "./http-answer";
import { Principal } from "./principal";
import { decodeLeniently } from "./query-string";

const PRINCIPAL = "x-svc-principal";

export class Request {
  private readPrincipal: Principal | null = null;

  constructor(
    /** Identity of the caller, known from the connection: `internet`, `service <project>/<service>` or `local`. */
    public readonly caller: string,
    /** The query string as it arrived, without the question mark. */
    public readonly query: string,
    private headersAt: usize,
    private headersCount: i32,
  ) {}

  /** The caller by its access token; null when the route has no rule with @bearer. */
  get principal(): Principal | null {
    const known = this.readPrincipal;
    if (known !== null) return known;
    const text = host.findPair(this.headersAt, this.headersCount, PRINCIPAL);
    if (text === null) return null;
    const read = Principal.__svc_of(text);
    this.readPrincipal = read;
    return read;
  }

  /** Returns the first header with this name, in any case; null when there is none. */
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

  /** Returns the first value of a name in the query string, decoded; null when there is none. */
  queryParameter(name: string): string | null {
    const values = this.queryParameters(name);
    return values.length > 0 ? values[0] : null;
  }

  /** Returns every value of a name in the query string, decoded. */
  queryParameters(name: string): string[] {
    const values: string[] = [];
    const pairs = this.query.split("&");
    for (let i = 0; i < pairs.length; ++i) {
      const pair = pairs[i];
      const equals = pair.indexOf("=");
      const key = equals < 0 ? pair : pair.substring(0, equals);
      if (pair.length > 0 && decodeLeniently(key) == name)
        values.push(equals < 0 ? "" : decodeLeniently(pair.substring(equals + 1)));
    }
    return values;
  }
}

/** A value with its own status and headers. */
export class Response<T> {
  private headers: Header[] = [];

  /** `status`: 200 to 599; when left out or 0, the first below 300 in @answers, else 200, or 204 for Done. */
  constructor(
    private value: T,
    private status: i32 = 0,
  ) {}

  /** Adds a header. A `content-type` replaces the one that follows from the value's type. */
  header(name: string, value: string): this {
    this.headers.push(new Header(name, value));
    return this;
  }

  __svc_answer(call: HttpAnswer): void {
    call.answer<T>(this.value);
    call.answerHead(this.status, this.headers);
  }
}
