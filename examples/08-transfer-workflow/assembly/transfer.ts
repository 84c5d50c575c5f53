// A transfer: what was ordered, and how far it is. Each step is an event, which the consumer of transfer-process.ts acts on.
// A transfer that nobody accepts in time expires, by a timer that is set in the transaction of the step before.
import { Code, Context, Done, Due, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";

const CENTS_MAX: i64 = 1_000_000_000_000;
/** Seven days. */
const ACCEPT_WITHIN_MS: i64 = 604_800_000;

@data
export class TransferOrder {
  from: string = "";
  to: string = "";
  cents: i64 = 0;
  /** Milliseconds in which the transfer has to be accepted. */
  @optional
  acceptWithinMs: i64 = ACCEPT_WITHIN_MS;
}

@data
export enum Status {
  /** Nothing was ordered. */
  none,
  /** The money is still on the first account. */
  ordered,
  /** The money has left the first account, and waits until it is accepted. */
  funded,
  /** It was accepted, and is on its way to the second account. */
  accepted,
  /** It is on its way back to the first account. */
  returning,
  completed,
  returned,
  /** The first account has not given the money. */
  declined,
}

@data
export class Transfer {
  from: string = "";
  to: string = "";
  cents: i64 = 0;
  status: Status = Status.none;
  /** Why the money was not given, or is given back. */
  reason: string = "";
}

@data
export class TransferState {
  order: TransferOrder = new TransferOrder();
  status: Status = Status.none;
  reason: string = "";
}

@data("transfer-event")
export abstract class TransferEvent {}

@variant("ordered")
export class Ordered extends TransferEvent {
  constructor(public order: TransferOrder) {
    super();
  }
}

@variant("funded")
export class Funded extends TransferEvent {}

@variant("accepted")
export class Accepted extends TransferEvent {
  constructor(
    public to: string,
    public cents: i64,
  ) {
    super();
  }
}

/** The money has to go back. */
@variant("failed")
export class Failed extends TransferEvent {
  constructor(
    public from: string,
    public cents: i64,
    public reason: string,
  ) {
    super();
  }
}

@variant("ended")
export class Ended extends TransferEvent {
  constructor(
    public status: Status,
    public reason: string,
  ) {
    super();
  }
}

@entity("transfer")
export class MoneyTransfer extends EventSourcedEntity<TransferState, TransferEvent> {
  empty(entityId: string): TransferState {
    return new TransferState();
  }

  apply(state: TransferState, event: TransferEvent): TransferState {
    if (event instanceof Ordered) {
      state.order = (event as Ordered).order;
      state.status = Status.ordered;
    } else if (event instanceof Funded) state.status = Status.funded;
    else if (event instanceof Accepted) state.status = Status.accepted;
    else if (event instanceof Failed) {
      state.status = Status.returning;
      state.reason = (event as Failed).reason;
    } else if (event instanceof Ended) {
      state.status = (event as Ended).status;
      state.reason = (event as Ended).reason;
    }
    return state;
  }

  // --- for callers ---

  /** The same order again is answered with the transfer as it is. */
  @command("order")
  order(state: TransferState, input: TransferOrder): Effect<Transfer> {
    if (state.status != Status.none) {
      if (!isSame(state.order, input))
        return this.refuse<Transfer>("this id belongs to another transfer", Code.CONFLICT);
      return this.reply(shown(state));
    }
    if (input.cents <= 0 || input.cents > CENTS_MAX)
      return this.refuse<Transfer>(`cents: must be from 1 to ${CENTS_MAX}`);
    if (input.from == input.to) return this.refuse<Transfer>("to: must be another account");
    return this.persist(new Ordered(input)).thenReplyFrom(this.get);
  }

  @command("accept")
  accept(state: TransferState): Effect<Transfer> {
    if (state.status == Status.accepted || state.status == Status.completed) return this.reply(shown(state));
    if (state.status != Status.funded)
      return this.refuse<Transfer>("the transfer cannot be accepted now", Code.CONFLICT);
    return this.persist(new Accepted(state.order.to, state.order.cents))
      .thenCancelTimer("expire")
      .thenReplyFrom(this.get);
  }

  @query("get")
  get(state: TransferState): Transfer {
    return shown(state);
  }

  // --- for the consumer and the timer ---

  @command("fund")
  fund(state: TransferState, context: Context): Effect<Done> {
    if (state.status != Status.ordered) return this.reply(new Done());
    return this.persist(new Funded())
      .thenSetTimer("expire", Due.after(state.order.acceptWithinMs), MoneyTransferCall.expire(context.entityId))
      .thenReply(new Done());
  }

  @command("expire")
  expire(state: TransferState): Effect<Done> {
    if (state.status != Status.funded) return this.reply(new Done());
    return this.failed(state, "nobody has accepted it in time");
  }

  @command("reject")
  reject(state: TransferState, reason: string): Effect<Done> {
    if (state.status != Status.accepted) return this.reply(new Done());
    return this.failed(state, reason);
  }

  @command("end")
  end(state: TransferState, input: Ended): Effect<Done> {
    return this.persist(input).thenReply(new Done());
  }

  private failed(state: TransferState, reason: string): Effect<Done> {
    return this.persist(new Failed(state.order.from, state.order.cents, reason)).thenReply(new Done());
  }
}

function shown(state: TransferState): Transfer {
  const order = state.order;
  return {
    from: order.from,
    to: order.to,
    cents: order.cents,
    status: state.status,
    reason: state.reason,
  };
}

function isSame(one: TransferOrder, other: TransferOrder): bool {
  return (
    one.from == other.from &&
    one.to == other.to &&
    one.cents == other.cents &&
    one.acceptWithinMs == other.acceptWithinMs
  );
}
