// What happens to a member. These are stored for good; the names in them are the journal's.
import { Decimal, NullablePatch, Patch } from "@svc/guest-sdk";
import { Receipt } from "./loan";
import { MemberKind } from "./membership";

/** The body of a PATCH of a member. Events store it as well: they hold what was changed, and nothing else. */
@data
export class MemberPatch {
  name: Patch<string> = new Patch();
  /** Null removes the address. */
  email: NullablePatch<string> = new NullablePatch();
  kind: Patch<MemberKind> = new Patch();
  /** Null brings back the number that the kind of member has. */
  loansMax: NullablePatch<i32> = new NullablePatch();
}

@data("member-event")
export abstract class MemberEvent {}

@variant("joined")
export class Joined extends MemberEvent {
  name: string = "";
  email: string | null = null;
  kind: MemberKind = MemberKind.Adult;
}

@variant("details-changed")
export class DetailsChanged extends MemberEvent {
  patch: MemberPatch = new MemberPatch();
}

@variant("left")
export class Left extends MemberEvent {}

@variant("loan-requested")
export class LoanRequested extends MemberEvent {
  number: i32 = 0;
  isbn: string = "";
  due: Date = new Date(0);
}

/** The title has given a copy. */
@variant("loan-started")
export class LoanStarted extends MemberEvent {
  number: i32 = 0;
}

/** The title has none to give, so the request is undone. */
@variant("loan-withdrawn")
export class LoanWithdrawn extends MemberEvent {
  number: i32 = 0;
  reason: string = "";
}

@variant("loan-renewed")
export class LoanRenewed extends MemberEvent {
  number: i32 = 0;
  due: Date = new Date(0);
}

@variant("loan-returned")
export class LoanReturned extends MemberEvent {
  receipt: Receipt = new Receipt();
}

/** The title has its copy again. */
@variant("loan-closed")
export class LoanClosed extends MemberEvent {
  number: i32 = 0;
}

@variant("fee-charged")
export class FeeCharged extends MemberEvent {
  amount: Decimal = new Decimal();
  at: Date = new Date(0);
  reason: string = "";
}

@variant("fee-paid")
export class FeePaid extends MemberEvent {
  amount: Decimal = new Decimal();
  at: Date = new Date(0);
}

@variant("fee-waived")
export class FeeWaived extends MemberEvent {
  amount: Decimal = new Decimal();
  at: Date = new Date(0);
  reason: string = "";
}
