// A shelf: a list of titles that can be looked through. Titles are the truth; a shelf is told what they say.
import { Code, Done, Effect, EventSourcedEntity } from "@svc/guest-sdk";
import { Description, Genre, problemOf } from "./description";
import { isIsbn } from "./isbn";
import { Page, pageOf } from "./page";

const ENTRIES_MAX = 500;

@data
export class ShelfEntry {
  isbn: string = "";
  description: Description = new Description();
  /** The revision of the title's description, as the title counts it. */
  @optional version: i32 = 0;
}

@data
export class ShelfState {
  entries: ShelfEntry[] = [];
}

/** A filter. A field that is empty or null admits every entry. */
@data
export class ShelfSearch {
  @optional text: string = "";
  @optional genres: Genre[] = [];
  since: Date | null = null;
  before: Date | null = null;
  @optional offset: u32 = 0;
  @optional limit: u32 = 20;
}

@data
export class EntryIsbn {
  isbn: string = "";
}

@data("shelf-event")
export abstract class ShelfEvent {}

@variant("shelved")
export class Shelved extends ShelfEvent {
  entry: ShelfEntry = new ShelfEntry();
}

@variant("relabelled")
export class Relabelled extends ShelfEvent {
  entry: ShelfEntry = new ShelfEntry();
}

@variant("unshelved")
export class Unshelved extends ShelfEvent {
  isbn: string = "";
}

@entity("shelf")
export class Shelf extends EventSourcedEntity<ShelfState, ShelfEvent> {
  empty(entityId: string): ShelfState {
    return new ShelfState();
  }

  apply(state: ShelfState, event: ShelfEvent): ShelfState {
    if (event instanceof Shelved) {
      state.entries.push((event as Shelved).entry);
    } else if (event instanceof Relabelled) {
      const entry = (event as Relabelled).entry;
      state.entries[indexOf(state, entry.isbn)] = entry;
    } else if (event instanceof Unshelved) {
      state.entries.splice(indexOf(state, (event as Unshelved).isbn), 1);
    }
    return state;
  }

  /** A title that stands there already stays as it is. */
  @command("shelve")
  shelve(state: ShelfState, input: ShelfEntry): Effect<Done> {
    if (!isIsbn(input.isbn)) return this.refuse<Done>("isbn: must be 13 digits with a right last one");
    const problem = problemOf(input.description);
    if (problem != "") return this.refuse<Done>(problem);
    if (indexOf(state, input.isbn) >= 0) return this.reply(new Done());
    if (state.entries.length >= ENTRIES_MAX)
      return this.refuse<Done>(`a shelf has ${ENTRIES_MAX} titles at most`, Code.CONFLICT);
    const shelved: Shelved = { entry: input };
    return this.persist(shelved).thenReply(new Done());
  }

  /** Takes over the description of a title. An older version that arrives late changes nothing. */
  @command("relabel")
  relabel(state: ShelfState, input: ShelfEntry): Effect<Done> {
    const at = indexOf(state, input.isbn);
    if (at < 0 || state.entries[at].version >= input.version) return this.reply(new Done());
    const relabelled: Relabelled = { entry: input };
    return this.persist(relabelled).thenReply(new Done());
  }

  @command("unshelve")
  unshelve(state: ShelfState, input: EntryIsbn): Effect<Done> {
    if (indexOf(state, input.isbn) < 0) return this.reply(new Done());
    const unshelved: Unshelved = { isbn: input.isbn };
    return this.persist(unshelved).thenReply(new Done());
  }

  @query("search")
  search(state: ShelfState, input: ShelfSearch): Page<ShelfEntry> {
    const text = input.text.toLowerCase();
    const found: ShelfEntry[] = [];
    for (let i = 0; i < state.entries.length; ++i)
      if (fits(state.entries[i].description, input, text)) found.push(state.entries[i]);
    return pageOf(found, input.offset, input.limit);
  }
}

function fits(description: Description, search: ShelfSearch, text: string): bool {
  if (search.genres.length > 0 && !search.genres.includes(description.genre)) return false;
  if (!isBetween(description.published, search.since, search.before)) return false;
  return (
    description.name.toLowerCase().includes(text) || description.author.toLowerCase().includes(text)
  );
}

/** Whether the date is not earlier than `since` and earlier than `before`; an unknown one is in no such time. */
function isBetween(date: Date | null, since: Date | null, before: Date | null): bool {
  if (!since && !before) return true;
  if (!date) return false;
  if (since && date.getTime() < since.getTime()) return false;
  return !before || date.getTime() < before.getTime();
}

function indexOf(shelf: ShelfState, isbn: string): i32 {
  for (let i = 0; i < shelf.entries.length; ++i) if (shelf.entries[i].isbn == isbn) return i;
  return -1;
}
