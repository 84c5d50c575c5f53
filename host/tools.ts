// The entry point for svc's own tools: the command line and the test kit. They examine a module or a journal, or run
// a module in their own process, with a journal in memory and a clock and random numbers of their own. This
// interface is internal; the public one is embed.ts.
export {
  admitModule,
  inspectModule,
  type ModuleReport,
} from './hosting/wasm/admission/admission.ts';
export { type GuestSource, type HostingSettings, wasmSource } from './hosting/guest-source.ts';
export { readProgram } from './hosting/program/program-source.ts';
export { isProcessAddress, PROCESS_ADDRESS_WORDS } from './hosting/process/process-address.ts';
export { commandWords } from './hosting/process/command-words.ts';
export { ProcessChild } from './hosting/process/process-child.ts';
export { type GuestStarter, guestStarter } from './hosting/start-guest.ts';
export { type FaultLocator, sourceLocations } from './hosting/source-locations.ts';
export type { FromDevHost, ToDevHost } from './dev/dev-messages.ts';
export {
  admitFileToRun,
  inspectModuleFile,
  type InspectedModule,
  type SettingsToRun,
  viewDefinitionsOf,
} from './service/module-inspection.ts';
export { readProcessAt, readStartingProcess } from './service/process-inspection.ts';
export type { GuestLogLine } from '@svc/model/guest-log';
export { WASM_LIMITS_DEFAULT } from './hosting/wasm/wasm-limits.ts';
export { createEngine, type EntityEngine } from './engine/entity-engine.ts';
export { ENGINE_LIMITS_DEFAULT, developerLimits } from './engine/engine-limits.ts';
export { entityIdProblem } from './engine/entity-id.ts';
export { replyTo } from './engine/entity/applied-effect.ts';
export {
  effectFault,
  outcomeFault,
  storable,
  timerFault,
  timersTooLarge,
} from './engine/entity/guest-answer.ts';
export type { RandomSource, Clock } from './engine/needs/clock.ts';
export type { Guest, GuestEntities, GuestEntity, HostCalls } from '@svc/model/guest';
export { componentsOf } from './engine/entity/component-table.ts';
export { type TimerProblem, TimerRules, timerWrite } from './engine/entity/timer-rules.ts';
export type { FiringOutcome } from './engine/firing.ts';
export { TIMER_SETTINGS_DEFAULT } from './engine/timer-settings.ts';
export type { FiringEnd, StoredTimer } from './engine/needs/timers.ts';
export { TIMER_LIMITS_DEFAULT } from '@svc/model/timer-limits';
export { Occurrences } from './schedule/occurrences.ts';
export { MemoryJournal } from './storage/memory/memory-journal.ts';
export { MemoryTimers } from './storage/memory/memory-timers.ts';
export type { RequestPrincipal, RequestTokens } from './http/bearer.ts';
export { GATEWAY, INTERNET, LOCAL, type Caller } from './http/access.ts';
export { CORS_SETTINGS_DEFAULT, type CorsSettings } from './http/cors-settings.ts';
export { InProcessHttp, type InProcessAnswer } from './http/in-process-http.ts';
export { HTTP_SETTINGS_DEFAULT } from './http/http-settings.ts';
export { RequestLimits } from './http/request-limits.ts';
export { RouteTable } from './http/route-table.ts';
export { type HandleEvent, eventHandler } from './http/requests/event-handler.ts';
export { requestHandler } from './http/requests/request-handler.ts';
export type { QueriedViews } from './http/requests/request-finds.ts';
export { EVENT_PARKED, EVENT_SKIPPED } from './consumers/consumer-log.ts';
export { CONSUMER_SETTINGS_DEFAULT } from './consumers/consumer-settings.ts';
export { type DeliveredEvent, type DeliveryOutcome, deliveredEvent } from './consumers/delivery.ts';
export { deliverEvent } from './service/event-delivery.ts';
export { ProcessViews } from './service/process-views.ts';
export type { FeedRecord } from './engine/needs/feed.ts';
export { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
export { MemoryFeed, StoredOrder } from './storage/memory/memory-feed.ts';
export { MemoryViews } from './storage/memory/memory-views.ts';
export type { FoldedView } from './views/folded-view.ts';
export { declaredViews } from './views/view-definitions.ts';
export { ViewFold } from './views/view-fold.ts';
export { ViewStopped } from './views/view-stopped.ts';
export { deletesEntity } from '@svc/model/call';
export type { Awaitable, CallContext, Effect, Metadata, Refusal, Reply } from '@svc/model/call';
export type { EndpointResponse } from '@svc/model/endpoint';
export type { CalledServices, ServiceRequest, ServiceResponse } from '@svc/model/service-call';
export { CALL_SETTINGS_DEFAULT } from './service-calls/call-settings.ts';
export { outgoingRequest } from './service-calls/outgoing-request.ts';
export { unfoundService } from './service-calls/service-exchange.ts';
export type { EntityRef, StoredEvent } from '@svc/model/entity';
export type { Due, TimerChange } from '@svc/model/timer';
export { CurrentConfiguration } from '@svc/model/configuration';
export { gatherConfiguration } from './configuration/configuration-values.ts';
export { GuestFault } from '@svc/model/guest-fault';
export { COUNT_PREFIX, KEY_QUERY } from '@svc/model/view';
export { SvcError } from '@svc/kit/svc-error';
export {
  journalIn,
  journalInDatabase,
  type JournalInDatabase,
  type JournalLocation,
} from './storage/journal-location.ts';
export type {
  ComponentSummary,
  EntitySummary,
  InspectedRecord,
  JournalInspection,
} from './storage/journal-inspection.ts';
export type { InspectedCluster, InspectedNode } from './storage/cluster-inspection.ts';
export {
  inspectCluster,
  inspectConsumers,
  inspectJournal,
  inspectTimers,
} from './storage/journal-reading.ts';
export {
  EntityHistory,
  type HistoryStep,
  type PastState,
  type WhatIfOutcome,
} from './history/entity-history.ts';
export type { HistoryPoint } from './history/incarnation-at.ts';
export type { StateChange, StateChanges } from './history/state-changes.ts';
export { systemDigest } from './system.ts';
export type {
  JournalScan,
  RecordFilter,
  ScannedDamage,
  ScannedRecord,
  ScanPosition,
} from './storage/journal-scan.ts';
export {
  copyJournal,
  exportJournal,
  importJournal,
  scanJournal,
  TEXT_HEAD,
  textChecksum,
  textEnd,
  verifyJournal,
} from './storage/journal-tools.ts';
export {
  changeFolder,
  inspectViews,
  type ControlRequest,
  type FolderChange,
} from './service/folder-control.ts';
export type {
  ConsumerInspection,
  InspectedConsumer,
  LaneFilter,
  LanePage,
  TimerFilter,
  TimerInspection,
  TimerPage,
} from './storage/work-inspection.ts';
export { type InspectedView, ViewInspection } from './history/view-inspection.ts';
export type { ViewStatus } from '@svc/model/view-status';
export { RETRIED_AT_ONCE_MAX, type StoredLane } from './engine/needs/consumers.ts';
export type { RowPage } from '@svc/model/view';
export type { JournalFinding, VerificationResult } from './storage/verification-step.ts';
export { type Incarnation, incarnationOf } from './engine/entity/incarnation.ts';
export { faultLine } from './history/fault-line.ts';
export { FOLD_VARIANTS, type PurityFinding } from './history/purity-finding.ts';
export { PurityVerification, verifiedStarter } from './history/purity-verification.ts';
export { atOnce } from './history/steps.ts';
export { type VerifiedEntity, verifyModule } from './history/module-verification.ts';
export { type PreparedView, prepareViews } from './service/view-preparation.ts';
export { VIEW_CHECKS, type VerifiedView, verifyViews } from './history/view-verification.ts';
export { checkUpgrade, type UpgradeAnswer } from './history/upgrade-check.ts';
export { checkRollingUpgrade, type RollingAnswer } from './history/rolling-upgrade.ts';
export { ALLOWABLE_NAMES, type Finding, isAllowed } from './history/upgrade-finding.ts';
