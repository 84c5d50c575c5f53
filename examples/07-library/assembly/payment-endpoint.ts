// Reports of a payment service: a member has paid what it owes, somewhere else. Anybody can send a request, so its signature counts.
import { Decimal, Request, Result, refuse, settings, verifyWebhook } from "@svc/guest-sdk";
import { FeeEntry } from "./fee";
import { LibraryMemberClient } from "./member";
import { Settings } from "./settings";

@data
export class PaymentReport {
  member: string = "";
  amount: Decimal = new Decimal();
}

@endpoint("/payment-reports")
@access("internet")
export class PaymentEndpoint {
  /** A report that comes again is entered once: its delivery is the key. */
  @post
  @answers(201)
  report(body: Uint8Array, request: Request): Result<FeeEntry> {
    const verified = verifyWebhook(request, body, [settings<Settings>().paymentKey]);
    if (!verified.isOk) return verified.refusedAs<FeeEntry>();
    const report = verified.value.json<PaymentReport>();
    if (!report.isOk) return report.refusedAs<FeeEntry>();
    const delivery = request.header("x-hook-delivery");
    if (delivery === null) return refuse<FeeEntry>("X-Hook-Delivery: is missing");

    const payer = new LibraryMemberClient(report.value.member);
    payer.withIdempotencyKey(`payment/${encodeURIComponent(delivery)}`);
    return payer.pay({ amount: report.value.amount });
  }
}
