// An account. It decides on each transfer once, yes or no, and remembers: whoever asks again, at the
// same time or after a crash, gets the first decision and moves no money.
import { Code, Context, Done, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";

/** Nine million of the richest accounts fit into one. */
const OPENING_CENTS_MAX: i64 = 1_000_000_000_000;

@data
export class OpenAccount {
  cents: i64 = 0;
}

@data
export class Account {
  id: string = "";
  cents: i64 = 0;
}

/** One half of a transfer: so much out of an account, or into it. */
@data
export class Booking {
  transfer: string = "";
  cents: i64 = 0;
}

@data
export class Refund {
  transfer: string = "";
  reason: string = "";
}

/** What an account decided on a transfer. */
@data
export class Decision {
  /** What was added to the balance; less than zero when it was taken. */
  cents: i64 = 0;
  /** Why nothing was; empty otherwise. */
  declined: string = "";
}

@data
export class AccountState {
  open: bool = false;
  cents: i64 = 0;
  /** By the transfer's id. */
  decisions: Map<string, Decision> = new Map<string, Decision>();
}

@data("account-event")
export abstract class AccountEvent {}

@variant("opened")
export class Opened extends AccountEvent {
  constructor(public cents: i64) {
    super();
  }
}

@variant("withdrawn")
export class Withdrawn extends AccountEvent {
  constructor(
    public transfer: string,
    public cents: i64,
  ) {
    super();
  }
}

@variant("deposited")
export class Deposited extends AccountEvent {
  constructor(
    public transfer: string,
    public cents: i64,
  ) {
    super();
  }
}

@variant("declined")
export class Declined extends AccountEvent {
  constructor(
    public transfer: string,
    public reason: string,
  ) {
    super();
  }
}

@variant("refunded")
export class Refunded extends AccountEvent {
  constructor(
    public transfer: string,
    public reason: string,
  ) {
    super();
  }
}

@entity("account")
export class BankAccount extends EventSourcedEntity<AccountState, AccountEvent> {
  empty(entityId: string): AccountState {
    return new AccountState();
  }

  apply(state: AccountState, event: AccountEvent): AccountState {
    if (event instanceof Opened) {
      state.open = true;
      state.cents = (event as Opened).cents;
    } else if (event instanceof Withdrawn) {
      const withdrawn = event as Withdrawn;
      state.cents -= withdrawn.cents;
      state.decisions.set(withdrawn.transfer, booked(-withdrawn.cents));
    } else if (event instanceof Deposited) {
      const deposited = event as Deposited;
      state.cents += deposited.cents;
      state.decisions.set(deposited.transfer, booked(deposited.cents));
    } else if (event instanceof Declined) {
      const declined = event as Declined;
      state.decisions.set(declined.transfer, no(declined.reason));
    } else if (event instanceof Refunded) {
      const refunded = event as Refunded;
      state.cents -= state.decisions.get(refunded.transfer).cents;
      state.decisions.set(refunded.transfer, no(refunded.reason));
    }
    return state;
  }

  @command("open")
  open(state: AccountState, input: OpenAccount, context: Context): Effect<Account> {
    if (input.cents < 0 || input.cents > OPENING_CENTS_MAX)
      return this.refuse<Account>(`cents: must be from 0 to ${OPENING_CENTS_MAX}`);
    if (state.open) return this.refuse<Account>("the account is open already", Code.CONFLICT);
    const account: Account = { id: context.entityId, cents: input.cents };
    return this.persist(new Opened(input.cents)).thenReply(account);
  }

  @command("withdraw")
  withdraw(state: AccountState, input: Booking, context: Context): Effect<Decision> {
    if (state.decisions.has(input.transfer)) return this.reply(state.decisions.get(input.transfer));
    if (!state.open) return this.decline(input, `there is no account ${context.entityId}`);
    if (state.cents < input.cents)
      return this.decline(input, `account ${context.entityId} has too little money`);
    return this.persist(new Withdrawn(input.transfer, input.cents)).thenReply(booked(-input.cents));
  }

  @command("deposit")
  deposit(state: AccountState, input: Booking, context: Context): Effect<Decision> {
    if (state.decisions.has(input.transfer)) return this.reply(state.decisions.get(input.transfer));
    if (!state.open) return this.decline(input, `there is no account ${context.entityId}`);
    return this.persist(new Deposited(input.transfer, input.cents)).thenReply(booked(input.cents));
  }

  /** Takes a withdrawal back, with the reason for which the other account declined. */
  @command("refund")
  refund(state: AccountState, input: Refund): Effect<Done> {
    const withdrawn =
      state.decisions.has(input.transfer) && state.decisions.get(input.transfer).cents < 0;
    if (!withdrawn) return this.reply(new Done());
    return this.persist(new Refunded(input.transfer, input.reason)).thenReply(new Done());
  }

  @query("get")
  get(state: AccountState, context: Context): Result<Account> {
    if (!state.open)
      return refuse<Account>(`there is no account ${context.entityId}`, Code.NOT_FOUND);
    return ok<Account>({ id: context.entityId, cents: state.cents });
  }

  /** A "no" is an event too. If it were forgotten, two attempts at one transfer could differ. */
  private decline(input: Booking, reason: string): Effect<Decision> {
    return this.persist(new Declined(input.transfer, reason)).thenReply(no(reason));
  }
}

function booked(cents: i64): Decision {
  return { cents: cents, declined: "" };
}

function no(reason: string): Decision {
  return { cents: 0, declined: reason };
}
