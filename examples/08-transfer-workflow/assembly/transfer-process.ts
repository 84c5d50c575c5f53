// What happens after each step of a transfer. Each step ends with a command of the transfer, whose event is the next step. A
// process that is killed in between handles the event again; the calls that it has made then get their first answers.
import { Consumer, EventContext, Start, Verdict } from "@svc/guest-sdk";
import { BankAccountClient, Booking } from "./account";
import { Accepted, Ended, Failed, MoneyTransferClient, Ordered, Status, TransferEvent, TransferOrder } from "./transfer";

@consumer("transfer-process", Start.beginning)
export class TransferProcess extends Consumer {
  @on("transfer")
  onTransfer(event: TransferEvent, context: EventContext): Verdict {
    const id = context.entityId;
    if (event instanceof Ordered) return this.fund(id, (event as Ordered).order);
    if (event instanceof Accepted) return this.deposit(id, event as Accepted);
    if (event instanceof Failed) return this.giveBack(id, event as Failed);
    return this.done();
  }

  private fund(id: string, order: TransferOrder): Verdict {
    const withdrawn = new BankAccountClient(order.from).withdraw({ transfer: id, cents: order.cents });
    if (!withdrawn.isOk) return this.retry(withdrawn.message);
    const declined = withdrawn.value.declined;
    const transfer = new MoneyTransferClient(id);
    const next = declined == "" ? transfer.fund() : transfer.end(new Ended(Status.declined, declined));
    return next.isOk ? this.done() : this.retry(next.message);
  }

  private deposit(id: string, accepted: Accepted): Verdict {
    const booking: Booking = { transfer: id, cents: accepted.cents };
    const deposited = new BankAccountClient(accepted.to).deposit(booking);
    if (!deposited.isOk) return this.retry(deposited.message);
    const declined = deposited.value.declined;
    const transfer = new MoneyTransferClient(id);
    const next = declined == "" ? transfer.end(new Ended(Status.completed, "")) : transfer.reject(declined);
    return next.isOk ? this.done() : this.retry(next.message);
  }

  /** The compensation. The first account gave the money, so it takes it back. */
  private giveBack(id: string, failed: Failed): Verdict {
    const booking: Booking = { transfer: id, cents: failed.cents };
    const deposited = new BankAccountClient(failed.from).deposit(booking);
    if (!deposited.isOk) return this.retry(deposited.message);
    const ended = new MoneyTransferClient(id).end(new Ended(Status.returned, failed.reason));
    return ended.isOk ? this.done() : this.retry(ended.message);
  }
}
