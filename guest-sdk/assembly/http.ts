// Request and Response: what an endpoint's handler sees and answers beyond its values.
import { host } from "./host";
import { Header, HttpAnswer } from "./http-answer";
import { decodeLeniently } from "./query-string";

export class Request {
  constructor(
    /** `internet`, `service <project>/<service>` or `local`: read from the connection. */
    public readonly caller: string,
    /** The query string as it arrived, without the question mark. */
    public readonly query: string,
    private headersAt: usize,
    private headersCount: i32,
  ) {}

  /** The first header of this name, in whatever case; null when there is none. */
  header(name: string): string | null {
    return host.findPair(this.headersAt, this.headersCount, name.toLowerCase());
  }

  /** All headers in their order; names are in lower case, and one may come more than once. */
  headers(): Header[] {
    const all: Header[] = [];
    for (let i = 0; i < this.headersCount; ++i) {
      const pair = this.headersAt + (<usize>i << 4);
      all.push(new Header(host.textAt(pair), host.textAt(pair + 8)));
    }
    return all;
  }

  /** The first value of a name in the query string, decoded; null when it is not there. */
  queryParameter(name: string): string | null {
    const values = this.queryParameters(name);
    return values.length > 0 ? values[0] : null;
  }

  /** Every value of a name in the query string, decoded. */
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

/** A value with a status and headers of its own. */
export class Response<T> {
  private headers: Header[] = [];

  /** `status`: 200 to 599; without one 200, or 204 for Done. */
  constructor(
    private value: T,
    private status: i32 = 0,
  ) {}

  /** One more header. A `content-type` here goes before the one of the value's type. */
  header(name: string, value: string): this {
    this.headers.push(new Header(name, value));
    return this;
  }

  __svc_answer(call: HttpAnswer): void {
    call.answer<T>(this.value);
    call.answerHead(this.status, this.headers);
  }
}
