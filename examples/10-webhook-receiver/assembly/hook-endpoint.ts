// Where deliveries arrive. The body is taken as bytes, since those are signed, and parsed once they are verified.
import { Request, Result, ok, verifyWebhook } from "@svc/guest-sdk";
import { Receipt, ReceiptClient } from "./receipt";
import { SECRETS } from "./secrets";
import { DatasetEvent, WebhookEvent } from "./webhook-event";

@endpoint("/hooks")
@access("internet")
export class HookEndpoint {
  @post()
  receive(request: Request, body: Uint8Array): Result<string> {
    const verified = verifyWebhook(request, body, SECRETS);
    if (!verified.isOk) return verified.refusedAs<string>();

    const event = verified.value.json<WebhookEvent>();
    if (!event.isOk) return event.refusedAs<string>();
    // Anything but 2xx would have the sender repeat an event that nobody here wants.
    if (!event.value.type.startsWith("dataset.")) return ok("ignored");

    const changed = verified.value.json<DatasetEvent>();
    if (!changed.isOk) return changed.refusedAs<string>();
    const isNew = new ReceiptClient(changed.value.id).receive(changed.value.data);
    if (!isNew.isOk) return isNew.refusedAs<string>();
    return ok(isNew.value ? "received" : "repeated");
  }
}
