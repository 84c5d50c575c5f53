// What the operator of the library sets. Entities do not read it: what they need comes with their commands.
import { Decimal } from "@svc/guest-sdk";

@configuration
export class Settings {
  /** The fee of an adult for each day too late. Students pay half of it, children nothing. */
  feePerDay: Decimal;
  /** The key by which a payment service signs its reports. */
  @secret paymentKey: string;
}
