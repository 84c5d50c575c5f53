// The words of the control plane, and its limits. Words in answers come from vocabularies that grow: a client takes those
// that it does not know.

/** Roles of a member, the one with more permissions first. */
export const ROLES = ['owner', 'member'] as const;
export type Role = (typeof ROLES)[number];

/** States of a service, with their meanings. */
export const LIFECYCLE_MEANINGS = {
  pending: 'the generation is accepted, and nothing of it has been observed yet',
  deploying: 'the generation is being rolled out',
  ready: 'all instances of the generation are ready',
  degraded: 'the rollout was complete, and some instances are not ready',
  unavailable: 'the rollout was complete, and no instance is ready',
  failed:
    'the rollout was refused or not complete in time; instances of an earlier generation may still serve',
  paused: 'members have paused the service',
  suspended: 'the organization is disabled',
} as const;
export type Lifecycle = keyof typeof LIFECYCLE_MEANINGS;
export const LIFECYCLES = Object.keys(LIFECYCLE_MEANINGS) as readonly Lifecycle[];

/** Kinds of the entries of a service's history. */
export const HISTORY_KINDS = [
  'applied',
  'restarted',
  'paused',
  'resumed',
  'exposed',
  'unexposed',
  'deleted',
  'suspended',
  'reinstated',
] as const;
export type HistoryKind = (typeof HISTORY_KINDS)[number];

export const HOSTINGS = ['embedded', 'process', 'wasm'] as const;
export type Hosting = (typeof HOSTINGS)[number];

/** Maximum length of an organization's id. */
export const ORGANIZATION_ID_LENGTH_MAX = 63;
/** Maximum length of the display name of an organization or a project, in characters. */
export const NAME_LENGTH_MAX = 200;
/** Maximum length of an e-mail address, in characters. */
export const EMAIL_LENGTH_MAX = 254;
/** Maximum length of the subject of a token, in characters. */
export const SUBJECT_LENGTH_MAX = 255;
/** Maximum length of the first label of a derived hostname. */
export const HOSTNAME_LABEL_LENGTH_MAX = 63;
/** Maximum size of a request's body, in bytes; a larger one is answered 413. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** `Retry-After` of a 503 that is answered because the keys of the identity provider cannot be read, in seconds. */
export const KEYS_RETRY_AFTER_S = 5;
/** Maximum number of entries of a list of organizations, projects or services. */
export const LIST_LENGTH_MAX = 10_000;
/** Maximum number of entries of a history, which are the newest ones. */
export const HISTORY_LENGTH_MAX = 1000;
/** Maximum of the query parameters of logs: lines, and seconds. */
export const LOG_LINES_MAX = 100_000;
export const LOG_SECONDS_MAX = 31_536_000;
