// What follows a received event, after the sender has its answer. A service that needs the solution fetches it here.
import { Consumer, EventContext, Start, Verdict } from "@svc/guest-sdk";
import { DatasetClient } from "./dataset";
import { ReceiptEvent, Received } from "./receipt";

@consumer("results", Start.beginning)
export class Results extends Consumer {
  @on("receipt")
  onReceipt(event: ReceiptEvent, context: EventContext): Verdict {
    if (!(event instanceof Received)) return this.done();
    const report = (event as Received).report;
    const recorded = new DatasetClient(report.id).record(report);
    return recorded.isOk ? this.done() : this.retry(recorded.message);
  }
}
