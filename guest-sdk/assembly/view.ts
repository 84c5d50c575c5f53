// View: the base class of the author's views, and the fold of a batch of events into rows. The compiler adds the methods
// that dispatch events to the methods of their sources (`__svc_keys`, `__svc_fold`) to the author's class.
//
// Invariant: whatever the batches, the same rows come out. A row is decoded and encoded once a batch, each row gets an
// event of its own, and what a fold puts is copied, so that rows share no objects.
import { clone } from "./clone";
import { fromJson, toJson } from "./codec";
import { unseed } from "./environment";
import { host } from "./host";
import { JsonReader, STORED_DEPTH_MAX } from "./json-reader";
import { EventContext, SourceEvent } from "./source-event";

/** Size of `row` in the WIT: key 0, json 8 (its text 12). */
const ROW_BYTES: usize = 20;
/** Size of `entity-event`: component 0, id 8, seq 16, time-ms 24, manifest 32, json 40. */
const EVENT_BYTES: usize = 48;
/** Size of `keyed-event`: event 0, rows 48. */
const KEYED_EVENT_BYTES: usize = 56;

const PUT: i32 = 0;
const REMOVE: i32 = 1;
const KEEP: i32 = 2;

/** Change of a row by an event. */
export class RowChange<R> {
  __svc_kind: i32;
  __svc_row: R | null;

  constructor(kind: i32, row: R | null) {
    this.__svc_kind = kind;
    this.__svc_row = row;
  }
}

/** Reads an `entity-event`. `key`: the row that it is folded into; empty if there is none. */
function eventAt(at: usize, key: string): SourceEvent {
  const context = new EventContext(host.textAt(at + 8), load<u64>(at + 16), load<u64>(at + 24), key);
  return new SourceEvent(host.textAt(at), context, host.textAt(at + 32), host.textAt(at + 40));
}

/** The part of a view's class that does not depend on the type of its rows. */
export abstract class ViewComponent {
  abstract __svc_view(): string;
  /** Returns the keys of the rows that an event concerns. */
  abstract __svc_keys(event: SourceEvent): string[];
  /** Folds a list<keyed-event> into a list<row>, and writes a result<list<row>, string>. */
  abstract __svc_foldAll(rowsAt: usize, rowCount: i32, eventsAt: usize, eventCount: i32, answer: usize): void;
}

/**
 * Rows that are folded from the events of entities. The object itself has no state, and what its methods return depends
 * on their parameters alone.
 */
export abstract class View<R> extends ViewComponent {
  /** Stores the row under its key, in place of the row that is there. It may be the row that was given, changed. */
  protected put(row: R): RowChange<R> {
    return new RowChange<R>(PUT, row);
  }

  /** Removes the row, if there is one. */
  protected remove(): RowChange<R> {
    return new RowChange<R>(REMOVE, null);
  }

  /** Leaves the row as it is. */
  protected keep(): RowChange<R> {
    return new RowChange<R>(KEEP, null);
  }

  abstract __svc_fold(row: R | null, event: SourceEvent): RowChange<R>;

  __svc_foldAll(rowsAt: usize, rowCount: i32, eventsAt: usize, eventCount: i32, answer: usize): void {
    const rows = new Array<R | null>(rowCount);
    for (let i = 0; i < rowCount; ++i) {
      const at = rowsAt + <usize>i * ROW_BYTES;
      if (load<u8>(at + 8) == 0) continue;
      const reader = new JsonReader(host.textAt(at + 12), STORED_DEPTH_MAX);
      const row = fromJson<R>(reader);
      if (reader.failed) return putProblem(answer, "row '" + host.textAt(at) + "': " + reader.problem("row"));
      rows[i] = row;
    }
    for (let i = 0; i < eventCount; ++i) {
      const at = eventsAt + <usize>i * KEYED_EVENT_BYTES;
      const indices = load<usize>(at + EVENT_BYTES);
      const count = load<i32>(at + EVENT_BYTES + 4);
      for (let k = 0; k < count; ++k) {
        const index = load<i32>(indices + ((<usize>k) << 2));
        const event = eventAt(at, host.textAt(rowsAt + <usize>index * ROW_BYTES));
        unseed();
        const change = this.__svc_fold(rows[index], event);
        if (event.failed) return putProblem(answer, event.problem);
        if (change.__svc_kind == PUT) rows[index] = clone<R>(change.__svc_row!);
        else if (change.__svc_kind == REMOVE) rows[index] = null;
      }
    }
    this.putChanged(rows, rowsAt, answer);
  }

  /** Writes the rows whose JSON text is another than that in the list at `rowsAt`. */
  private putChanged(rows: Array<R | null>, rowsAt: usize, answer: usize): void {
    const list = __new(<usize>max(1, rows.length) * ROW_BYTES, idof<ArrayBuffer>());
    let count: usize = 0;
    for (let i = 0; i < rows.length; ++i) {
      const at = rowsAt + <usize>i * ROW_BYTES;
      const row = rows[i];
      const wasThere = load<u8>(at + 8) != 0;
      if (row === null && !wasThere) continue;
      const json = row === null ? "" : toJson<R>(row);
      if (row !== null && wasThere && json == host.textAt(at + 12)) continue;
      const changed = list + count * ROW_BYTES;
      host.putString(changed, host.textAt(at));
      store<u8>(changed + 8, row === null ? 0 : 1);
      host.putString(changed + 12, json);
      ++count;
    }
    store<u8>(answer, 0);
    store<usize>(answer + 4, list);
    store<usize>(answer + 8, count);
  }
}

/** Writes a result<list<list<string>>, string>: the keys of each event of a list<entity-event>. */
export function putKeys(view: ViewComponent, eventsAt: usize, eventCount: i32, answer: usize): void {
  const lists = __new((<usize>max(1, eventCount)) << 3, idof<ArrayBuffer>());
  for (let i = 0; i < eventCount; ++i) {
    const event = eventAt(eventsAt + <usize>i * EVENT_BYTES, "");
    unseed();
    const keys = view.__svc_keys(event);
    if (event.failed) return putProblem(answer, event.problem);
    const list = __new((<usize>max(1, keys.length)) << 3, idof<ArrayBuffer>());
    for (let k = 0; k < keys.length; ++k) host.putText(list + ((<usize>k) << 3), keys[k]);
    store<usize>(lists + ((<usize>i) << 3), list);
    store<usize>(lists + ((<usize>i) << 3) + 4, keys.length);
  }
  store<u8>(answer, 0);
  store<usize>(answer + 4, lists);
  store<usize>(answer + 8, eventCount);
}

function putProblem(answer: usize, problem: string): void {
  store<u8>(answer, 1);
  host.putText(answer + 4, problem);
}
