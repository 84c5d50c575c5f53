// A member as it is right now, and what each event makes of it.
import { Decimal } from "@svc/guest-sdk";
import { ENTRIES_MAX, FeeEntry, FeeKind } from "./fee";
import { Loan, LoanStatus, indexOfLoan } from "./loan";
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
import { MemberKind, loansMax, nothing } from "./membership";

/** The state, and what a reader sees of it. */
@data
export class Member {
  id: string = "";
  /** Empty for somebody who has not joined, or has left. */
  name: string = "";
  email: string | null = null;
  kind: MemberKind = MemberKind.Adult;
  loansMax: i32 = 0;
  loans: Loan[] = [];
  owed: Decimal = nothing();
  /** The last ones. */
  fees: FeeEntry[] = [];
  lastLoan: i32 = 0;
  lastFee: i32 = 0;
}

export function isMember(member: Member): bool {
  return member.name != "";
}

/** The member after the event. The given one is changed and returned. */
export function memberAfter(member: Member, event: MemberEvent): Member {
  if (event instanceof Joined) {
    const joined = event as Joined;
    member.name = joined.name;
    member.email = joined.email;
    member.kind = joined.kind;
    member.loansMax = loansMax(joined.kind);
  } else if (event instanceof DetailsChanged) {
    change(member, (event as DetailsChanged).patch);
  } else if (event instanceof Left) {
    return successorOf(member);
  } else if (event instanceof LoanRequested) {
    request(member, event as LoanRequested);
  } else if (event instanceof LoanStarted) {
    loanOfNumber(member, (event as LoanStarted).number).status = LoanStatus.Running;
  } else if (event instanceof LoanWithdrawn) {
    end(member, (event as LoanWithdrawn).number);
  } else if (event instanceof LoanRenewed) {
    const renewed = event as LoanRenewed;
    const loan = loanOfNumber(member, renewed.number);
    loan.due = renewed.due;
    loan.renewals += 1;
  } else if (event instanceof LoanReturned) {
    const receipt = (event as LoanReturned).receipt;
    const loan = loanOfNumber(member, receipt.number);
    loan.status = LoanStatus.Returning;
    loan.receipt = receipt;
  } else if (event instanceof LoanClosed) {
    end(member, (event as LoanClosed).number);
  } else if (event instanceof FeeCharged) {
    const charged = event as FeeCharged;
    member.owed = member.owed.add(charged.amount);
    enter(member, FeeKind.Charged, charged.amount, charged.at, charged.reason);
  } else if (event instanceof FeePaid) {
    const paid = event as FeePaid;
    member.owed = member.owed.subtract(paid.amount);
    enter(member, FeeKind.Paid, paid.amount, paid.at, "");
  } else if (event instanceof FeeWaived) {
    const waived = event as FeeWaived;
    member.owed = member.owed.subtract(waived.amount);
    enter(member, FeeKind.Waived, waived.amount, waived.at, waived.reason);
  }
  return member;
}

function change(member: Member, patch: MemberPatch): void {
  member.name = patch.name.orElse(member.name);
  if (patch.email.isPresent) member.email = patch.email.isNull ? null : patch.email.value;
  member.kind = patch.kind.orElse(member.kind);
  member.loansMax = patch.loansMax.orElse(member.loansMax, loansMax(member.kind));
}

/** Whoever joins under this id later has new numbers: an old one must not stand for another loan. */
function successorOf(member: Member): Member {
  const next = new Member();
  next.id = member.id;
  next.lastLoan = member.lastLoan;
  next.lastFee = member.lastFee;
  return next;
}

function request(member: Member, requested: LoanRequested): void {
  member.lastLoan = requested.number;
  member.loans.push({
    number: requested.number,
    isbn: requested.isbn,
    status: LoanStatus.Requested,
    due: requested.due,
    renewals: 0,
    receipt: null,
  });
}

function loanOfNumber(member: Member, number: i32): Loan {
  return member.loans[indexOfLoan(member.loans, number)];
}

function end(member: Member, number: i32): void {
  member.loans.splice(indexOfLoan(member.loans, number), 1);
}

function enter(member: Member, kind: FeeKind, amount: Decimal, at: Date, reason: string): void {
  member.lastFee += 1;
  member.fees.push({
    number: member.lastFee,
    kind: kind,
    amount: amount,
    at: at,
    reason: reason,
    owed: member.owed,
  });
  if (member.fees.length > ENTRIES_MAX) member.fees.shift();
}
