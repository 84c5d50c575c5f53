// The door for svc's own tools, the command line and the test kit: they look at a module or a journal, or run
// a module in their own process, with a journal in memory and a clock and chance of their own. Nothing of it is
// promised to anybody else, whose door is embed.ts.
export {
  admitModule,
  inspectModule,
  type AdmittedModule,
  type ModuleReport,
} from './hosting/wasm/admission.ts';
export { inspectModuleFile } from './module-inspection.ts';
export type { GuestLogLine } from './hosting/wasm/guest-log.ts';
export { startWasmGuest } from './hosting/wasm/wasm-guest.ts';
export { WASM_LIMITS_DEFAULT } from './hosting/wasm/wasm-limits.ts';
export { createEngine, type EntityEngine } from './engine/entity-engine.ts';
export { ENGINE_LIMITS_DEFAULT, developerLimits } from './engine/engine-limits.ts';
export { entityIdProblem } from './engine/entity-id.ts';
export { effectFault, outcomeFault } from './engine/entity/guest-answer.ts';
export type { Chance, Clock } from './engine/needs/clock.ts';
export type { Guest, GuestEntities, GuestEntity, HostCalls } from './engine/needs/guest.ts';
export { MemoryJournal } from './storage/memory-journal.ts';
export { INTERNET, LOCAL, type Caller } from './http/access.ts';
export { InProcessHttp, type InProcessAnswer } from './http/in-process-http.ts';
export { RouteTable } from './http/route-table.ts';
export { requestHandler } from './request-handler.ts';
export type { Awaitable, CallContext, Effect, Metadata, Refusal, Reply } from './model/call.ts';
export type { EntityRef, StoredEvent } from './model/entity.ts';
export { GuestFault } from './model/guest-fault.ts';
export { SvcError } from './model/svc-error.ts';
export {
  inspectJournal,
  type ComponentSummary,
  type EntitySummary,
  type InspectedRecord,
  type JournalInspection,
} from './storage/journal-inspection.ts';
