// Done: an answer without content.
import { JsonReader } from "./json-reader";
import { JsonWriter } from "./json-writer";

/** The reply of a handler that has nothing to return: 204. */
export class Done {
  __svc_encode(writer: JsonWriter): void {
    writer.raw("null");
  }
  __svc_decode(reader: JsonReader): void {
    reader.readNull();
  }
}
