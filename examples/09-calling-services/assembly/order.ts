// An order: an article at the price of the moment. The price comes with the command, since an entity calls nobody.
import { Code, Effect, EventSourcedEntity } from "@svc/guest-sdk";

@data
export class Place {
  article: string = "";
  cents: i32 = 0;
}

@data
export class OrderState {
  article: string = "";
  cents: i32 = 0;
}

@data("order-event")
export abstract class OrderEvent {}

@variant("placed")
export class Placed extends OrderEvent {
  constructor(
    public article: string,
    public cents: i32,
  ) {
    super();
  }
}

@entity("order")
export class Order extends EventSourcedEntity<OrderState, OrderEvent> {
  empty(entityId: string): OrderState {
    return new OrderState();
  }

  apply(state: OrderState, event: OrderEvent): OrderState {
    if (event instanceof Placed) {
      state.article = (event as Placed).article;
      state.cents = (event as Placed).cents;
    }
    return state;
  }

  @command("place")
  place(state: OrderState, input: Place): Effect<OrderState> {
    if (state.article.length > 0) return this.refuse<OrderState>("it is placed", Code.CONFLICT);
    return this.persist(new Placed(input.article, input.cents)).thenReplyState();
  }
}
