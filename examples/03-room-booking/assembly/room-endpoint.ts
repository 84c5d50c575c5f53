// The rooms over HTTP.
import { Done, Result } from "@svc/guest-sdk";
import { BookRoom, Booking, RoomClient } from "./room";

@endpoint("/rooms/{room}/bookings")
@access("internet")
export class RoomEndpoint {
  @get
  list(room: string): Result<Booking[]> {
    return new RoomClient(room).bookings();
  }

  /** 201 with a `location`; a refusal has its own status. */
  @post
  book(room: string, input: BookRoom): Result<Booking> {
    const booked = new RoomClient(room).book(input);
    if (!booked.isOk) return booked;
    const location = `/rooms/${encodeURIComponent(room)}/bookings/${booked.value.number}`;
    return booked.withStatus(201).header("location", location);
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
