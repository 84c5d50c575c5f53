// Titles, their copies and who waits for one.
import { Done, Result } from "@svc/guest-sdk";
import { DescriptionPatch } from "./description";
import { History, eventsAskedFor, historyOf } from "./history";
import { LibraryMemberClient } from "./member";
import { ShelfClient } from "./shelf";
import { CopyCount, LibraryTitleClient, Place, Title } from "./title";
import { TitleEvent } from "./title-event";
import { Lending } from "./title-state";

@endpoint("/titles/{isbn}")
@access("internet")
export class TitleEndpoint {
  @get
  @cors
  title(isbn: string): Result<Title> {
    return new LibraryTitleClient(isbn).get();
  }

  /** Changes what is given. The shelf is told afterwards: whoever got no answer repeats the request. */
  @patch
  change(isbn: string, patch: DescriptionPatch): Result<Title> {
    const changed = new LibraryTitleClient(isbn).change(patch);
    if (!changed.isOk) return changed;
    const title = changed.value;
    const told = new ShelfClient(title.shelf).relabel({
      isbn: isbn,
      description: title.description,
      version: title.version,
    });
    return told.isOk ? changed : told.refusedAs<Title>();
  }

  @put("/copies")
  countCopies(isbn: string, input: CopyCount): Result<Title> {
    return new LibraryTitleClient(isbn).countCopies(input);
  }

  /** The loans of the title's copies. */
  @get("/lendings")
  @bearer(Role.any("librarian"))
  lendings(isbn: string): Result<Lending[]> {
    return new LibraryTitleClient(isbn).lendings();
  }

  /** The members who wait, in their order. */
  @get("/reservations")
  @bearer(Role.any("librarian"))
  reservations(isbn: string): Result<Place[]> {
    return new LibraryTitleClient(isbn).reservations();
  }

  /** Waits for a copy. The member is asked for first, so that nobody waits for ever who is none. */
  @put("/reservations/{member}")
  reserve(isbn: string, member: string): Result<Place> {
    const known = new LibraryMemberClient(member).get();
    if (!known.isOk) return known.refusedAs<Place>();
    return new LibraryTitleClient(isbn).reserve({ member: member });
  }

  @get("/reservations/{member}")
  reservation(isbn: string, member: string): Result<Place> {
    return new LibraryTitleClient(isbn).reservation({ member: member });
  }

  @del("/reservations/{member}")
  cancelReservation(isbn: string, member: string): Result<Done> {
    return new LibraryTitleClient(isbn).cancelReservation({ member: member });
  }

  /** The events of the title, oldest first. */
  @get("/history")
  @bearer(Role.any("librarian"))
  history(isbn: string, after: u64 = 0, limit: u32 = 20): Result<History<TitleEvent>> {
    const events = new LibraryTitleClient(isbn).events(after, eventsAskedFor(limit));
    return historyOf(events, limit);
  }
}
