// The module: what is registered here exists, everything else does not.
import { register } from "@svc/guest-sdk";
import { BankAccount } from "./account";
import { AccountEndpoint, TransferEndpoint } from "./bank-endpoint";
import { MoneyTransfer } from "./transfer";
import { TransferProcess } from "./transfer-process";

register<BankAccount>();
register<MoneyTransfer>();
register<TransferProcess>();
register<AccountEndpoint>();
register<TransferEndpoint>();
