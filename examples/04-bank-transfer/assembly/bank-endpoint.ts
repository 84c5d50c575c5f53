// The bank over HTTP. A transfer is three durable steps, and the process may die between any two:
// the caller repeats the request, and every step that was done answers as it did the first time.
import { Code, Result, ok, refuse } from "@svc/guest-sdk";
import { Account, BankAccountClient, OpenAccount } from "./account";
import { MoneyTransferClient, Status, Transfer, TransferOrder } from "./transfer";

@endpoint("/accounts")
@access("internet")
export class AccountEndpoint {
  @put("/{id}")
  open(id: string, input: OpenAccount): Result<Account> {
    return new BankAccountClient(id).open(input);
  }

  @get("/{id}")
  get(id: string): Result<Account> {
    return new BankAccountClient(id).get();
  }
}

@endpoint("/transfers")
@access("internet")
export class TransferEndpoint {
  @get("/{id}")
  get(id: string): Result<Transfer> {
    return new MoneyTransferClient(id).get();
  }

  /** Begins a transfer, or goes on with one that was cut. A step without an answer is passed on: 503, 504. */
  @put("/{id}")
  run(id: string, order: TransferOrder): Result<Transfer> {
    const transfer = new MoneyTransferClient(id);
    const begun = transfer.begin(order);
    if (!begun.isOk) return begun;
    if (begun.value.status != Status.running) return answer(begun.value);

    const from = new BankAccountClient(order.from);
    const withdrawal = from.withdraw({ transfer: id, cents: order.cents });
    if (!withdrawal.isOk) return withdrawal.refusedAs<Transfer>();
    let declined = withdrawal.value.declined;

    if (declined == "") {
      const deposit = new BankAccountClient(order.to).deposit({ transfer: id, cents: order.cents });
      if (!deposit.isOk) return deposit.refusedAs<Transfer>();
      declined = deposit.value.declined;
      if (declined != "") {
        const refund = from.refund({ transfer: id, reason: declined });
        if (!refund.isOk) return refund.refusedAs<Transfer>();
      }
    }

    const ended = transfer.end({ declined: declined });
    return ended.isOk ? answer(ended.value) : ended;
  }
}

function answer(transfer: Transfer): Result<Transfer> {
  if (transfer.status == Status.declined) return refuse<Transfer>(transfer.reason, Code.CONFLICT);
  return ok(transfer);
}
