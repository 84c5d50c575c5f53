// An account. It does not remember transfers: the consumer's calls have keys, so a call that is repeated gets the first answer
// and moves no money.
import { Code, Context, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";

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

@data
export class Booking {
  transfer: string = "";
  cents: i64 = 0;
}

/** What an account answers to a booking. */
@data
export class Booked {
  /** Why no money was moved; empty if it was. */
  declined: string = "";
}

@data
export class AccountState {
  isOpen: bool = false;
  cents: i64 = 0;
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

@entity("account")
export class BankAccount extends EventSourcedEntity<AccountState, AccountEvent> {
  empty(entityId: string): AccountState {
    return new AccountState();
  }

  apply(state: AccountState, event: AccountEvent): AccountState {
    if (event instanceof Opened) {
      state.isOpen = true;
      state.cents = (event as Opened).cents;
    } else if (event instanceof Withdrawn) state.cents -= (event as Withdrawn).cents;
    else if (event instanceof Deposited) state.cents += (event as Deposited).cents;
    return state;
  }

  @command("open")
  open(state: AccountState, input: OpenAccount, context: Context): Effect<Account> {
    if (input.cents < 0 || input.cents > OPENING_CENTS_MAX)
      return this.refuse<Account>(`cents: must be from 0 to ${OPENING_CENTS_MAX}`);
    if (state.isOpen) return this.refuse<Account>("the account is open already", Code.CONFLICT);
    const account: Account = { id: context.entityId, cents: input.cents };
    return this.persist(new Opened(input.cents)).thenReply(account);
  }

  @command("withdraw")
  withdraw(state: AccountState, input: Booking, context: Context): Effect<Booked> {
    if (!state.isOpen) return this.reply(no(`there is no account ${context.entityId}`));
    if (state.cents < input.cents)
      return this.reply(no(`account ${context.entityId} has too little money`));
    return this.persist(new Withdrawn(input.transfer, input.cents)).thenReply(new Booked());
  }

  @command("deposit")
  deposit(state: AccountState, input: Booking, context: Context): Effect<Booked> {
    if (!state.isOpen) return this.reply(no(`there is no account ${context.entityId}`));
    return this.persist(new Deposited(input.transfer, input.cents)).thenReply(new Booked());
  }

  @query("get")
  get(state: AccountState, context: Context): Result<Account> {
    if (!state.isOpen)
      return refuse<Account>(`there is no account ${context.entityId}`, Code.NOT_FOUND);
    return ok<Account>({ id: context.entityId, cents: state.cents });
  }
}

function no(reason: string): Booked {
  return { declined: reason };
}
