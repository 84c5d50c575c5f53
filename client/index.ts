// The entry point of the package @svc/client.
export { ADMITTED_SERVICES_MAX, namesService, type AccessRule } from './access-rule.ts';
export {
  ApiError,
  InvalidRequestError,
  NoAnswerError,
  type NoAnswerKind,
} from './control-plane/api-error.ts';
export type {
  Failure,
  HistoryEntry,
  Identity,
  Invitation,
  Inviting,
  LoginInformation,
  Member,
  MemberList,
  OrganizationCreation,
  OrganizationSummary,
  OwnerDesignation,
  ProjectCreation,
  ProjectSummary,
  Renaming,
  Repair,
  RoleChange,
  ServiceLogs,
  ServiceStatus,
} from './control-plane/bodies.ts';
export { failure } from './control-plane/bodies.ts';
export type { CallOptions, ClientOptions, TokenSource } from './control-plane/api-client.ts';
export { createClient, type AnswerOf, type Client, type InputOf } from './control-plane/client.ts';
export { normalizedEmail } from './control-plane/email-address.ts';
export { PARAMETERS, isOrganizationId, type ParameterName } from './control-plane/identifiers.ts';
export { openApiDocument } from './control-plane/open-api.ts';
export {
  UNTAKEN_BODY,
  bodyProblems,
  bodyValueProblems,
  type BodyJudge,
} from './control-plane/request.ts';
export { RETRY_LIMITS_DEFAULT, type RetryLimits } from './control-plane/retries.ts';
export {
  parametersOf,
  refusalsOf,
  refusalsWith,
  successOf,
  worksWhileDisabled,
  type AnswerOfRoute,
  type Caller,
  type InputOfRoute,
  type ParametersIn,
  type RefusalWords,
  type Route,
} from './control-plane/route.ts';
export { ROUTES, type RouteName } from './control-plane/routes.ts';
export { schemaProblems } from './control-plane/schema-problems.ts';
export type { Open, Schema, ValueOf } from './control-plane/schema.ts';
export {
  BODY_BYTES_MAX,
  EMAIL_LENGTH_MAX,
  HISTORY_KINDS,
  HISTORY_LENGTH_MAX,
  HOSTINGS,
  HOSTNAME_LABEL_LENGTH_MAX,
  KEYS_RETRY_AFTER_S,
  LIFECYCLES,
  LIFECYCLE_MEANINGS,
  LIST_LENGTH_MAX,
  LOG_LINES_MAX,
  LOG_SECONDS_MAX,
  NAME_LENGTH_MAX,
  ORGANIZATION_ID_LENGTH_MAX,
  ROLES,
  SUBJECT_LENGTH_MAX,
  type HistoryKind,
  type Hosting,
  type Lifecycle,
  type Role,
} from './control-plane/vocabularies.ts';
export { descriptorProblems, type DescriptorContext } from './descriptor/descriptor-problems.ts';
export { projectProblem } from './descriptor/field-checks.ts';
export { hostingKind, type HostingKind } from './descriptor/hosting-kind.ts';
export { hostnameProblem } from './descriptor/hostname.ts';
export { IMAGE_LENGTH_MAX, imageProblem } from './descriptor/image-reference.ts';
export { ALLOWED_FINDINGS_MAX, HOSTNAMES_MAX, MOUNTS_MAX } from './descriptor/list-checks.ts';
export {
  MOUNT_PATH_LENGTH_MAX,
  MOUNT_PROTOCOL,
  mountPathProblem,
} from './descriptor/mount-path.ts';
export {
  PROBLEMS_BYTES_MAX,
  Problems,
  charactersOf,
  isRecord,
  problemLine,
  problemsText,
  quoted,
  sortedProblems,
  type Problem,
} from './descriptor/problem.ts';
export { cpuMillis, memoryBytes } from './descriptor/resource-quantity.ts';
export {
  INSTANCES_DEFAULT,
  INSTANCES_MAX,
  PLATFORM_AUTH,
  WEB_PROTOCOL,
  type DescriptorField,
  type EmbeddedServiceDescriptor,
  type Mount,
  type ProcessServiceDescriptor,
  type Resources,
  type ServiceDescriptor,
  type SuppliedDatabase,
  type WasmServiceDescriptor,
  type WebServiceDescriptor,
} from './descriptor/service-descriptor.ts';
export {
  VARIABLES_BYTES_MAX,
  VARIABLES_MAX,
  VARIABLE_BYTES_MAX,
  VARIABLE_NAME_LENGTH_MAX,
  moduleVariables,
  type ModuleVariables,
} from './descriptor/variable-checks.ts';
export {
  ALLOWABLE_FINDINGS,
  RUNTIME_VARIABLES,
  type AllowableFinding,
} from './generated/runtime-words.ts';
export {
  ANSWERED_BY_GATEWAY,
  ANSWERED_BY_HEADER,
  ANSWERED_BY_PROXY,
  CALLER_HEADER,
  FORWARDED_FOR_HEADER,
  FORWARDED_HOST_HEADER,
  FORWARDED_PORT_HEADER,
  FORWARDED_PROTO_HEADER,
  PLATFORM_HEADER_PREFIX,
} from './header-names.ts';
export {
  CALLING_PORT,
  COMPONENT_PROCESS_PORT,
  HTTP_PORT,
  MANAGEMENT_PORT,
  PROCESS_PORT,
  READINESS_PORT,
  REMOTING_PORT,
  RESERVED_PORTS,
  type ReservedPort,
} from './ports.ts';
export {
  PROJECT_ID_LENGTH_MAX,
  SERVICE_NAME_LENGTH_MAX,
  SERVICE_REFERENCE_LENGTH_MAX,
  SERVICE_REFERENCE_PATTERN,
  clusterHost,
  isProjectId,
  isServiceName,
  isServiceReference,
  projectNamespace,
  serviceReferenceOf,
  type ServiceKey,
  type ServiceReference,
} from './service-name.ts';
export {
  COMPONENT_PORT_VARIABLE,
  PLATFORM_VARIABLES,
  PORT_VARIABLE,
  SERVICES_URL_VARIABLE,
  VARIABLE_NAME,
} from './variable-names.ts';
export type {
  DatasetReport,
  LogAttempt,
  LogEntry,
  LogEntryWithBody,
  ReportAnswer,
  Rotation,
  Subscription,
  SubscriptionPatch,
  SubscriptionRequest,
} from './webhooks/bodies.ts';
export {
  createWebhooksClient,
  type DeliveryPage,
  type WebhookInputOf,
  type WebhooksClient,
} from './webhooks/client.ts';
export {
  WEBHOOK_PARAMETERS,
  WEBHOOK_ROUTES,
  webhookRefusalsOf,
  type WebhookCaller,
  type WebhookRouteName,
} from './webhooks/routes.ts';
export {
  DATASET_BYTES_MAX,
  DATASET_EVENT_TYPES,
  DATASET_STATUSES,
  DATASET_TAGS_MAX,
  DATASET_WORD_LENGTH_MAX,
  DELIVERIES_LIMIT_DEFAULT,
  DELIVERIES_LIMIT_MAX,
  DELIVERY_ERRORS,
  DELIVERY_OUTCOMES,
  EVENT_TYPES,
  GRACE_SECONDS_DEFAULT,
  GRACE_SECONDS_MAX,
  SIGNED_PARTS,
  SIGNING_METHODS,
  SUBSCRIBABLE_EVENTS,
  TENANT_ID_LENGTH_MAX,
  isTenantId,
  type DatasetStatus,
  type DeliveryOutcome,
  type EventType,
  type SubscribableEvent,
} from './webhooks/vocabularies.ts';
export { signWebhook, type WebhookSigning } from './webhooks/sign-webhook.ts';
export {
  WEBHOOK_REFUSAL_REASONS,
  WEBHOOK_TOLERANCE_MS,
  verifyWebhook,
  type WebhookRefusalReason,
  type WebhookRequest,
  type WebhookVerification,
} from './webhooks/verify-webhook.ts';
export {
  WEBHOOK_DELIVERY_HEADER,
  WEBHOOK_EVENT_HEADER,
  WEBHOOK_PREVIOUS_SIGNATURE_HEADER,
  WEBHOOK_SIGNATURE_HEADER,
  WEBHOOK_TIMESTAMP_HEADER,
  type WebhookHeaders,
} from './webhooks/webhook-headers.ts';
