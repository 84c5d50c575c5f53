// The bank over HTTP. A request only begins a transfer or accepts it; the steps follow by themselves.
import { Code, Result, refuse } from "@svc/guest-sdk";
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

@endpoint("/transfers/{id}")
@access("internet")
export class TransferEndpoint {
  @put
  order(id: string, input: TransferOrder): Result<Transfer> {
    return new MoneyTransferClient(id).order(input);
  }

  @post("/acceptance")
  accept(id: string): Result<Transfer> {
    return new MoneyTransferClient(id).accept();
  }

  @get
  get(id: string): Result<Transfer> {
    const transfer = new MoneyTransferClient(id).get();
    if (transfer.isOk && transfer.value.status == Status.none)
      return refuse<Transfer>("there is no transfer " + id, Code.NOT_FOUND);
    return transfer;
  }
}
