// The receipt of an event: the first delivery of an event writes it, and every other one finds it. Its id is that of the event.
import { Effect, EventSourcedEntity } from "@svc/guest-sdk";
import { Report } from "./webhook-event";

@data
export class ReceiptState {
  isReceived: bool = false;
}

@data("receipt-event")
export abstract class ReceiptEvent {}

@variant("received")
export class Received extends ReceiptEvent {
  constructor(public report: Report) {
    super();
  }
}

@entity("receipt")
export class Receipt extends EventSourcedEntity<ReceiptState, ReceiptEvent> {
  empty(entityId: string): ReceiptState {
    return new ReceiptState();
  }

  apply(state: ReceiptState, event: ReceiptEvent): ReceiptState {
    if (event instanceof Received) state.isReceived = true;
    return state;
  }

  /** Replies whether the event is new. Once the reply leaves, the event is on disk, and the sender may forget it. */
  @command("receive")
  receive(state: ReceiptState, input: Report): Effect<bool> {
    if (state.isReceived) return this.reply(false);
    return this.persist(new Received(input)).thenReply(true);
  }
}
