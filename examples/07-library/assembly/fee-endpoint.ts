// Fees: what a member owes, and how it gets rid of it.
import { Request, Result, refuse } from "@svc/guest-sdk";
import { FeeEntry } from "./fee";
import { LibraryMemberClient, Payment, Waiver } from "./member";
import { KEY_MISSING, hasKey } from "./repeat-key";

@endpoint("/members/{member}")
@access("internet")
export class FeeEndpoint {
  /** The last entries, oldest first. */
  @get("/fees")
  fees(member: string, since: Date | null, before: Date | null): Result<FeeEntry[]> {
    return new LibraryMemberClient(member).fees({ since: since, before: before });
  }

  @get("/fees/{number}")
  fee(member: string, number: i32): Result<FeeEntry> {
    return new LibraryMemberClient(member).fee({ number: number });
  }

  /** Pays some of what is owed. */
  @post("/payments")
  @answers(201)
  pay(member: string, payment: Payment, request: Request): Result<FeeEntry> {
    if (!hasKey(request)) return refuse<FeeEntry>(KEY_MISSING);
    return entered(member, new LibraryMemberClient(member).pay(payment));
  }

  /** Waives some of what is owed: for librarians. */
  @post("/waivers")
  @bearer(Role.any("librarian"))
  @answers(201)
  waive(member: string, waiver: Waiver, request: Request): Result<FeeEntry> {
    if (!hasKey(request)) return refuse<FeeEntry>(KEY_MISSING);
    return entered(member, new LibraryMemberClient(member).waive(waiver));
  }
}

function entered(member: string, entry: Result<FeeEntry>): Result<FeeEntry> {
  if (!entry.isOk) return entry;
  return entry.header(
    "location",
    `/members/${encodeURIComponent(member)}/fees/${entry.value.number}`,
  );
}
