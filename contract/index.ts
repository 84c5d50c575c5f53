// The entry point of the package @svc/contract.
export { type Author, authorOf, authorText } from './author.ts';
export {
  asksForMore,
  bearerOf,
  bearerText,
  meetsRequirement,
  requirementText,
} from './bearer-rule.ts';
export {
  fieldColumn,
  recordOf,
  type ColumnKind,
  type ColumnType,
  type FieldColumn,
} from './column-type.ts';
export {
  CONFIGURATION_BYTES_MAX,
  CONFIGURATION_COMPONENT,
  configurationJson,
  configurationProblems,
  declaredTypeName,
  declaredValues,
  SECRET_LENGTH_MIN,
  valueOfText,
  type DeclaredValue,
} from './configuration.ts';
export { cronProblem } from './cron-expression.ts';
export { decimalOrder } from './decimal-order.ts';
export { REFUSAL_CODES, type RefusalCode } from './error-code.ts';
export {
  DESCRIPTOR_BYTES_MAX,
  DESCRIPTOR_SECTION,
  PROTOCOL_VERSION,
  PROTOCOL_VERSIONS,
  isProtocolVersion,
  parseModuleDescriptor,
  type DescriptorResult,
  type ProtocolVersion,
} from './module-descriptor.ts';
export type {
  AccessRule,
  BearerRequirement,
  BearerRule,
  ConfigurationDescriptor,
  ConsumerDescriptor,
  CorsDescriptor,
  EndpointDescriptor,
  EntityDescriptor,
  LimitRule,
  ModuleDescriptor,
  RouteDescriptor,
  ScheduleDescriptor,
  SecurityDescriptor,
  ViewDescriptor,
} from './module-descriptor-schema.ts';
export type {
  DevProblem,
  DevState,
  EntityList,
  Fault,
  FaultList,
  HistoryPage,
  HistoryStep,
  InvocationKind,
  ConsumerList,
  LaneList,
  ObservedConsumer,
  ObservedLane,
  ObservedTimer,
  ObservedView,
  TimerList,
  ViewList,
  ViewRows,
  LiveNumbers,
  LiveSecond,
  ObservabilityProblem,
  ObservedComponent,
  ObservedQuery,
  Outcome,
  ServiceDescription,
  ServiceRoute,
  SourceLocation,
  Span,
  SpanFault,
  StateChange,
  StoredEntity,
  TraceDetail,
  TraceList,
  TraceSummary,
} from './observability-schema.ts';
export { isQueryDefault, type QueryDefault } from './query-default.ts';
export { originProblem } from './origin.ts';
export { jsonMismatch } from './json-mismatch.ts';
export { declaredCors } from './declared-cors.ts';
export { allowsLess, LIMIT_UNITS_MS, limitsOf, limitsText, limitText } from './limit-rule.ts';
export { openApi, type OpenApiDocument, type OpenApiInfo } from './open-api.ts';
export {
  ANSWERS_MAX,
  DESCRIPTION_LENGTH_MAX,
  GRANTS_MAX,
  LIMIT_COUNT_MAX,
  LIMITS_MAX,
  QUERY_PARAMETERS_MAX,
  SUMMARY_LENGTH_MAX,
} from './route-limits.ts';
export {
  SEGMENTS_MAX,
  parseRouteTemplate,
  routeTemplate,
  templateShape,
  type TemplateSegment,
} from './route-template.ts';
export {
  dateTimeOf,
  durationMsOf,
  durationOf,
  isBase64,
  isDecimal,
  TIME_MS_MAX,
} from './text-form.ts';
export type { ListedService, ServiceList } from './service-list.ts';
export { timeZoneProblem } from './time-zone.ts';
export { EVERY_MS_MIN } from './timer-limits.ts';
export type { TypeSchema } from './type-schema.ts';
export {
  CONSUMERS_MAX,
  EVERY_MS_MAX,
  INDEXES_MAX,
  INDEX_FIELDS_MAX,
  SCHEDULES_MAX,
  SCHEDULE_INPUT_BYTES_MAX,
  VIEWS_MAX,
  VIEW_QUERIES_MAX,
  VIEW_QUERY_LENGTH_MAX,
} from './view-limits.ts';
export { parseViewQuery } from './view-query.ts';
export { planViewQuery, type QueriedView, type ViewQueryResult } from './view-query-planner.ts';
export type { ViewQueryProblem } from './view-query-token.ts';
export type { ColumnBound, ColumnRange, ViewQueryPlan } from './view-query-plan.ts';
