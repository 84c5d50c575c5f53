// The catalogue: what stands on a shelf, and new titles for it.
import { Code, Result, refuse } from "@svc/guest-sdk";
import { Description, Genre } from "./description";
import { Page } from "./page";
import { ShelfClient, ShelfEntry } from "./shelf";
import { LibraryTitleClient, Title } from "./title";

@data
class NewTitle {
  isbn: string = "";
  description: Description = new Description();
  @optional copies: i32 = 1;
}

@endpoint("/shelves/{shelf}/titles")
@access("internet")
export class ShelfEndpoint {
  /** Looks through the titles of a shelf. Dates are those of publication. */
  @get
  @cors
  search(
    shelf: string,
    genre: Genre[],
    since: Date | null,
    before: Date | null,
    text: string = "",
    offset: u32 = 0,
    limit: u32 = 20,
  ): Result<Page<ShelfEntry>> {
    return new ShelfClient(shelf).search({
      text: text,
      genres: genre,
      since: since,
      before: before,
      offset: offset,
      limit: limit,
    });
  }

  /**
   * Puts a new title on the shelf. A title stands on one shelf and stays there, so when it turns out to stand on
   * another one, it is taken from this one again.
   */
  @post
  @answers(201)
  add(shelf: string, input: NewTitle): Result<Title> {
    const client = new ShelfClient(shelf);
    const shelved = client.shelve({ isbn: input.isbn, description: input.description, version: 0 });
    if (!shelved.isOk) return shelved.refusedAs<Title>();

    const registered = new LibraryTitleClient(input.isbn).register({
      shelf: shelf,
      description: input.description,
      copies: input.copies,
    });
    if (!registered.isOk) return registered;
    const title = registered.value;
    if (title.shelf == shelf) return registered.header("location", `/titles/${title.isbn}`);

    const undone = client.unshelve({ isbn: input.isbn });
    if (!undone.isOk) return undone.refusedAs<Title>();
    return refuse<Title>(`the title stands on the shelf ${title.shelf}`, Code.CONFLICT);
  }
}
