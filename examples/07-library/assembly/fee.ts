// The fees of a member: what was charged, what was paid, and what is still owed.
import { Decimal } from "@svc/guest-sdk";

/** A member keeps so many entries; the older ones are in its history. */
export const ENTRIES_MAX = 50;

@data
export enum FeeKind {
  Charged,
  Paid,
  Waived,
}

@data
export class FeeEntry {
  number: i32 = 0;
  kind: FeeKind = FeeKind.Charged;
  amount: Decimal = new Decimal();
  at: Date = new Date(0);
  /** The reason of the fee; empty for a payment. */
  reason: string = "";
  /** The amount that the member owed afterwards. */
  owed: Decimal = new Decimal();
}
