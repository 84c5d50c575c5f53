// A book that a member has, or is about to have: one member, one title, one number.
import { Decimal } from "@svc/guest-sdk";

/**
 * Lending and returning change a member and a title, one after the other. `Requested` and `Returning` say
 * that the title has perhaps not been changed yet: whoever repeats the request, completes it.
 */
@data
export enum LoanStatus {
  Requested,
  Running,
  Returning,
}

/** The reply when a book comes back. */
@data
export class Receipt {
  number: i32 = 0;
  isbn: string = "";
  due: Date = new Date(0);
  returned: Date = new Date(0);
  daysLate: i64 = 0;
  fee: Decimal = new Decimal();
}

@data
export class Loan {
  /** Never used twice for a member, so it tells this loan from every other one of the same book. */
  number: i32 = 0;
  isbn: string = "";
  status: LoanStatus = LoanStatus.Requested;
  due: Date = new Date(0);
  renewals: i32 = 0;
  /** Null until the book is returned. */
  receipt: Receipt | null = null;
}

/** The loan of the title; null when there is none. */
export function loanOf(loans: Loan[], isbn: string): Loan | null {
  for (let i = 0; i < loans.length; ++i) if (loans[i].isbn == isbn) return loans[i];
  return null;
}

/** The index of the loan with this number; -1 when there is none. */
export function indexOfLoan(loans: Loan[], number: i32): i32 {
  for (let i = 0; i < loans.length; ++i) if (loans[i].number == number) return i;
  return -1;
}
