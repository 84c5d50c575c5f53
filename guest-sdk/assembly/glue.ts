// The names that generated code imports (GLUE_IMPORT of guest-sdk/compiler/written-code.ts).
export { EntityClient, RecordedEvent } from "./client";
export { clone } from "./clone";
export { blank, read, toJson, write } from "./codec";
export { Verdict } from "./consumer";
export { EffectBase, LaterReply } from "./effect";
export { EntityCall } from "./entity";
export { EndpointComponent, HttpCall } from "./http-call";
export { JsonReader } from "./json-reader";
export { JsonWriter } from "./json-writer";
export { addConsumer, addEndpoint, addEntity, addView } from "./registry";
export { Result } from "./result";
export { SourceEvent } from "./source-event";
export { DeferredCall } from "./timer";
export { RowChange } from "./view";
export { FoundRow, Page, RowCount, ViewClient } from "./view-client";
