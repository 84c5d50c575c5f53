// The library over HTTP. Only registered components exist.
import { Done, Result, register } from "@svc/guest-sdk";
import { Book, BookClient, Lend, Loan } from "./book";

@endpoint("/books")
@access("internet")
class LibraryEndpoint {
  @get("/{isbn}")
  get(isbn: string): Result<Loan> { return new BookClient(isbn).get(); }

  @post("/{isbn}/loan")
  lend(isbn: string, input: Lend): Result<Loan> { return new BookClient(isbn).lend(input); }

  @del("/{isbn}/loan")
  giveBack(isbn: string): Result<Done> { return new BookClient(isbn).giveBack(); }
}

register<Book>();
register<LibraryEndpoint>();
