// Result<T>: a value, or a refusal in its place.
import { Code, Refusal } from "./code";
import { toJson } from "./codec";
import { Header, HttpAnswer } from "./http-answer";

export class Result<T> {
  protected refused: Refusal | null = null;
  protected given!: T;
  private ownStatus: i32 = 0;
  private headers: Header[] | null = null;

  static __svc_of<T>(value: T): Result<T> {
    const result = new Result<T>();
    result.given = value;
    return result;
  }

  static __svc_refused<T>(refusal: Refusal): Result<T> {
    const result = new Result<T>();
    result.refused = refusal;
    return result;
  }

  /** The refusal; null when there is a value. */
  get refusal(): Refusal | null {
    this.look();
    return this.refused;
  }

  /** Hook that runs before each use of the value or the refusal; `Reply` decodes its text there. */
  protected look(): void {}

  get isOk(): bool {
    return this.refusal === null;
  }

  /** The value. Aborts when there is none: check `isOk` first. */
  get value(): T {
    const refusal = this.refusal;
    if (refusal !== null) throw new Error("the result has no value, it was refused: " + refusal.message);
    return this.given;
  }

  /** The code of the refusal. Aborts when there is a value. */
  get code(): Code {
    return this.mustBeRefused().code;
  }

  get message(): string {
    return this.mustBeRefused().message;
  }

  private mustBeRefused(): Refusal {
    const refusal = this.refusal;
    if (refusal === null) throw new Error("the result was not refused: ask isOk first");
    return refusal;
  }

  /** Returns the same refusal, for a handler that replies with another type. Aborts when there is a value. */
  refusedAs<U>(): Result<U> {
    return Result.__svc_refused<U>(this.mustBeRefused());
  }

  /** Sets the status of the response, 200 to 599, when a route returns this result. A refusal has its own status. */
  withStatus(status: i32): this {
    this.ownStatus = status;
    return this;
  }

  /** Adds a header to the response of the route that returns this result. */
  header(name: string, value: string): this {
    const headers = this.headers;
    if (headers === null) this.headers = [new Header(name, value)];
    else headers.push(new Header(name, value));
    return this;
  }

  __svc_reply(): Result<string> {
    const refusal = this.refusal;
    if (refusal !== null) return Result.__svc_refused<string>(refusal);
    return Result.__svc_of<string>(toJson<T>(this.given));
  }

  __svc_answer(call: HttpAnswer): void {
    const refusal = this.refusal;
    if (refusal !== null) {
      call.refuse(refusal);
      return;
    }
    call.answer<T>(this.given);
    this.answerHead(call);
  }

  protected answerHead(call: HttpAnswer): void {
    call.answerHead(this.ownStatus, this.headers);
  }
}

export function ok<T>(value: T): Result<T> {
  return Result.__svc_of<T>(value);
}

/** Creates a refusal. `details`: JSON text for programs. `otherCode`: the module's own code, with `Code.OTHER`. */
export function refuse<T>(
  message: string,
  code: Code = Code.BAD_REQUEST,
  details: string | null = null,
  otherCode: string = "",
): Result<T> {
  const refusal = new Refusal(code, message);
  refusal.details = details;
  refusal.otherCode = otherCode;
  return Result.__svc_refused<T>(refusal);
}
