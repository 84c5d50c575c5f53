// The rules of lending: for how long, how many at a time, and what a day too late costs.
import { Decimal, Duration, RoundingMode } from "@svc/guest-sdk";

const CENTS_SCALE = 2;

@data
export enum MemberKind {
  Adult,
  Student,
  Child,
}

/** The largest debt with which a member may borrow. */
export function owedMax(): Decimal {
  return Decimal.fromI64(1000, CENTS_SCALE);
}

export function nothing(): Decimal {
  return Decimal.fromI64(0, CENTS_SCALE);
}

export function loanPeriod(kind: MemberKind): Duration {
  return Duration.ofDays(kind == MemberKind.Student ? 56 : 28);
}

export function loansMax(kind: MemberKind): i32 {
  return kind == MemberKind.Child ? 5 : 10;
}

/** Students pay half of what adults pay, children nothing. */
function feePerDayOf(kind: MemberKind, feePerDay: Decimal): Decimal {
  switch (kind) {
    case MemberKind.Adult:
      return feePerDay;
    case MemberKind.Student:
      return feePerDay.multiply(Decimal.fromI64(5, 1));
    default:
      return nothing();
  }
}

/** The days that have begun since a book was due; 0 when it is not late. */
export function daysLate(due: Date, returned: Date): i64 {
  const late = Duration.between(due, returned);
  if (late.isNegative) return 0;
  const day = Duration.ofDays(1).ms;
  return (late.ms + day - 1) / day;
}

/** The fee for these days, exact to the cent: a half is rounded to the even one. `feePerDay`: that of an adult. */
export function lateFee(kind: MemberKind, days: i64, feePerDay: Decimal): Decimal {
  return feePerDayOf(kind, feePerDay)
    .multiply(Decimal.fromI64(days))
    .round(CENTS_SCALE, RoundingMode.HALF_EVEN);
}

/** Whether somebody can pay this: more than nothing, and no fraction of a cent. */
export function isPayable(amount: Decimal): bool {
  return !amount.isNegative && !amount.isZero && amount.scale <= CENTS_SCALE;
}
