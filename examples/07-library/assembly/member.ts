// A member of the library: what may be lent to it, what it owes, and what it may change of itself.
import {
  Code,
  Context,
  Decimal,
  Done,
  Effect,
  EventSourcedEntity,
  Result,
  ok,
  refuse,
  toJson,
} from "@svc/guest-sdk";
import { FeeEntry } from "./fee";
import { Loan, LoanStatus, Receipt, indexOfLoan, loanOf } from "./loan";
import {
  DetailsChanged,
  FeeCharged,
  FeePaid,
  FeeWaived,
  Joined,
  Left,
  LoanClosed,
  LoanRenewed,
  LoanRequested,
  LoanReturned,
  LoanStarted,
  LoanWithdrawn,
  MemberEvent,
  MemberPatch,
} from "./member-event";
import { Member, isMember, memberAfter } from "./member-state";
import { MemberKind, daysLate, isPayable, lateFee, loanPeriod, owedMax } from "./membership";

const NAME_MAX = 200;
const LOANS_MAX = 50;
const RENEWALS_MAX = 2;

@data
export class Join {
  name: string = "";
  email: string | null = null;
  @optional kind: MemberKind = MemberKind.Adult;
}

@data
export class BookIsbn {
  isbn: string = "";
}

@data
export class ReturnedBook {
  isbn: string = "";
  /** What a day too late costs an adult now. */
  feePerDay: Decimal = new Decimal();
}

@data
export class LoanNumber {
  number: i32 = 0;
}

@data
export class Withdrawal {
  number: i32 = 0;
  reason: string = "";
}

@data
export class LoanFilter {
  /** The loans that are due before this, or all. */
  dueBefore: Date | null = null;
  @optional overdue: bool = false;
}

@data
export class Payment {
  amount: Decimal = new Decimal();
}

@data
export class Waiver {
  amount: Decimal = new Decimal();
  reason: string = "";
}

@data
export class FeeNumber {
  number: i32 = 0;
}

@data
export class FeeFilter {
  since: Date | null = null;
  before: Date | null = null;
}

/** Why nothing is lent to a member, for programs. */
@data
class Hindrance {
  reason: string = "";
  owed: Decimal | null = null;
  loans: i32 = 0;
}

@entity("member")
export class LibraryMember extends EventSourcedEntity<Member, MemberEvent> {
  empty(entityId: string): Member {
    const member = new Member();
    member.id = entityId;
    return member;
  }

  apply(state: Member, event: MemberEvent): Member {
    return memberAfter(state, event);
  }

  /** A member who joins again with the same words is answered as the first time. */
  @command("join")
  join(state: Member, input: Join): Effect<Member> {
    const problem = nameProblem(input.name);
    if (problem != "") return this.refuse<Member>(problem);
    if (isMember(state)) {
      const same = state.name == input.name && state.email == input.email && state.kind == input.kind;
      return same ? this.reply(state) : this.refuse<Member>("there is such a member", Code.CONFLICT);
    }
    const joined: Joined = { name: input.name, email: input.email, kind: input.kind };
    return this.persist(joined).thenReplyState();
  }

  @command("change")
  change(state: Member, input: MemberPatch): Effect<Member> {
    if (!isMember(state)) return this.refuse<Member>(noMember(state), Code.NOT_FOUND);
    const problem = nameProblem(input.name.orElse(state.name));
    if (problem != "") return this.refuse<Member>(problem);
    const most = input.loansMax.orElse(0, 0);
    if (most < 0 || most > LOANS_MAX)
      return this.refuse<Member>(`loansMax: must be from 0 to ${LOANS_MAX}`);
    const changed: DetailsChanged = { patch: input };
    return this.persist(changed).thenReplyState();
  }

  @command("leave")
  leave(state: Member): Effect<Done> {
    if (!isMember(state)) return this.refuse<Done>(noMember(state), Code.NOT_FOUND);
    if (state.loans.length > 0) return this.refuse<Done>("there are books to return", Code.CONFLICT);
    if (!state.owed.isZero) return this.refuse<Done>(`${state.owed} is still owed`, Code.CONFLICT);
    return this.persist(new Left()).thenReply(new Done());
  }

  /** The first step of lending. A loan that there is already is the answer, however far it has come. */
  @command("request-loan")
  requestLoan(state: Member, input: BookIsbn, context: Context): Effect<Loan> {
    if (!isMember(state)) return this.refuse<Loan>(noMember(state), Code.NOT_FOUND);
    const loan = loanOf(state.loans, input.isbn);
    if (loan) return this.reply<Loan>(loan);
    if (state.owed.compare(owedMax()) > 0)
      return this.hinder(`more than ${owedMax()} is owed`, "fees-owed", state);
    if (hasOverdue(state, context)) return this.hinder("a book is overdue", "overdue", state);
    if (state.loans.length >= state.loansMax)
      return this.hinder(`no more than ${state.loansMax} books at a time`, "too-many", state);
    const requested: LoanRequested = {
      number: state.lastLoan + 1,
      isbn: input.isbn,
      due: loanPeriod(state.kind).after(now(context)),
    };
    return this.persist(requested).thenReplyFrom(this.loan, input);
  }

  /** The last step of lending: the title has given a copy. */
  @command("start-loan")
  startLoan(state: Member, input: LoanNumber): Effect<Loan> {
    const at = indexOfLoan(state.loans, input.number);
    if (at < 0) return this.refuse<Loan>(noLoan(input.number), Code.NOT_FOUND);
    const loan = state.loans[at];
    if (loan.status != LoanStatus.Requested) return this.reply(loan);
    const started: LoanStarted = { number: input.number };
    const isbn: BookIsbn = { isbn: loan.isbn };
    return this.persist(started).thenReplyFrom(this.loan, isbn);
  }

  /** Undoes the first step of lending; does nothing when that is not needed, or not any more. */
  @command("withdraw-loan")
  withdrawLoan(state: Member, input: Withdrawal): Effect<Done> {
    const at = indexOfLoan(state.loans, input.number);
    if (at < 0 || state.loans[at].status != LoanStatus.Requested) return this.reply(new Done());
    const withdrawn: LoanWithdrawn = { number: input.number, reason: input.reason };
    return this.persist(withdrawn).thenReply(new Done());
  }

  @command("renew-loan")
  renewLoan(state: Member, input: BookIsbn, context: Context): Effect<Loan> {
    const loan = loanOf(state.loans, input.isbn);
    if (!loan) return this.refuse<Loan>(noBook(input.isbn), Code.NOT_FOUND);
    if (loan.status != LoanStatus.Running)
      return this.refuse<Loan>("the loan is not running", Code.CONFLICT);
    if (loan.renewals >= RENEWALS_MAX)
      return this.refuse<Loan>(`a loan is renewed ${RENEWALS_MAX} times at most`, Code.CONFLICT);
    if (isOverdue(loan, context)) return this.refuse<Loan>("the book is overdue", Code.CONFLICT);
    const renewed: LoanRenewed = {
      number: loan.number,
      due: loanPeriod(state.kind).after(now(context)),
    };
    return this.persist(renewed).thenReplyFrom(this.loan, input);
  }

  /** The first step of returning. What it costs is decided here, once: who asks again has the same receipt. */
  @command("return-loan")
  returnLoan(state: Member, input: ReturnedBook, context: Context): Effect<Receipt> {
    const loan = loanOf(state.loans, input.isbn);
    if (!loan) return this.refuse<Receipt>(noBook(input.isbn), Code.NOT_FOUND);
    if (loan.receipt) return this.reply(loan.receipt!);
    if (loan.status == LoanStatus.Requested)
      return this.refuse<Receipt>("the loan has not started: request it once more", Code.CONFLICT);
    const days = daysLate(loan.due, now(context));
    const receipt: Receipt = {
      number: loan.number,
      isbn: loan.isbn,
      due: loan.due,
      returned: now(context),
      daysLate: days,
      fee: lateFee(state.kind, days, input.feePerDay),
    };
    const returned: LoanReturned = { receipt: receipt };
    const change = this.persist(returned);
    if (!receipt.fee.isZero) {
      const charged: FeeCharged = {
        amount: receipt.fee,
        at: receipt.returned,
        reason: `${loan.isbn} was ${days} days late`,
      };
      change.thenPersist(charged);
    }
    return change.thenReply(receipt);
  }

  /** The last step of returning: the title has its copy again. */
  @command("close-loan")
  closeLoan(state: Member, input: LoanNumber): Effect<Done> {
    const at = indexOfLoan(state.loans, input.number);
    if (at < 0 || state.loans[at].status != LoanStatus.Returning) return this.reply(new Done());
    const closed: LoanClosed = { number: input.number };
    return this.persist(closed).thenReply(new Done());
  }

  @command("pay")
  pay(state: Member, input: Payment, context: Context): Effect<FeeEntry> {
    const problem = amountProblem(state, input.amount);
    if (problem != "") return this.refuse<FeeEntry>(problem, Code.UNPROCESSABLE);
    const paid: FeePaid = { amount: input.amount, at: now(context) };
    return this.persist(paid).thenReplyFrom(this.lastFee);
  }

  @command("waive")
  waive(state: Member, input: Waiver, context: Context): Effect<FeeEntry> {
    if (input.reason.trim() == "") return this.refuse<FeeEntry>("reason: must not be empty");
    const problem = amountProblem(state, input.amount);
    if (problem != "") return this.refuse<FeeEntry>(problem, Code.UNPROCESSABLE);
    const waived: FeeWaived = { amount: input.amount, at: now(context), reason: input.reason };
    return this.persist(waived).thenReplyFrom(this.lastFee);
  }

  @query("get")
  get(state: Member): Result<Member> {
    return isMember(state) ? ok(state) : refuse<Member>(noMember(state), Code.NOT_FOUND);
  }

  @query("loans")
  loans(state: Member, input: LoanFilter, context: Context): Result<Loan[]> {
    if (!isMember(state)) return refuse<Loan[]>(noMember(state), Code.NOT_FOUND);
    const found: Loan[] = [];
    for (let i = 0; i < state.loans.length; ++i) {
      const loan = state.loans[i];
      if (input.overdue && !isOverdue(loan, context)) continue;
      if (input.dueBefore && loan.due.getTime() >= input.dueBefore!.getTime()) continue;
      found.push(loan);
    }
    return ok(found);
  }

  @query("find-loan")
  findLoan(state: Member, input: BookIsbn): Result<Loan> {
    const loan = loanOf(state.loans, input.isbn);
    return loan ? ok<Loan>(loan) : refuse<Loan>(noBook(input.isbn), Code.NOT_FOUND);
  }

  @query("fees")
  fees(state: Member, input: FeeFilter): Result<FeeEntry[]> {
    if (!isMember(state)) return refuse<FeeEntry[]>(noMember(state), Code.NOT_FOUND);
    const found: FeeEntry[] = [];
    for (let i = 0; i < state.fees.length; ++i) {
      const at = state.fees[i].at.getTime();
      if (input.since && at < input.since!.getTime()) continue;
      if (input.before && at >= input.before!.getTime()) continue;
      found.push(state.fees[i]);
    }
    return ok(found);
  }

  @query("fee")
  fee(state: Member, input: FeeNumber): Result<FeeEntry> {
    for (let i = 0; i < state.fees.length; ++i)
      if (state.fees[i].number == input.number) return ok(state.fees[i]);
    return refuse<FeeEntry>(`there is no entry ${input.number}, or not any more`, Code.NOT_FOUND);
  }

  private loan(state: Member, input: BookIsbn): Loan {
    return loanOf(state.loans, input.isbn)!;
  }

  private lastFee(state: Member): FeeEntry {
    return state.fees[state.fees.length - 1];
  }

  private hinder(message: string, reason: string, state: Member): Effect<Loan> {
    const details: Hindrance = { reason: reason, owed: state.owed, loans: state.loans.length };
    return this.refuse<Loan>(message, Code.CONFLICT, toJson(details));
  }
}

function now(context: Context): Date {
  return new Date(<i64>context.nowMs);
}

function isOverdue(loan: Loan, context: Context): bool {
  return loan.status == LoanStatus.Running && loan.due.getTime() < <i64>context.nowMs;
}

function hasOverdue(member: Member, context: Context): bool {
  for (let i = 0; i < member.loans.length; ++i) if (isOverdue(member.loans[i], context)) return true;
  return false;
}

function nameProblem(name: string): string {
  const fits = name.trim().length > 0 && name.length <= NAME_MAX;
  return fits ? "" : `name: must have 1 to ${NAME_MAX} characters`;
}

function amountProblem(member: Member, amount: Decimal): string {
  if (!isPayable(amount)) return "amount: must be above zero, with two digits behind the point at most";
  if (amount.compare(member.owed) > 0) return `amount: ${member.owed} is owed`;
  return "";
}

function noMember(member: Member): string {
  return `there is no member ${member.id}`;
}

function noLoan(number: i32): string {
  return `there is no loan ${number}`;
}

function noBook(isbn: string): string {
  return `the member does not have ${isbn}`;
}
