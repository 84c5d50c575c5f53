// A list of things to do: its state, its events, and what may be done with it.
import { Code, Done, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";

const ITEMS_MAX = 100;
const TITLE_MAX = 200;

@data
export class Item {
  number: i32 = 0;
  title: string = "";
  done: bool = false;
}

@data
export class NewItem {
  title: string = "";
}

@data
export class ItemNumber {
  number: i32 = 0;
}

/** The state, and what a reader sees of it. */
@data
export class ToDos {
  items: Item[] = [];
  /** So that a number is never used twice in the life of a list. */
  lastNumber: i32 = 0;
}

@data("to-do-event")
export abstract class ToDoEvent {}

@variant("added")
export class Added extends ToDoEvent {
  constructor(
    public number: i32,
    public title: string,
  ) {
    super();
  }
}

@variant("renamed")
export class Renamed extends ToDoEvent {
  constructor(
    public number: i32,
    public title: string,
  ) {
    super();
  }
}

@variant("completed")
export class Completed extends ToDoEvent {
  constructor(public number: i32) {
    super();
  }
}

@variant("reopened")
export class Reopened extends ToDoEvent {
  constructor(public number: i32) {
    super();
  }
}

@variant("removed")
export class Removed extends ToDoEvent {
  constructor(public number: i32) {
    super();
  }
}

@entity("to-do-list")
export class ToDoList extends EventSourcedEntity<ToDos, ToDoEvent> {
  empty(entityId: string): ToDos {
    return new ToDos();
  }

  apply(state: ToDos, event: ToDoEvent): ToDos {
    if (event instanceof Added) {
      const added = event as Added;
      state.items.push({ number: added.number, title: added.title, done: false });
      state.lastNumber = added.number;
    } else if (event instanceof Renamed) {
      const renamed = event as Renamed;
      state.items[indexOf(state, renamed.number)].title = renamed.title;
    } else if (event instanceof Completed) {
      state.items[indexOf(state, (event as Completed).number)].done = true;
    } else if (event instanceof Reopened) {
      state.items[indexOf(state, (event as Reopened).number)].done = false;
    } else if (event instanceof Removed) {
      state.items.splice(indexOf(state, (event as Removed).number), 1);
    }
    return state;
  }

  @command("add")
  add(state: ToDos, input: NewItem): Effect<Item> {
    if (!isTitle(input.title)) return this.refuse<Item>(TITLE_RULE);
    if (state.items.length >= ITEMS_MAX)
      return this.refuse<Item>(`a list has ${ITEMS_MAX} items at most`, Code.CONFLICT);
    const item: Item = { number: state.lastNumber + 1, title: input.title, done: false };
    return this.persist(new Added(item.number, item.title)).thenReply(item);
  }

  /** The input says how the item shall be; the events say what happened to it: both, one or nothing. */
  @command("change")
  change(state: ToDos, input: Item): Effect<Item> {
    const at = indexOf(state, input.number);
    if (at < 0) return this.refuse<Item>(noItem(input.number), Code.NOT_FOUND);
    if (!isTitle(input.title)) return this.refuse<Item>(TITLE_RULE);
    const item = state.items[at];
    const events: ToDoEvent[] = [];
    if (item.title != input.title) events.push(new Renamed(item.number, input.title));
    if (!item.done && input.done) events.push(new Completed(item.number));
    if (item.done && !input.done) events.push(new Reopened(item.number));
    return this.persistAll(events).thenReply(input);
  }

  @command("remove")
  remove(state: ToDos, input: ItemNumber): Effect<Done> {
    if (indexOf(state, input.number) < 0)
      return this.refuse<Done>(noItem(input.number), Code.NOT_FOUND);
    return this.persist(new Removed(input.number)).thenReply(new Done());
  }

  /** The list begins anew, with number 1: a deleted entity leaves nothing to its successor. */
  @command("delete")
  delete(state: ToDos): Effect<Done> {
    if (state.lastNumber == 0) return this.reply(new Done());
    return this.deleteEntity().thenReply(new Done());
  }

  @query("items")
  items(state: ToDos): Item[] {
    return state.items;
  }

  @query("item")
  item(state: ToDos, input: ItemNumber): Result<Item> {
    const at = indexOf(state, input.number);
    return at < 0 ? refuse<Item>(noItem(input.number), Code.NOT_FOUND) : ok(state.items[at]);
  }
}

const TITLE_RULE = `title: must have 1 to ${TITLE_MAX} characters`;

function isTitle(text: string): bool {
  return text.trim().length > 0 && text.length <= TITLE_MAX;
}

function noItem(number: i32): string {
  return `the list has no item ${number}`;
}

function indexOf(list: ToDos, number: i32): i32 {
  for (let i = 0; i < list.items.length; ++i) if (list.items[i].number == number) return i;
  return -1;
}
