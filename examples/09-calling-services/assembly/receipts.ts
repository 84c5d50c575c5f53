// Mails a receipt for each order, through the site.
import { Consumer, Done, EventContext, ServiceClient, Start, Verdict, toJson } from "@svc/guest-sdk";
import { OrderEvent, Placed } from "./order";

@consumer("receipts", Start.beginning)
export class Receipts extends Consumer {
  @on("order")
  onOrder(event: OrderEvent, context: EventContext): Verdict {
    if (!(event instanceof Placed)) return this.done();
    const key = "receipt-" + encodeURIComponent(context.entityId) + "-" + context.seq.toString();
    const reply = new ServiceClient("site")
      .header("idempotency-key", key)
      .post<Done>("/receipts", toJson(event as Placed));
    if (reply.isOk) return this.done();
    // Another attempt helps if the site did not answer, and not if it refuses.
    if (reply.status == 0 || reply.status >= 500) return this.retry(reply.message);
    return this.refuse(reply.message);
  }
}
