// Orders: the endpoint asks for the price, and gives it to the entity.
import { Result } from "@svc/guest-sdk";
import { priceOf } from "./offer-endpoint";
import { OrderClient, OrderState, Place } from "./order";

@endpoint("/orders")
@access("internet")
export class OrderEndpoint {
  @put("/{id}/{article}")
  place(id: string, article: string): Result<OrderState> {
    const price = priceOf(article);
    if (!price.isOk) return price.refusedAs<OrderState>();
    const input: Place = { article: article, cents: price.value.cents };
    return new OrderClient(id).place(input);
  }
}
