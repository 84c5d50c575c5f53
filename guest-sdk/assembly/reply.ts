// Reply<T>: the result of a call, which is decoded when it is used. A handler that only passes it on sends the
// received text: decoding and encoding it again would be half of such a handler's cost.
import { INTERNAL, Refusal } from "./code";
import { fromJson } from "./codec";
import { HttpAnswer, isJsonAnswer } from "./http-answer";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";
import { Result } from "./result";

export class Reply<T> extends Result<T> {
  /** JSON text of the reply; null once it was decoded. */
  private json: string | null;

  /** `name`: the wire name of the handler that replied. */
  constructor(
    json: string,
    private name: string,
  ) {
    super();
    this.json = json;
  }

  protected look(): void {
    const json = this.json;
    if (json === null) return;
    this.json = null;
    const reader = new JsonReader(json, STORED_DEPTH_MAX);
    const value = fromJson<T>(reader);
    if (!reader.failed) this.given = value;
    else
      this.refused = Refusal.other(
        INTERNAL,
        "the reply of '" + this.name + "' does not decode: " + reader.problem("reply"),
      );
  }

  __svc_answer(call: HttpAnswer): void {
    const json = this.json;
    if (!isJsonAnswer<T>() || json === null) {
      super.__svc_answer(call);
      return;
    }
    call.answerText(json);
    this.answerHead(call);
  }
}
