// SubscriptionLimits: how much a subscription may hold, and how many a tenant may have. docs/reference/webhooks.md lists them.

/** Subscriptions of a tenant. */
export const SUBSCRIPTIONS_MAX = 100;
/** Characters of the URL. */
export const URL_LENGTH_MAX = 2_048;
export const HEADERS_MAX = 32;
/** Characters of the name of a header. */
export const HEADER_NAME_LENGTH_MAX = 256;
/** Characters of the value of a header, each of which is a byte. */
export const HEADER_VALUE_LENGTH_MAX = 4_096;
/** Characters of `nameRegex`. */
export const PATTERN_LENGTH_MAX = 256;
/** Instructions of the program that `nameRegex` becomes: searching takes them times the length of the name at most. */
export const PATTERN_PROGRAM_MAX = 512;
/** Characters of the name of a dataset, and of its beginning in which `nameRegex` is searched. */
export const NAME_LENGTH_MAX = 256;
/** Tags of a filter. */
export const TAGS_MAX = 100;
/** Characters of a tag, and of the model, in a filter. */
export const WORD_LENGTH_MAX = 256;
/** Seconds for which deliveries are signed with the former secret, too, after a rotation. */
export const GRACE_SECONDS_MAX = 604_800;
export const GRACE_SECONDS_DEFAULT = 86_400;
