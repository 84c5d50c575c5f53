// A transfer: which money goes where, written down before any of it moves, and how it ended.
import { Code, Context, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";

@data
export class TransferOrder {
  from: string = "";
  to: string = "";
  cents: i64 = 0;
}

@data
export class Outcome {
  /** Why not; empty when the money has arrived. */
  declined: string = "";
}

@data
export enum Status {
  unknown,
  running,
  done,
  declined,
}

@data
export class Transfer {
  from: string = "";
  to: string = "";
  cents: i64 = 0;
  status: Status = Status.unknown;
  /** Why it was declined. */
  reason: string = "";
}

@data("transfer-event")
export abstract class TransferEvent {}

@variant("begun")
export class Begun extends TransferEvent {
  constructor(public order: TransferOrder) {
    super();
  }
}

@variant("ended")
export class Ended extends TransferEvent {
  constructor(public outcome: Outcome) {
    super();
  }
}

@entity("transfer")
export class MoneyTransfer extends EventSourcedEntity<Transfer, TransferEvent> {
  empty(entityId: string): Transfer {
    return new Transfer();
  }

  apply(state: Transfer, event: TransferEvent): Transfer {
    if (event instanceof Begun) return begun((event as Begun).order);
    if (event instanceof Ended) return ended(state, (event as Ended).outcome);
    return state;
  }

  /** The id belongs to the first order: it never stands for other money. */
  @command("begin")
  begin(state: Transfer, input: TransferOrder): Effect<Transfer> {
    if (input.cents <= 0) return this.refuse<Transfer>("cents: must be positive");
    if (input.from == input.to) return this.refuse<Transfer>("to: must be another account");
    if (state.status == Status.unknown) return this.persist(new Begun(input)).thenReply(begun(input));
    if (input.from != state.from || input.to != state.to || input.cents != state.cents)
      return this.refuse<Transfer>("the transfer was begun with another order", Code.CONFLICT);
    return this.reply(state);
  }

  @command("end")
  end(state: Transfer, input: Outcome): Effect<Transfer> {
    if (state.status != Status.running) return this.reply(state);
    return this.persist(new Ended(input)).thenReply(ended(state, input));
  }

  @query("get")
  get(state: Transfer, context: Context): Result<Transfer> {
    if (state.status == Status.unknown)
      return refuse<Transfer>(`there is no transfer ${context.entityId}`, Code.NOT_FOUND);
    return ok(state);
  }
}

function begun(order: TransferOrder): Transfer {
  return { from: order.from, to: order.to, cents: order.cents, status: Status.running, reason: "" };
}

function ended(transfer: Transfer, outcome: Outcome): Transfer {
  return {
    from: transfer.from,
    to: transfer.to,
    cents: transfer.cents,
    status: outcome.declined == "" ? Status.done : Status.declined,
    reason: outcome.declined,
  };
}
