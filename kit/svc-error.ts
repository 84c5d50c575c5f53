// SvcError: a failure with a documented code. `docs/errors/<code>.md` explains the code and what to do; a
// test compares this list with that folder.

export const SVC_ERROR_CODES = [
  // Admission of a module.
  'SVC_CONSUMER_STALLED',
  'SVC_MODULE_UNREADABLE',
  'SVC_MODULE_NOT_WASM',
  'SVC_MODULE_NOT_A_COMPONENT',
  'SVC_MODULE_MALFORMED',
  'SVC_MODULE_TOO_LARGE',
  'SVC_MODULE_FOREIGN_IMPORT',
  'SVC_MODULE_OTHER_VERSION',
  'SVC_MODULE_NO_DESCRIPTOR',
  'SVC_MODULE_BAD_DESCRIPTOR',
  'SVC_MODULE_STRUCTURE',
  'SVC_MODULE_UNSUPPORTED_CODE',
  'SVC_MODULE_BAD_NAME',
  'SVC_MODULE_TOO_COSTLY',
  'SVC_MODULE_START_FAILED',
  // Components of a program that embeds the host.
  'SVC_DEFINITION_INVALID',
  'SVC_PROGRAM_INVALID',
  // The data folder and the journal.
  'SVC_DATA_UNUSABLE',
  'SVC_DATA_IN_USE',
  'SVC_MACHINE_IN_USE',
  'SVC_MACHINE_NOT_STARTED',
  'SVC_CONTROL_UNAVAILABLE',
  'SVC_DATABASE_URL_INVALID',
  'SVC_DATABASE_UNUSABLE',
  'SVC_DATABASE_UNSUPPORTED',
  'SVC_JOURNAL_MISSING',
  'SVC_JOURNAL_NEWER',
  'SVC_IDEMPOTENCY_KEY_INVALID',
  'SVC_IDEMPOTENCY_KEY_REUSED',
  'SVC_JOURNAL_CORRUPT',
  'SVC_JOURNAL_UNAVAILABLE',
  'SVC_JOURNAL_REGRESSED',
  'SVC_JOURNAL_FULL',
  'SVC_DISK_FULL',
  'SVC_EVENT_TOO_LARGE',
  'SVC_EVENT_UNREADABLE',
  'SVC_MANIFEST_UNREADABLE',
  'SVC_UPGRADE_UNSAFE',
  'SVC_STANDBY_TIMED_OUT',
  'SVC_STATE_CHANGED',
  'SVC_NOT_IN_JOURNAL',
  'SVC_JOURNAL_NOT_EMPTY',
  'SVC_IMPORT_INVALID',
  'SVC_NOT_IN_MODULE',
  'SVC_FOLD_FAULTED',
  'SVC_FOLD_IMPURE',
  'SVC_EVENTS_INVALID',
  // Timers.
  'SVC_TIMER_GONE',
  'SVC_TIMERS_FULL',
  'SVC_TIMER_INVALID',
  // Views.
  'SVC_VIEWS_FULL',
  'SVC_VIEW_CORRUPT',
  'SVC_VIEW_IN_USE',
  'SVC_VIEW_REBUILDING',
  'SVC_VIEW_BEHIND',
  'SVC_VIEW_STOPPED',
  'SVC_VIEW_ROW_INVALID',
  'SVC_FIND_INVALID',
  'SVC_CURSOR_INVALID',
  // Serving.
  'SVC_PORT_IN_USE',
  'SVC_ADDRESS_UNAVAILABLE',
  'SVC_AUTHORITY_LOST',
  'SVC_AUTHORITY_UNUSABLE',
  'SVC_CERTIFICATE_MISSING',
  'SVC_CERTIFICATE_UNUSABLE',
  'SVC_OVERLOADED',
  'SVC_ENTITY_HELD_BACK',
  'SVC_ENTITY_MOVED',
  'SVC_STOPPING',
  'SVC_ANSWER_TIMED_OUT',
  'SVC_SHARD_FAILED',
  'SVC_SHARD_UNAVAILABLE',
  'SVC_REMOTING_FAILED',
  'SVC_CALL_UNCERTAIN',
  'SVC_RESPONSE_DROPPED',
  'SVC_SERVICE_CALL_DENIED',
  // A process that holds the code of a service.
  'SVC_PROCESS_UNAVAILABLE',
  'SVC_PROCESS_INVALID',
  'SVC_PROCESS_REPLACED',
  // Webhooks.
  'SVC_MASTER_KEY_UNUSABLE',
  'SVC_MASTER_KEY_WRONG',
  'SVC_SUBSCRIPTION_UNREADABLE',
  // Images and registries.
  'SVC_IMAGE_MISSING',
  'SVC_IMAGE_INVALID',
  'SVC_IMAGE_DIGEST_MISMATCH',
  'SVC_IMAGE_TOO_LARGE',
  'SVC_IMAGE_LAYER_DAMAGED',
  'SVC_IMAGE_LAYER_UNSAFE',
  'SVC_IMAGE_NOT_A_MODULE',
  'SVC_IMAGE_NOT_RUNNABLE',
  'SVC_IMAGE_FOLDER_FULL',
  'SVC_IMAGE_UNWRITABLE',
  'SVC_IMAGE_REFERENCE_INVALID',
  'SVC_REGISTRY_UNAVAILABLE',
  'SVC_REGISTRY_REFUSED',
  'SVC_REGISTRY_ANSWER_INVALID',
  'SVC_REGISTRY_ADDRESS_REFUSED',
  'SVC_REGISTRY_CREDENTIALS_INVALID',
  // The command line and the settings.
  'SVC_USAGE',
  'SVC_SETTING_INVALID',
  'SVC_CONFIGURATION_INVALID',
  'SVC_CONFIGURATION_UNREADABLE',
  'SVC_BUILD_FAILED',
  'SVC_NEW_FAILED',
  'SVC_CONSOLE_UNAVAILABLE',
  'SVC_WATCH_FAILED',
  'SVC_COMMAND_NOT_STARTED',
  'SVC_PROCESS_ENDED',
  // The command line of the platform.
  'SVC_CONTEXT_INVALID',
  'SVC_NOT_LOGGED_IN',
  'SVC_LOGIN_FAILED',
  'SVC_API_REFUSED',
  'SVC_API_UNAVAILABLE',
  'SVC_DESCRIPTOR_INVALID',
  'SVC_NOT_CONFIRMED',
  'SVC_DEPLOY_FAILED',
  'SVC_DEPLOY_SUPERSEDED',
  'SVC_DEPLOY_UNFINISHED',
  'SVC_WEBHOOK_REFUSED',
] as const;
export type SvcErrorCode = (typeof SVC_ERROR_CODES)[number];

export class SvcError extends Error {
  readonly code: SvcErrorCode;
  /** Milliseconds after which a retry makes sense; undefined if the time is unknown. */
  readonly retryAfterMs: number | undefined;

  /** `message`: one sentence about what happened and where, and one about what to do. */
  constructor(
    code: SvcErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'SvcError';
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
  }
}
