// The exports of @svc/guest-sdk.
export { clone } from "./clone";
export { checkedAdd, checkedMul, checkedSub, parseF64, parseI32, parseI64 } from "./checked";
export { Code, Refusal } from "./code";
export { toJson } from "./codec";
export { EntityClient, RecordedEvent } from "./client";
export { Context } from "./context";
export { Change, Effect } from "./effect";
export { Decimal, RoundingMode } from "./decimal";
export { Duration } from "./duration";
export { EventSourcedEntity } from "./entity";
export { Done } from "./done";
export { Request, Response } from "./http";
export { Header } from "./http-answer";
export { NullablePatch, Patch } from "./patch";
export { register } from "./registry";
export { Result, ok, refuse } from "./result";
export { DeferredCall, Due } from "./timer";
export { Timers } from "./timers";
