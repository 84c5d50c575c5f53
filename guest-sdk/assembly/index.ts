// @svc/guest-sdk: what a user imports.
export { Code, Refusal } from "./code";
export { EntityClient, RecordedEvent } from "./client";
export { Context } from "./context";
export { Change, Effect } from "./effect";
export { EventSourcedEntity } from "./entity";
export { Header, Request, Response } from "./http";
export { register } from "./registry";
export { Done, Result, ok, refuse } from "./result";
