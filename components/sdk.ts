// What programs define components with, whatever runs them: the same names from the package that embeds the host and from the one
// of processes, so that a component moves by changing its import. A stable public interface.
export { SvcError, type SvcErrorCode } from '@svc/kit/svc-error';
export { GuestFault } from '@svc/model/guest-fault';
export { defineEntity } from './entity-definition.ts';
export type { EntityDefinition } from './entity-definition.ts';
export type {
  Change,
  CommandContext,
  Effect,
  QueryContext,
  ReadonlyDeep,
} from './entity-context.ts';
export type { Components } from './components.ts';
export { Due } from './due.ts';
export type { DeferredCall } from './deferred-call.ts';
export type { Schedule } from './schedule.ts';
export { callOf } from './deferred-calls.ts';
export type { DeferredCalls } from './deferred-calls.ts';
export type { TimerOptions } from './timer-change.ts';
export { defineView } from './view-definition.ts';
export type { FoldContext, RowChange, ViewDefinition } from './view-definition.ts';
export type { FoundRow, Page, RowCount, ViewClient } from './view-client.ts';
export { defineConsumer } from './consumer-definition.ts';
export type { ConsumerContext, ConsumerDefinition, Verdict } from './consumer-definition.ts';
export type { EventContext } from './event-source.ts';
export type { Timers } from './calling-context.ts';
export type { ServiceClient, ServiceRequestOptions, ServiceResponse } from './service-client.ts';
export { defineConfiguration } from './configuration-definition.ts';
export type { ConfigurationDefinition } from './configuration-definition.ts';
export { defineEndpoint } from './endpoint-definition.ts';
export type { EndpointDefinition } from './endpoint-definition.ts';
export { before, del, get, jsonBytes, patch, post, put } from './route-definition.ts';
export type { Bearer, Grants, Principal } from './bearer.ts';
export { limited } from './rate-limit.ts';
export { openApi } from './open-api.ts';
export type { OpenApiDocument, OpenApiInfo } from '@svc/contract';
export { queryFlag } from './query-flag.ts';
export type { Access, CheckedRoutes, Cors, RouteDefinition } from './route-definition.ts';
export type { Declared, Security } from './check-definition.ts';
export { respond, respondError } from './route-answer.ts';
export type {
  CheckedContext,
  CheckRequest,
  EndpointContext,
  RouteRequest,
} from './route-request.ts';
export type { EntityClient, RecordedEvent } from './entity-client.ts';
export { Ok, refuse, Refused, type RefusalDetails, type Result } from './result.ts';
export { described, type Schema, type ValueOf } from './codec.ts';
export type { StandardSchema } from './standard-schema.ts';
