// The entry point for programs that use the host as a library. Its exports are a stable public interface.
// Programs define entities and endpoints in TypeScript, and createService runs them in the program's own process, with
// the engine, the journal, the HTTP server and the introspection that `svc run` has.
export { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
export { GuestFault } from './model/guest-fault.ts';
export { defineEntity } from './hosting/embedded/entity-definition.ts';
export type { EntityDefinition } from './hosting/embedded/entity-definition.ts';
export type {
  Change,
  CommandContext,
  Effect,
  QueryContext,
  ReadonlyDeep,
} from './hosting/embedded/entity-context.ts';
export type { Components } from './hosting/embedded/components.ts';
export { Due } from './hosting/embedded/due.ts';
export type { DeferredCall } from './hosting/embedded/deferred-call.ts';
export type { Schedule } from './hosting/embedded/schedule.ts';
export { callOf } from './hosting/embedded/deferred-calls.ts';
export type { DeferredCalls } from './hosting/embedded/deferred-calls.ts';
export type { TimerOptions } from './hosting/embedded/timer-change.ts';
export { defineView } from './hosting/embedded/view-definition.ts';
export type { FoldContext, RowChange, ViewDefinition } from './hosting/embedded/view-definition.ts';
export type { FoundRow, Page, RowCount, ViewClient } from './hosting/embedded/view-client.ts';
export { defineConsumer } from './hosting/embedded/consumer-definition.ts';
export type {
  ConsumerContext,
  ConsumerDefinition,
  Verdict,
} from './hosting/embedded/consumer-definition.ts';
export type { EventContext } from './hosting/embedded/event-source.ts';
export type { Timers } from './hosting/embedded/calling-context.ts';
export type {
  ServiceClient,
  ServiceRequestOptions,
  ServiceResponse,
} from './hosting/embedded/service-client.ts';
export { defineConfiguration } from './hosting/embedded/configuration-definition.ts';
export type { ConfigurationDefinition } from './hosting/embedded/configuration-definition.ts';
export { defineEndpoint } from './hosting/embedded/endpoint-definition.ts';
export type { EndpointDefinition } from './hosting/embedded/endpoint-definition.ts';
export {
  before,
  del,
  get,
  jsonBytes,
  patch,
  post,
  put,
} from './hosting/embedded/route-definition.ts';
export { limited } from './hosting/embedded/rate-limit.ts';
export { openApi } from './hosting/embedded/open-api.ts';
export type { OpenApiDocument, OpenApiInfo } from '@svc/contract';
export { queryFlag } from './hosting/embedded/query-flag.ts';
export type {
  Access,
  CheckedRoutes,
  Cors,
  RouteDefinition,
} from './hosting/embedded/route-definition.ts';
export type { Declared, Security } from './hosting/embedded/check-definition.ts';
export { respond, respondError } from './hosting/embedded/route-answer.ts';
export type {
  CheckedContext,
  CheckRequest,
  EndpointContext,
  RouteRequest,
} from './hosting/embedded/route-request.ts';
export type { EntityClient, RecordedEvent } from './hosting/embedded/entity-client.ts';
export {
  Ok,
  refuse,
  Refused,
  type RefusalDetails,
  type Result,
} from './hosting/embedded/result.ts';
export { described, type Schema, type ValueOf } from './hosting/embedded/codec.ts';
export type { StandardSchema } from './hosting/embedded/standard-schema.ts';
export type { ServiceSettings } from './service/embedded-settings.ts';
export type { LogEntry } from '@svc/kit/log-entry';
export type { ResponsesOptions } from './service/embedded-responses.ts';
export type { Metric } from './introspection/program-metrics.ts';
export { createService } from './service/create-service.ts';
export type { EnvironmentOptions } from './service/environment-options.ts';
export type {
  CallOptions,
  ConfiguredOptions,
  ObservabilityOptions,
  Service,
  ServiceChange,
  ServiceOptions,
} from './service/embedded-options.ts';
export type { ServiceCounts } from './service/service-counts.ts';
