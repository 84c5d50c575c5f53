// HttpCall: one request on its way to its handler.
// EndpointComponent: what the compiler makes of the user's endpoint class.
import { Code, Refusal } from "./code";
import { fromJson } from "./codec";
import { Context } from "./context";
import { host } from "./host";
import { Request } from "./http";
import { BODY_BYTES, BODY_JSON, BODY_NONE, BODY_TEXT, HttpAnswer } from "./http-answer";
import { JsonReader, rangeWords } from "./json-reader";

export interface EndpointComponent {
  /** Index in the descriptor of the first route; the compiler puts it in. */
  __svc_firstRoute(): i32;
  __svc_routeCount(): i32;
  __svc_handle(route: i32, call: HttpCall): void;
}

export class HttpCall extends HttpAnswer {
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

  /** The parameter at `index` of the template. */
  parameter<T>(index: i32, name: string): T {
    const text = host.textAt(this.parametersAt + (<usize>index << 3));
    if (isString<T>()) {
      return changetype<T>(text);
    } else if (isBoolean<T>()) {
      if (text != "true" && text != "false")
        this.badRequest("path parameter '" + name + "': must be true or false");
      return text == "true";
    } else if (isInteger<T>() && isDefined(changetype<T>(0).__svc_ofName)) {
      const reader = new JsonReader("");
      const value = (<T>0).__svc_ofName(text, reader);
      if (reader.failed) this.badRequest("path parameter '" + name + "': " + reader.message);
      return <T>value;
    } else {
      // 64-bit integers stand in a path as they are, without the quotes that JSON needs.
      const big = isInteger<T>() && sizeof<T>() == 8;
      const reader = new JsonReader(big ? "\"" + text + "\"" : text);
      const value = fromJson<T>(reader);
      if (reader.failed || hasSpace(text))
        this.badRequest("path parameter '" + name + "': must be " + parameterWords<T>());
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

/** JSON text may have space around it, a path parameter may not: a number ends with a digit. */
function hasSpace(text: string): bool {
  return text.charCodeAt(0) <= 0x20 || text.charCodeAt(text.length - 1) <= 0x20;
}

function parameterWords<T>(): string {
  if (isFloat<T>()) return "a number";
  if (sizeof<T>() == 8) return isSigned<T>() ? "a 64-bit integer" : "a 64-bit integer without a sign";
  return rangeWords<T>();
}
