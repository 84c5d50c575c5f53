// The entry point for programs that use the host as a library. Its exports are a stable public interface.
// Programs define entities and endpoints in TypeScript, and createService runs them in the program's own process, with
// the engine, the journal, the HTTP server and the introspection that `svc run` has.
export { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
export { GuestFault } from '@svc/model/guest-fault';
export { defineEntity } from '@svc/components/entity-definition';
export type { EntityDefinition } from '@svc/components/entity-definition';
export type {
  Change,
  CommandContext,
  Effect,
  QueryContext,
  ReadonlyDeep,
} from '@svc/components/entity-context';
export type { Components } from '@svc/components/components';
export { Due } from '@svc/components/due';
export type { DeferredCall } from '@svc/components/deferred-call';
export type { Schedule } from '@svc/components/schedule';
export { callOf } from '@svc/components/deferred-calls';
export type { DeferredCalls } from '@svc/components/deferred-calls';
export type { TimerOptions } from '@svc/components/timer-change';
export { defineView } from '@svc/components/view-definition';
export type { FoldContext, RowChange, ViewDefinition } from '@svc/components/view-definition';
export type { FoundRow, Page, RowCount, ViewClient } from '@svc/components/view-client';
export { defineConsumer } from '@svc/components/consumer-definition';
export type {
  ConsumerContext,
  ConsumerDefinition,
  Verdict,
} from '@svc/components/consumer-definition';
export type { EventContext } from '@svc/components/event-source';
export type { Timers } from '@svc/components/calling-context';
export type {
  ServiceClient,
  ServiceRequestOptions,
  ServiceResponse,
} from '@svc/components/service-client';
export { defineConfiguration } from '@svc/components/configuration-definition';
export type { ConfigurationDefinition } from '@svc/components/configuration-definition';
export { defineEndpoint } from '@svc/components/endpoint-definition';
export type { EndpointDefinition } from '@svc/components/endpoint-definition';
export { before, del, get, jsonBytes, patch, post, put } from '@svc/components/route-definition';
export { limited } from '@svc/components/rate-limit';
export { openApi } from '@svc/components/open-api';
export type { OpenApiDocument, OpenApiInfo } from '@svc/contract';
export { queryFlag } from '@svc/components/query-flag';
export type {
  Access,
  CheckedRoutes,
  Cors,
  RouteDefinition,
} from '@svc/components/route-definition';
export type { Declared, Security } from '@svc/components/check-definition';
export { respond, respondError } from '@svc/components/route-answer';
export type {
  CheckedContext,
  CheckRequest,
  EndpointContext,
  RouteRequest,
} from '@svc/components/route-request';
export type { EntityClient, RecordedEvent } from '@svc/components/entity-client';
export { Ok, refuse, Refused, type RefusalDetails, type Result } from '@svc/components/result';
export { described, type Schema, type ValueOf } from '@svc/components/codec';
export type { StandardSchema } from '@svc/components/standard-schema';
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
