// The module: what is registered here exists, everything else does not.
import { register } from "@svc/guest-sdk";
import { OfferEndpoint } from "./offer-endpoint";
import { Order } from "./order";
import { OrderEndpoint } from "./order-endpoint";
import { Receipts } from "./receipts";

register<Order>();
register<Receipts>();
register<OfferEndpoint>();
register<OrderEndpoint>();
