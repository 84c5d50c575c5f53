// ViewClient: a handler's queries of a view. The compiler writes a class `<View>Client` with a method for each query;
// ViewClient is their common part.
import { INTERNAL, Refusal } from "./code";
import { clone } from "./clone";
import { callError } from "./client";
import { blank, fromJson, read, write } from "./codec";
import { host, journal, wellFormed } from "./host";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";
import { JsonWriter } from "./json-writer";
import { Result } from "./result";

/** Rows that a query has found; in JSON `{"rows":[…],"cursor":"…","asOf":null}`. */
export class Page<R> {
  constructor(
    /** The rows, in the order of the query. */
    public rows: R[],
    /** Pass it to the same query to get the next page; null: this is the last one. */
    public cursor: string | null,
    /**
     * Set while a new definition of the view is being built, and while the view has stopped: the rows have no events after
     * this time. Null: the rows are current.
     */
    public asOf: Date | null,
  ) {}

  __svc_encode(to: JsonWriter): void {
    to.raw('{"rows":');
    write<R[]>(to, this.rows);
    to.raw(',"cursor":');
    write<string | null>(to, this.cursor);
    to.raw(',"asOf":');
    write<Date | null>(to, this.asOf);
    to.raw("}");
  }

  __svc_decode(reader: JsonReader): void {
    let seen = 0;
    let more = reader.beginObject();
    while (more) {
      const bit = reader.keyIs("rows") ? 1 : reader.keyIs("cursor") ? 2 : reader.keyIs("asOf") ? 4 : 0;
      const name = MEMBERS[bit >> 1];
      if ((seen & bit) != 0) return reader.twice(name);
      seen |= bit;
      if (bit == 1) this.rows = read<R[]>(reader);
      else if (bit == 2) this.cursor = read<string | null>(reader);
      else if (bit == 4) this.asOf = read<Date | null>(reader);
      else reader.skipValue();
      if (reader.failed) {
        if (bit != 0) reader.within(name);
        return;
      }
      more = reader.nextKey();
    }
    if (reader.failed) return;
    if ((seen & 1) == 0) reader.missing("rows");
  }

  __svc_clone(): Page<R> {
    const copy = blank<Page<R>>();
    copy.rows = clone<R[]>(this.rows);
    copy.cursor = this.cursor;
    copy.asOf = clone<Date | null>(this.asOf);
    return copy;
  }
}

/** Members of a Page. A decoder notes the member at index i in bit i. */
const MEMBERS: StaticArray<string> = ["rows", "cursor", "asOf"];

/** The row of a key. */
export class FoundRow<R> {
  constructor(
    /** Null: there is no row of this key. */
    public row: R | null,
    /** As in a Page. */
    public asOf: Date | null,
  ) {}
}

/** The number of rows that a query finds. */
export class RowCount {
  constructor(
    /** The number of rows, or 10,000 if there are more. */
    public count: i32,
    public hasMore: bool,
    /** As in a Page. */
    public asOf: Date | null,
  ) {}
}

export class ViewClient {
  constructor(private view: string) {}

  /** `input`: JSON text of the parameters. `cursor`: that of the page before; null: the first page. */
  protected __svc_find<R>(query: string, input: string, limit: u32, cursor: string | null): Result<Page<R>> {
    const answer = this.ask(query, input, limit, cursor);
    if (load<u8>(answer) != 0) return Result.__svc_refused<Page<R>>(callError(answer + 8));
    const at = load<usize>(answer + 8);
    const count = load<i32>(answer + 12);
    const next = load<u8>(answer + 16) != 0 ? host.textAt(answer + 20) : null;
    const asOf = asOfAt(answer);
    const rows = new Array<R>();
    for (let i = 0; i < count; ++i) {
      const reader = new JsonReader(host.textAt(at + ((<usize>i) << 3)), STORED_DEPTH_MAX);
      const row = fromJson<R>(reader);
      if (reader.failed) {
        const message = "a row of view '" + this.view + "' does not decode: " + reader.problem("row");
        return Result.__svc_refused<Page<R>>(Refusal.other(INTERNAL, message));
      }
      rows.push(row);
    }
    return Result.__svc_of<Page<R>>(new Page<R>(rows, next, asOf));
  }

  protected __svc_get<R>(key: string): Result<FoundRow<R>> {
    const input = new JsonWriter();
    input.raw('{"key":');
    input.string(key);
    input.raw("}");
    const found = this.__svc_find<R>("by key", input.toString(), 1, null);
    if (!found.isOk) return found.refusedAs<FoundRow<R>>();
    const rows = found.value.rows;
    const row: R | null = rows.length > 0 ? rows[0] : null;
    return Result.__svc_of<FoundRow<R>>(new FoundRow<R>(row, found.value.asOf));
  }

  protected __svc_count(query: string, input: string): Result<RowCount> {
    const answer = this.ask("count " + query, input, 1, null);
    if (load<u8>(answer) != 0) return Result.__svc_refused<RowCount>(callError(answer + 8));
    const asOf = asOfAt(answer);
    const reader = new JsonReader(host.textAt(load<usize>(answer + 8)), STORED_DEPTH_MAX);
    let count = 0;
    let hasMore = false;
    let more = reader.beginObject();
    while (more) {
      if (reader.keyIs("count")) count = read<i32>(reader);
      else if (reader.keyIs("hasMore")) hasMore = read<bool>(reader);
      else reader.skipValue();
      more = !reader.failed && reader.nextKey();
    }
    return Result.__svc_of<RowCount>(new RowCount(count, hasMore, asOf));
  }

  /** Makes the query, and returns the address of its result. */
  private ask(query: string, input: string, limit: u32, cursor: string | null): usize {
    const from = cursor !== null ? wellFormed(cursor) : "";
    const answer = host.answerAt;
    journal.find(
      changetype<usize>(this.view),
      this.view.length,
      changetype<usize>(query),
      query.length,
      changetype<usize>(input),
      input.length,
      limit,
      cursor !== null ? 1 : 0,
      changetype<usize>(from),
      from.length,
      answer,
    );
    return answer;
  }
}

/** The time in a result of `find` up to which its rows have events. */
function asOfAt(answer: usize): Date | null {
  return load<u8>(answer + 32) != 0 ? new Date(load<i64>(answer + 40)) : null;
}
