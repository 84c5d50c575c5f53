// HttpAnswer: the answer of a handler: a refusal, or a status, headers and a body.
import { Refusal } from "./code";
import { toJson } from "./codec";
import { Done } from "./done";

export class Header {
  constructor(
    public name: string,
    public value: string,
  ) {}
}

/** Cases of the variant `body` of the WIT. */
export const BODY_NONE: u8 = 0;
export const BODY_JSON: u8 = 1;
export const BODY_TEXT: u8 = 2;
export const BODY_BYTES: u8 = 3;

export class HttpAnswer {
  refusal: Refusal | null = null;
  status: i32 = 200;
  /** Whether the handler has set a status. */
  private hasStatus: bool = false;
  headers: Header[] = [];
  /** Case of the variant `body`; its content is in `text` (also JSON text) or in `bytes`. */
  bodyCase: u8 = BODY_NONE;
  text: string = "";
  bytes: Uint8Array | null = null;

  get failed(): bool {
    return this.refusal !== null;
  }

  refuse(refusal: Refusal): void {
    this.refusal = refusal;
  }

  answer<T>(value: T): void {
    if (isString<T>()) {
      this.bodyCase = BODY_TEXT;
      this.text = changetype<string>(value);
    } else if (isReference<T>() && !isArray<T>()) {
      if (idof<T>() == idof<Done>()) {
        this.status = 204;
      } else if (idof<T>() == idof<Uint8Array>()) {
        this.bodyCase = BODY_BYTES;
        this.bytes = changetype<Uint8Array>(value);
      } else if (isDefined(changetype<nonnull<T>>(value).__svc_answer)) {
        changetype<nonnull<T>>(value).__svc_answer(this);
      } else {
        this.answerJson<T>(value);
      }
    } else {
      this.answerJson<T>(value);
    }
  }

  /** Sets the status, unless it is 0, and adds headers. */
  answerHead(status: i32, headers: Header[] | null): void {
    if (status != 0) {
      this.status = status;
      this.hasStatus = true;
    }
    if (headers !== null) this.headers = this.headers.concat(headers);
  }

  /** Sets the status of an answer whose handler has set none. */
  answerPlainly(status: i32): void {
    if (!this.hasStatus) this.status = status;
  }

  private answerJson<T>(value: T): void {
    this.answerText(toJson<T>(value));
  }

  /** Answers with JSON text unchanged. */
  answerText(json: string): void {
    this.bodyCase = BODY_JSON;
    this.text = json;
  }
}

/** Returns whether a value of this type is sent as its JSON text. */
export function isJsonAnswer<T>(): bool {
  if (isString<T>()) return false;
  if (!isReference<T>() || isArray<T>()) return true;
  if (idof<T>() == idof<Done>() || idof<T>() == idof<Uint8Array>()) return false;
  return !isDefined(changetype<nonnull<T>>(0).__svc_answer);
}
