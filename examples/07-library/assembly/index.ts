// The module: what is registered here exists, everything else does not.
import { register } from "@svc/guest-sdk";
import { FeeEndpoint } from "./fee-endpoint";
import { LoanEndpoint } from "./loan-endpoint";
import { LibraryMember } from "./member";
import { MemberEndpoint } from "./member-endpoint";
import { PaymentEndpoint } from "./payment-endpoint";
import { Shelf } from "./shelf";
import { ShelfEndpoint } from "./shelf-endpoint";
import { LibraryTitle } from "./title";
import { TitleEndpoint } from "./title-endpoint";

register<Shelf>();
register<LibraryTitle>();
register<LibraryMember>();
register<ShelfEndpoint>();
register<TitleEndpoint>();
register<MemberEndpoint>();
register<LoanEndpoint>();
register<FeeEndpoint>();
register<PaymentEndpoint>();
