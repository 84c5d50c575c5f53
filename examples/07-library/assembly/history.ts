// What has happened to an entity, page by page, as it is stored.
import { RecordedEvent, Result, ok } from "@svc/guest-sdk";
import { PAGE_MAX } from "./page";

@data
export class HistoryEntry<E> {
  constructor(
    public seq: u64,
    public at: Date,
    public event: E,
  ) {}
}

@data
export class History<E> {
  entries: HistoryEntry<E>[] = [];
  /** The value of `after` for the next page; 0 when this one is the last. */
  next: u64 = 0;
}

/** How many events to ask for: one more than the page has, to know whether there is another page. */
export function eventsAskedFor(limit: u32): u32 {
  return pageSize(limit) + 1;
}

/** The page of what came of asking for `eventsAskedFor(limit)` events. */
export function historyOf<E>(events: Result<RecordedEvent<E>[]>, limit: u32): Result<History<E>> {
  if (!events.isOk) return events.refusedAs<History<E>>();
  const page = new History<E>();
  const size = <i32>pageSize(limit);
  const found = events.value;
  for (let i = 0; i < min(size, found.length); ++i) {
    const at = new Date(<i64>found[i].timeMs);
    page.entries.push(new HistoryEntry<E>(found[i].seq, at, found[i].event));
  }
  if (found.length > size) page.next = found[size - 1].seq;
  return ok(page);
}

function pageSize(limit: u32): u32 {
  return max(1, min(limit, PAGE_MAX));
}
