// Lending and returning. Both change a member and a title, in steps of which each is durable, and the process may die
// between any two: whoever got no answer repeats the request, and what was done is not done again.
import { Code, Request, Result, refuse, settings } from "@svc/guest-sdk";
import { Loan, LoanStatus, Receipt } from "./loan";
import { LibraryMemberClient } from "./member";
import { KEY_MISSING, hasKey } from "./repeat-key";
import { Settings } from "./settings";
import { LibraryTitleClient } from "./title";

@endpoint("/members/{member}/loans")
@access("internet")
export class LoanEndpoint {
  /** The books that a member has. */
  @get
  loans(member: string, dueBefore: Date | null, overdue: bool = false): Result<Loan[]> {
    return new LibraryMemberClient(member).loans({ dueBefore: dueBefore, overdue: overdue });
  }

  @get("/{isbn}")
  loan(member: string, isbn: string): Result<Loan> {
    return new LibraryMemberClient(member).findLoan({ isbn: isbn });
  }

  /** Lends a title: 201, or 200 when the member has it already. */
  @put("/{isbn}")
  @answers(201, 200)
  lend(member: string, isbn: string): Result<Loan> {
    const reader = new LibraryMemberClient(member);
    const requested = reader.requestLoan({ isbn: isbn });
    if (!requested.isOk) return requested;
    const loan = requested.value;
    if (loan.status != LoanStatus.Requested) return requested.withStatus(200);

    const title = new LibraryTitleClient(isbn);
    // One answer for each loan: of two who ask at the same time, none is refused and undone when the other one has it.
    title.withIdempotencyKey(`loan/${encodeURIComponent(member)}/${loan.number}`);
    const lent = title.lend({ member: member, loan: loan.number });
    if (!lent.isOk) return undo(reader, loan, lent.refusedAs<Loan>());

    const started = reader.startLoan({ number: loan.number });
    return started.header("location", `/members/${encodeURIComponent(member)}/loans/${isbn}`);
  }

  /** Renews a loan from today on, unless somebody waits for the book. */
  @post("/{isbn}/renewals")
  renew(member: string, isbn: string, request: Request): Result<Loan> {
    if (!hasKey(request)) return refuse<Loan>(KEY_MISSING);
    const allowed = new LibraryTitleClient(isbn).allowRenewal({ member: member });
    if (!allowed.isOk) return allowed.refusedAs<Loan>();
    return new LibraryMemberClient(member).renewLoan({ isbn: isbn });
  }

  /** Returns a book, and answers what it costs. */
  @del("/{isbn}")
  return(member: string, isbn: string): Result<Receipt> {
    const reader = new LibraryMemberClient(member);
    const returned = reader.returnLoan({ isbn: isbn, feePerDay: settings<Settings>().feePerDay });
    if (!returned.isOk) return returned;
    const number = returned.value.number;

    const back = new LibraryTitleClient(isbn).takeBack({ member: member, loan: number });
    if (!back.isOk) return back.refusedAs<Receipt>();
    const closed = reader.closeLoan({ number: number });
    return closed.isOk ? returned : closed.refusedAs<Receipt>();
  }
}

/**
 * What the caller is told when the title gives no copy. A "no" of the title is undone at the member, and passed on. A
 * call without an answer is not undone, since the title has perhaps given the copy: 503 or 504 make the caller repeat
 * the request, which then completes the loan. The same holds when the undoing has no answer: a 409 would say that all
 * is as it was before.
 */
function undo(reader: LibraryMemberClient, loan: Loan, refused: Result<Loan>): Result<Loan> {
  if (refused.code == Code.OTHER) return refused;
  const undone = reader.withdrawLoan({ number: loan.number, reason: refused.message });
  return undone.isOk ? refused : undone.refusedAs<Loan>();
}
