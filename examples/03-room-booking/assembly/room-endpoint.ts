// The rooms over HTTP.
import { Done, Response, Result, ok } from "@svc/guest-sdk";
import { BookRoom, Booking, RoomClient } from "./room";

@endpoint("/rooms/{room}/bookings")
@access("internet")
export class RoomEndpoint {
  @get
  list(room: string): Result<Booking[]> {
    return new RoomClient(room).bookings();
  }

  /** A `Result` of a `Response`: 201 with a `location`, or the refusal with its own status. */
  @post
  book(room: string, input: BookRoom): Result<Response<Booking>> {
    const booked = new RoomClient(room).book(input);
    if (!booked.isOk) return booked.refusedAs<Response<Booking>>();
    const booking = booked.value;
    const location = `/rooms/${encodeURIComponent(room)}/bookings/${booking.number}`;
    return ok(new Response<Booking>(booking, 201).header("location", location));
  }

  @get("/{number}")
  booking(room: string, number: i32): Result<Booking> {
    return new RoomClient(room).booking({ number: number });
  }

  @del("/{number}")
  cancel(room: string, number: i32): Result<Done> {
    return new RoomClient(room).cancel({ number: number });
  }
}
