// A title of the library: its copies, who has them, and who waits. It never gives more copies than there are.
import {
  Code,
  Context,
  Done,
  Duration,
  Effect,
  EventSourcedEntity,
  Result,
  ok,
  refuse,
  toJson,
} from "@svc/guest-sdk";
import { Description, DescriptionPatch, patched, problemOf } from "./description";
import {
  CopiesCounted,
  DescriptionChanged,
  Lent,
  Registered,
  ReservationEnded,
  Reserved,
  TakenBack,
  TitleEvent,
} from "./title-event";
import {
  Lending,
  TitleState,
  freeCopies,
  indexOfLending,
  isLapsed,
  reservationOf,
  titleAfter,
  waitingBefore,
} from "./title-state";

const COPIES_MAX = 100;
const WAITING_MAX = 50;

/** A reservation counts for so long. */
function patience(): Duration {
  return Duration.ofDays(90);
}

/** The public part of a title, without the members who have it or wait for it. */
@data
export class Title {
  isbn: string = "";
  shelf: string = "";
  description: Description = new Description();
  version: i32 = 0;
  copies: i32 = 0;
  lent: i32 = 0;
  waiting: i32 = 0;
}

@data
export class Registration {
  shelf: string = "";
  description: Description = new Description();
  copies: i32 = 0;
}

@data
export class CopyCount {
  copies: i32 = 0;
}

@data
export class MemberId {
  member: string = "";
}

/** A member's place in the queue: 1 is the first. It can be fetched when there is a free copy for it. */
@data
export class Place {
  member: string = "";
  place: i32 = 0;
  until: Date = new Date(0);
  ready: bool = false;
}

/** Why there is no copy to lend, for programs. */
@data
class Shortage {
  reason: string = "";
  copies: i32 = 0;
  waiting: i32 = 0;
}

@entity("title")
export class LibraryTitle extends EventSourcedEntity<TitleState, TitleEvent> {
  empty(entityId: string): TitleState {
    return new TitleState();
  }

  apply(state: TitleState, event: TitleEvent): TitleState {
    return titleAfter(state, event);
  }

  /** The first registration counts for good. Every other one is answered with what there is. */
  @command("register")
  register(state: TitleState, input: Registration, context: Context): Effect<Title> {
    if (state.registered) return this.reply(this.title(state, context));
    const problem = problemOf(input.description);
    if (problem != "") return this.refuse<Title>(problem);
    if (!isCopyCount(input.copies)) return this.refuse<Title>(COPIES_RULE);
    const registered: Registered = {
      shelf: input.shelf,
      description: input.description,
      copies: input.copies,
    };
    return this.persist(registered).thenReplyFrom(this.title, context);
  }

  @command("change")
  change(state: TitleState, input: DescriptionPatch, context: Context): Effect<Title> {
    if (!state.registered) return this.refuse<Title>(noTitle(context), Code.NOT_FOUND);
    const after = patched(state.description, input);
    const problem = problemOf(after);
    if (problem != "") return this.refuse<Title>(problem);
    if (toJson(after) == toJson(state.description)) return this.reply(this.title(state, context));
    const changed: DescriptionChanged = { patch: input };
    return this.persist(changed).thenReplyFrom(this.title, context);
  }

  @command("count-copies")
  countCopies(state: TitleState, input: CopyCount, context: Context): Effect<Title> {
    if (!state.registered) return this.refuse<Title>(noTitle(context), Code.NOT_FOUND);
    if (!isCopyCount(input.copies)) return this.refuse<Title>(COPIES_RULE);
    if (input.copies < state.lendings.length)
      return this.refuse<Title>(`${state.lendings.length} copies are lent`, Code.CONFLICT);
    if (input.copies == state.copies) return this.reply(this.title(state, context));
    const counted: CopiesCounted = { copies: input.copies };
    return this.persist(counted).thenReplyFrom(this.title, context);
  }

  /** Gives a copy, unless those that there are belong to members who came earlier. */
  @command("lend")
  lend(state: TitleState, input: Lending, context: Context): Effect<Done> {
    if (!state.registered) return this.refuse<Done>(noTitle(context), Code.NOT_FOUND);
    const at = indexOfLending(state, input.member);
    if (at >= 0) {
      if (state.lendings[at].loan == input.loan) return this.reply(new Done());
      return this.refuse<Done>("the member has a copy already", Code.CONFLICT);
    }
    const waiting = waitingBefore(state, input.member, <i64>context.nowMs);
    if (freeCopies(state) <= waiting) {
      const shortage: Shortage = { reason: "no-copy", copies: state.copies, waiting: waiting };
      return this.refuse<Done>("there is no free copy", Code.CONFLICT, toJson(shortage));
    }
    const lent: Lent = { member: input.member, loan: input.loan };
    return this.persist(lent).thenReply(new Done());
  }

  /**
   * Whether a member may keep its copy for longer. It is a command although nothing happens: its answer is kept for a
   * request that is repeated, where a query would be asked anew.
   */
  @command("allow-renewal")
  allowRenewal(state: TitleState, input: MemberId, context: Context): Effect<Done> {
    if (waitingBefore(state, "", <i64>context.nowMs) > 0)
      return this.refuse<Done>("somebody waits for the book", Code.CONFLICT);
    return this.reply(new Done());
  }

  /** Takes the copy of this loan back; does nothing when it is back already. */
  @command("take-back")
  takeBack(state: TitleState, input: Lending): Effect<Done> {
    const at = indexOfLending(state, input.member);
    if (at < 0 || state.lendings[at].loan != input.loan) return this.reply(new Done());
    const back: TakenBack = { member: input.member };
    return this.persist(back).thenReply(new Done());
  }

  /** A member that waits already keeps its place. Reservations that have lapsed make room. */
  @command("reserve")
  reserve(state: TitleState, input: MemberId, context: Context): Effect<Place> {
    if (!state.registered) return this.refuse<Place>(noTitle(context), Code.NOT_FOUND);
    const nowMs = <i64>context.nowMs;
    if (reservationOf(state, input.member, nowMs))
      return this.reply(this.place(state, input, context));
    if (indexOfLending(state, input.member) >= 0)
      return this.refuse<Place>("the member has a copy", Code.CONFLICT);
    if (waitingBefore(state, "", nowMs) >= WAITING_MAX)
      return this.refuse<Place>(`${WAITING_MAX} members wait for it`, Code.CONFLICT);
    const reserved: Reserved = { member: input.member, until: patience().after(new Date(nowMs)) };
    return this.persistAll(endingsOfLapsed(state, nowMs))
      .thenPersist(reserved)
      .thenReplyFrom(this.place, input, context);
  }

  @command("cancel-reservation")
  cancelReservation(state: TitleState, input: MemberId, context: Context): Effect<Done> {
    if (!reservationOf(state, input.member, <i64>context.nowMs))
      return this.refuse<Done>(noReservation(input), Code.NOT_FOUND);
    const ended: ReservationEnded = { member: input.member, lapsed: false };
    return this.persist(ended).thenReply(new Done());
  }

  @query("get")
  get(state: TitleState, context: Context): Result<Title> {
    if (!state.registered) return refuse<Title>(noTitle(context), Code.NOT_FOUND);
    return ok(this.title(state, context));
  }

  @query("lendings")
  lendings(state: TitleState): Lending[] {
    return state.lendings;
  }

  @query("reservations")
  reservations(state: TitleState, context: Context): Place[] {
    const places: Place[] = [];
    for (let i = 0; i < state.reservations.length; ++i) {
      const reservation = state.reservations[i];
      if (isLapsed(reservation, <i64>context.nowMs)) continue;
      places.push(this.place(state, { member: reservation.member }, context));
    }
    return places;
  }

  @query("reservation")
  reservation(state: TitleState, input: MemberId, context: Context): Result<Place> {
    if (!reservationOf(state, input.member, <i64>context.nowMs))
      return refuse<Place>(noReservation(input), Code.NOT_FOUND);
    return ok(this.place(state, input, context));
  }

  private title(state: TitleState, context: Context): Title {
    return {
      isbn: context.entityId,
      shelf: state.shelf,
      description: state.description,
      version: state.version,
      copies: state.copies,
      lent: state.lendings.length,
      waiting: waitingBefore(state, "", <i64>context.nowMs),
    };
  }

  private place(state: TitleState, input: MemberId, context: Context): Place {
    const nowMs = <i64>context.nowMs;
    const before = waitingBefore(state, input.member, nowMs);
    return {
      member: input.member,
      place: before + 1,
      until: reservationOf(state, input.member, nowMs)!.until,
      ready: freeCopies(state) > before,
    };
  }
}

const COPIES_RULE = `copies: must be from 0 to ${COPIES_MAX}`;

function isCopyCount(copies: i32): bool {
  return copies >= 0 && copies <= COPIES_MAX;
}

function endingsOfLapsed(title: TitleState, nowMs: i64): TitleEvent[] {
  const events: TitleEvent[] = [];
  for (let i = 0; i < title.reservations.length; ++i) {
    const reservation = title.reservations[i];
    if (!isLapsed(reservation, nowMs)) continue;
    const ended: ReservationEnded = { member: reservation.member, lapsed: true };
    events.push(ended);
  }
  return events;
}

function noTitle(context: Context): string {
  return `there is no title ${context.entityId}`;
}

function noReservation(input: MemberId): string {
  return `${input.member} has no reservation`;
}
