// A room and its bookings: no two at the same time, and a refusal that says why.
import { Code, Context, Done, Effect, EventSourcedEntity, Result, ok, refuse } from "@svc/guest-sdk";

const LONGEST_MS: i64 = 8 * 60 * 60 * 1000;

@data
export class BookRoom {
  guest: string = "";
  from: Date = new Date(0);
  until: Date = new Date(0);
}

@data
export class Booking {
  number: i32 = 0;
  guest: string = "";
  from: Date = new Date(0);
  until: Date = new Date(0);
}

@data
export class BookingNumber {
  number: i32 = 0;
}

@data
export class RoomState {
  bookings: Booking[] = [];
  /** A number is never used twice: who has an old one must not cancel somebody else's booking. */
  lastNumber: i32 = 0;
}

@data("room-event")
export abstract class RoomEvent {}

@variant("booked")
export class Booked extends RoomEvent {
  constructor(public booking: Booking) {
    super();
  }
}

@variant("cancelled")
export class Cancelled extends RoomEvent {
  constructor(public number: i32) {
    super();
  }
}

@entity("room")
export class Room extends EventSourcedEntity<RoomState, RoomEvent> {
  empty(entityId: string): RoomState {
    return new RoomState();
  }

  apply(state: RoomState, event: RoomEvent): RoomState {
    if (event instanceof Booked) {
      const booking = (event as Booked).booking;
      state.bookings.push(booking);
      state.lastNumber = booking.number;
    } else if (event instanceof Cancelled) {
      state.bookings.splice(indexOf(state.bookings, (event as Cancelled).number), 1);
    }
    return state;
  }

  @command("book")
  book(state: RoomState, input: BookRoom, context: Context): Effect<Booking> {
    const from = input.from.getTime();
    const until = input.until.getTime();
    if (input.guest.trim().length == 0) return this.refuse<Booking>("guest: must not be empty");
    if (until <= from) return this.refuse<Booking>("until: must be after `from`");
    if (until - from > LONGEST_MS)
      return this.refuse<Booking>("until: must be within 8 hours of `from`", Code.UNPROCESSABLE);
    if (from < <i64>context.nowMs)
      return this.refuse<Booking>("from: must not be in the past", Code.UNPROCESSABLE);

    for (let i = 0; i < state.bookings.length; ++i) {
      const other = state.bookings[i];
      if (from < other.until.getTime() && other.from.getTime() < until)
        return this.refuse<Booking>(
          "the room is taken then",
          Code.CONFLICT,
          `{"reason":"room-taken","until":"${other.until.toISOString()}"}`,
        );
    }
    const booking: Booking = {
      number: state.lastNumber + 1,
      guest: input.guest,
      from: input.from,
      until: input.until,
    };
    return this.persist(new Booked(booking)).thenReply(booking);
  }

  @command("cancel")
  cancel(state: RoomState, input: BookingNumber): Effect<Done> {
    if (indexOf(state.bookings, input.number) < 0)
      return this.refuse<Done>(`there is no booking ${input.number}`, Code.NOT_FOUND);
    return this.persist(new Cancelled(input.number)).thenReply(new Done());
  }

  @query("bookings")
  bookings(state: RoomState): Booking[] {
    return state.bookings;
  }

  @query("booking")
  booking(state: RoomState, input: BookingNumber): Result<Booking> {
    const at = indexOf(state.bookings, input.number);
    if (at < 0)
      return refuse<Booking>(`there is no booking ${input.number}`, Code.NOT_FOUND);
    return ok(state.bookings[at]);
  }
}

function indexOf(bookings: Booking[], number: i32): i32 {
  for (let i = 0; i < bookings.length; ++i) if (bookings[i].number == number) return i;
  return -1;
}
