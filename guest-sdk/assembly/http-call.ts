// HttpCall: a request with its arguments, for the dispatch to its handler. EndpointComponent: the base that the
// compiler gives to the author's endpoint class.
import { Code, Refusal } from "./code";
import { fromJson, toJson } from "./codec";
import { Context } from "./context";
import { host } from "./host";
import { Request } from "./http";
import { BODY_BYTES, BODY_JSON, BODY_NONE, BODY_TEXT, HttpAnswer } from "./http-answer";
import { shortened } from "./json-cursor";
import { JsonReader, rangeWords } from "./json-reader";
import { QueryString } from "./query-string";

const BAD_ENCODING = "a percent-encoding that is malformed or not UTF-8";

export interface EndpointComponent {
  /** Returns the index of the endpoint's first route in the descriptor; the compiler inserts it. */
  __svc_firstRoute(): i32;
  __svc_routeCount(): i32;
  __svc_handle(route: i32, call: HttpCall): void;
}

export class HttpCall extends HttpAnswer {
  private readQuery: QueryString | null = null;

  constructor(
    private parametersAt: usize,
    public request: Request,
    public context: Context,
    private givenCase: u8,
    private givenAt: usize,
    private givenLength: i32,
  ) {
    super();
  }

  private badRequest(message: string): void {
    if (this.refusal === null) this.refusal = new Refusal(Code.BAD_REQUEST, message);
  }

  /** Reads a path parameter. `index`: its position among the parameters of the path template. */
  parameter<T>(index: i32, name: string): T {
    const text = host.textAt(this.parametersAt + (<usize>index << 3));
    return this.scalar<T>(text, "path parameter '" + name + "'", false);
  }

  /** Reads a query parameter: a scalar or a list of scalars, nullable or not. */
  query<T>(name: string): T {
    if (isReference<T>()) {
      if (isNullable<T>()) {
        if (!this.hasQuery(name)) return changetype<T>(0);
      }
      return changetype<T>(this.queryReference<nonnull<T>>(name));
    } else {
      return this.queryScalar<T>(name);
    }
  }

  hasQuery(name: string): bool {
    return this.queryString().find(name) >= 0;
  }

  /** Reads an argument from the query string or the body, by its type, as the compiler's `isQueryType` does. */
  argument<T>(name: string): T {
    if (isString<T>() || isInteger<T>() || isFloat<T>()) {
      return this.query<T>(name);
    } else if (isArray<T>()) {
      return changetype<T>(this.listArgument<T, valueof<nonnull<T>>>(name));
    } else if (idof<nonnull<T>>() == idof<Date>() || isDefined(changetype<nonnull<T>>(0).__svc_isText)) {
      return this.query<T>(name);
    } else {
      return this.body<T>();
    }
  }

  private listArgument<T, Item>(name: string): T {
    if (isInteger<Item>() || isFloat<Item>()) {
      return this.query<T>(name);
    } else if (isNullable<Item>()) {
      return this.body<T>();
    } else if (isString<Item>()) {
      return this.query<T>(name);
    } else if (!isArray<Item>() && (idof<Item>() == idof<Date>() || isDefined(changetype<Item>(0).__svc_isText))) {
      return this.query<T>(name);
    } else {
      return this.body<T>();
    }
  }

  private queryString(): QueryString {
    const known = this.readQuery;
    if (known !== null) return known;
    const read = new QueryString(this.request.query);
    this.readQuery = read;
    if (read.isMalformed) this.badRequest("query: a name has " + BAD_ENCODING);
    return read;
  }

  private queryReference<T>(name: string): T {
    if (isArray<T>()) {
      const query = this.queryString();
      const list = instantiate<T>();
      let at = query.find(name);
      for (let index = 0; at >= 0 && !this.failed; ++index) {
        const path = "query." + name + "[" + index.toString() + "]";
        list.push(this.queryText<valueof<T>>(query.value(at), path));
        at = query.find(name, at + 1);
      }
      return list;
    } else {
      return this.queryScalar<T>(name);
    }
  }

  private queryScalar<T>(name: string): T {
    const query = this.queryString();
    const path = "query." + name;
    const at = query.find(name);
    if (at < 0) this.badRequest(path + ": is missing");
    else if (query.find(name, at + 1) >= 0) this.badRequest(path + ": is given twice");
    return this.queryText<T>(at < 0 ? "" : query.value(at), path);
  }

  private queryText<T>(text: string | null, path: string): T {
    if (text !== null) return this.scalar<T>(text, path, true);
    this.badRequest(path + ": has " + BAD_ENCODING);
    return this.scalar<T>("", path, true);
  }

  /** Parses a scalar. `showsText`: whether a message about a bool or a number contains the text; others always do. */
  private scalar<T>(text: string, path: string, showsText: bool): T {
    if (isString<T>()) {
      return changetype<T>(text);
    } else if (isBoolean<T>()) {
      if (text != "true" && text != "false")
        this.badRequest(path + ": must be true or false" + found(text, showsText));
      return text == "true";
    } else if (isInteger<T>() && isDefined(changetype<T>(0).__svc_ofName)) {
      const reader = new JsonReader("");
      const value = (<T>0).__svc_ofName(text, reader);
      if (reader.failed) this.badRequest(path + ": " + reader.message);
      return <T>value;
    } else if (isReference<T>()) {
      // A text with a grammar of its own: a date, a decimal or a duration.
      const reader = new JsonReader(toJson<string>(text));
      const value = fromJson<T>(reader);
      if (reader.failed) this.badRequest(path + ": " + reader.message);
      return value;
    } else {
      // Path and query contain 64-bit integers without the quotes that JSON needs.
      const big = isInteger<T>() && sizeof<T>() == 8;
      const reader = new JsonReader(big ? "\"" + text + "\"" : text);
      const value = fromJson<T>(reader);
      if (reader.failed || hasSpace(text))
        this.badRequest(path + ": must be " + parameterWords<T>() + found(text, showsText));
      return value;
    }
  }

  body<T>(): T {
    if (isReference<T>() && isNullable<T>()) {
      if (this.givenCase == BODY_NONE) return changetype<T>(0);
    }
    if (isString<T>()) {
      if (this.givenCase == BODY_TEXT || this.givenCase == BODY_JSON)
        return changetype<T>(host.text(this.givenAt, this.givenLength));
      if (this.givenCase != BODY_NONE) this.badRequest("body: must be text");
      return changetype<T>("");
    } else if (isReference<T>() && idof<T>() == idof<Uint8Array>()) {
      const bytes = new Uint8Array(this.givenCase == BODY_BYTES ? this.givenLength : 0);
      if (this.givenCase == BODY_BYTES) memory.copy(bytes.dataStart, this.givenAt, this.givenLength);
      else if (this.givenCase != BODY_NONE) this.badRequest("body: must be bytes");
      return changetype<T>(bytes);
    } else {
      const reader = new JsonReader(
        this.givenCase == BODY_JSON ? host.text(this.givenAt, this.givenLength) : "",
      );
      if (this.givenCase == BODY_NONE) reader.fail("is missing");
      else if (this.givenCase != BODY_JSON) reader.fail("must be JSON");
      const value = fromJson<T>(reader);
      if (reader.failed) this.badRequest(reader.problem("body"));
      return value;
    }
  }
}

/** Returns whether the text begins or ends with white space, which JSON allows, but a path or a query does not. */
function hasSpace(text: string): bool {
  return text.charCodeAt(0) <= 0x20 || text.charCodeAt(text.length - 1) <= 0x20;
}

function found(text: string, isShown: bool): string {
  return isShown ? ", found \"" + shortened(text) + "\"" : "";
}

function parameterWords<T>(): string {
  if (isFloat<T>()) return "a number";
  if (sizeof<T>() == 8) return isSigned<T>() ? "a 64-bit integer" : "a 64-bit integer without a sign";
  return rangeWords<T>();
}
