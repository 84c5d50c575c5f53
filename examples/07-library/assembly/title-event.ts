// What happens to a title. These are stored for good; the names in them are the journal's.
import { Description, DescriptionPatch } from "./description";

@data("title-event")
export abstract class TitleEvent {}

@variant("registered")
export class Registered extends TitleEvent {
  shelf: string = "";
  description: Description = new Description();
  copies: i32 = 0;
}

@variant("description-changed")
export class DescriptionChanged extends TitleEvent {
  patch: DescriptionPatch = new DescriptionPatch();
}

@variant("copies-counted")
export class CopiesCounted extends TitleEvent {
  copies: i32 = 0;
}

/**
 * The first version of the library called the member `reader`, and did not number loans. Events of it are in the journals of
 * libraries, and in test/stored-events.jsonl.
 */
@variant("lent")
export class Lent extends TitleEvent {
  @alias("reader") member: string = "";
  @optional loan: i32 = 0;
}

@variant("taken-back")
export class TakenBack extends TitleEvent {
  @alias("reader") member: string = "";
}

@variant("reserved")
export class Reserved extends TitleEvent {
  member: string = "";
  until: Date = new Date(0);
}

/** Whether the member did not want it any more, or its time has passed. */
@variant("reservation-ended")
export class ReservationEnded extends TitleEvent {
  member: string = "";
  lapsed: bool = false;
}
