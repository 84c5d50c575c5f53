// The lists over HTTP: five routes for items, and one that throws a list away.
import { Done, Result } from "@svc/guest-sdk";
import { Item, NewItem, ToDoListClient } from "./to-do-list";

/** The body of a PUT; the number is in the path. */
@data
class ItemContent {
  title: string = "";
  @optional done: bool = false;
}

@endpoint("/lists/{list}")
@access("internet")
export class ToDoEndpoint {
  @get("/items")
  items(list: string): Result<Item[]> {
    return new ToDoListClient(list).items();
  }

  @post("/items")
  add(list: string, input: NewItem): Result<Item> {
    const added = new ToDoListClient(list).add(input);
    if (!added.isOk) return added;
    const location = `/lists/${encodeURIComponent(list)}/items/${added.value.number}`;
    return added.withStatus(201).header("location", location);
  }

  @get("/items/{number}")
  item(list: string, number: i32): Result<Item> {
    return new ToDoListClient(list).item({ number: number });
  }

  @put("/items/{number}")
  change(list: string, number: i32, input: ItemContent): Result<Item> {
    return new ToDoListClient(list).change({ number: number, title: input.title, done: input.done });
  }

  @del("/items/{number}")
  remove(list: string, number: i32): Result<Done> {
    return new ToDoListClient(list).remove({ number: number });
  }

  @del
  delete(list: string): Result<Done> {
    return new ToDoListClient(list).delete();
  }
}
