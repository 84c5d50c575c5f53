// A title as it is right now, with its copies and who waits for one, and what each event makes of it.
import { Description, patched } from "./description";
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

/** The member who has a copy, and by which of its loans. */
@data
export class Lending {
  member: string = "";
  loan: i32 = 0;
}

@data
export class Reservation {
  member: string = "";
  /** From then on it counts for nothing. */
  until: Date = new Date(0);
}

@data
export class TitleState {
  registered: bool = false;
  shelf: string = "";
  description: Description = new Description();
  /** Counts the changes of the description, so that a shelf knows an older one from a newer one. */
  version: i32 = 0;
  copies: i32 = 0;
  lendings: Lending[] = [];
  /** Reservations in the order of arrival: the first is served first. */
  reservations: Reservation[] = [];
}

/** The title after the event. The given one is changed and returned. */
export function titleAfter(title: TitleState, event: TitleEvent): TitleState {
  if (event instanceof Registered) {
    const registered = event as Registered;
    title.registered = true;
    title.shelf = registered.shelf;
    title.description = registered.description;
    title.copies = registered.copies;
  } else if (event instanceof DescriptionChanged) {
    title.description = patched(title.description, (event as DescriptionChanged).patch);
    title.version += 1;
  } else if (event instanceof CopiesCounted) {
    title.copies = (event as CopiesCounted).copies;
  } else if (event instanceof Lent) {
    const lent = event as Lent;
    title.lendings.push({ member: lent.member, loan: lent.loan });
    dropReservation(title, lent.member);
  } else if (event instanceof TakenBack) {
    const at = indexOfLending(title, (event as TakenBack).member);
    if (at >= 0) title.lendings.splice(at, 1);
  } else if (event instanceof Reserved) {
    const reserved = event as Reserved;
    dropReservation(title, reserved.member);
    title.reservations.push({ member: reserved.member, until: reserved.until });
  } else if (event instanceof ReservationEnded) {
    dropReservation(title, (event as ReservationEnded).member);
  }
  return title;
}

/** The index of what the member has; -1 when it has no copy. */
export function indexOfLending(title: TitleState, member: string): i32 {
  for (let i = 0; i < title.lendings.length; ++i) if (title.lendings[i].member == member) return i;
  return -1;
}

export function freeCopies(title: TitleState): i32 {
  return title.copies - title.lendings.length;
}

/** How many have a reservation; before that of the member, when it has one. */
export function waitingBefore(title: TitleState, member: string, nowMs: i64): i32 {
  let count = 0;
  for (let i = 0; i < title.reservations.length; ++i) {
    const reservation = title.reservations[i];
    if (isLapsed(reservation, nowMs)) continue;
    if (reservation.member == member) break;
    count += 1;
  }
  return count;
}

export function isLapsed(reservation: Reservation, nowMs: i64): bool {
  return reservation.until.getTime() <= nowMs;
}

/** The reservation of the member that still counts; null when there is none. */
export function reservationOf(title: TitleState, member: string, nowMs: i64): Reservation | null {
  for (let i = 0; i < title.reservations.length; ++i) {
    const reservation = title.reservations[i];
    if (reservation.member == member && !isLapsed(reservation, nowMs)) return reservation;
  }
  return null;
}

function dropReservation(title: TitleState, member: string): void {
  for (let i = 0; i < title.reservations.length; ++i)
    if (title.reservations[i].member == member) {
      title.reservations.splice(i, 1);
      return;
    }
}
