// Members: who they are, what they may borrow, and what has happened to them.
import { Done, Result } from "@svc/guest-sdk";
import { History, eventsAskedFor, historyOf } from "./history";
import { Join, LibraryMemberClient } from "./member";
import { MemberEvent, MemberPatch } from "./member-event";
import { Member } from "./member-state";

@endpoint("/members/{member}")
@access("internet")
export class MemberEndpoint {
  /** Joins under the number of a library card. Joining once more with the same words changes nothing. */
  @put
  @answers(201)
  join(member: string, input: Join): Result<Member> {
    return new LibraryMemberClient(member)
      .join(input)
      .header("location", `/members/${encodeURIComponent(member)}`);
  }

  @get
  member(member: string): Result<Member> {
    return new LibraryMemberClient(member).get();
  }

  /** Changes what is given; null removes the address, and brings back the usual number of loans. */
  @patch
  change(member: string, patch: MemberPatch): Result<Member> {
    return new LibraryMemberClient(member).change(patch);
  }

  /** Leaves the library. Whoever has books or owes something stays. */
  @del
  leave(member: string): Result<Done> {
    return new LibraryMemberClient(member).leave();
  }

  /** The events of the member, oldest first. */
  @get("/history")
  @bearer(Role.any("librarian"))
  history(member: string, after: u64 = 0, limit: u32 = 20): Result<History<MemberEvent>> {
    const events = new LibraryMemberClient(member).events(after, eventsAskedFor(limit));
    return historyOf(events, limit);
  }
}
