// A counter that survives: its entity decides which events happen, the runtime keeps them.
import { Effect, EventSourcedEntity, Result, register } from "@svc/guest-sdk";

/** What the entity knows. It is never stored by itself: the events bring it back. */
@data
class Count {
  value: i32 = 0;
}

@data
class Increase {
  by: i32 = 0;
}

/** What can happen to a counter. The names in quotes are in the journal: they stay for ever. */
@data("counter-event")
abstract class CounterEvent {}

@variant("increased")
class Increased extends CounterEvent {
  by: i32 = 0;
}

@entity("counter")
class Counter extends EventSourcedEntity<Count, CounterEvent> {
  empty(entityId: string): Count {
    return new Count();
  }

  /** Folds an event into the state. It refuses nothing: what is in the journal has happened. */
  apply(state: Count, event: CounterEvent): Count {
    if (event instanceof Increased) state.value += (event as Increased).by;
    return state;
  }

  /** Decides, and leaves the state as it is: only `apply` changes it. */
  @command("increase")
  increase(state: Count, input: Increase): Effect<Count> {
    if (input.by <= 0) return this.refuse<Count>("by: must be positive");
    if (input.by > i32.MAX_VALUE - state.value) return this.refuse<Count>("by: the counter would overflow");
    const increased: Increased = { by: input.by };
    return this.persist(increased).thenReplyState();
  }

  @query("get")
  get(state: Count): Count {
    return state;
  }
}

/** `CounterClient` is written by the compiler: one method for each command and query. */
@endpoint("/counters")
@access("internet")
class CounterEndpoint {
  @get("/{id}")
  get(id: string): Result<Count> {
    return new CounterClient(id).get();
  }

  @post("/{id}")
  increase(id: string, input: Increase): Result<Count> {
    return new CounterClient(id).increase(input);
  }
}

register<Counter>();
register<CounterEndpoint>();
