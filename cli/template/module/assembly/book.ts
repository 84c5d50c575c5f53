// A book of a library: who has it, and how often it was lent.
import { Code, Done, Effect, EventSourcedEntity } from "@svc/guest-sdk";

/** The state of a book. It is never stored: the runtime computes it from the events. */
@data export class Loan {
  reader: string = "";
  count: i32 = 0;
}

@data export class Lend { reader: string = ""; }

/** Everything that can happen to a book. These events are stored for good. */
@data export abstract class BookEvent {}
@variant("lent") export class Lent extends BookEvent { reader: string = ""; }
@variant("returned") export class Returned extends BookEvent {}

@entity("book")
export class Book extends EventSourcedEntity<Loan, BookEvent> {
  empty(entityId: string): Loan { return new Loan(); }

  /** Computes the next state. It decides nothing: the event has already happened. */
  apply(state: Loan, event: BookEvent): Loan {
    if (event instanceof Lent) {
      state.reader = (event as Lent).reader;
      state.count += 1;
    } else if (event instanceof Returned) {
      state.reader = "";
    }
    return state;
  }

  /** Decides: refuses, or returns the events that happen. It does not change the state. */
  @command("lend")
  lend(state: Loan, input: Lend): Effect<Loan> {
    if (input.reader == "") return this.refuse<Loan>("reader: must not be empty");
    if (state.reader != "") return this.refuse<Loan>(state.reader + " has it", Code.CONFLICT);
    const lent: Lent = { reader: input.reader };
    return this.persist(lent).thenReplyState();
  }

  @command("give-back")
  giveBack(state: Loan): Effect<Done> {
    if (state.reader == "") return this.reply(new Done());
    return this.persist(new Returned()).thenReply(new Done());
  }

  @query("get")
  get(state: Loan): Loan { return state; }
}
