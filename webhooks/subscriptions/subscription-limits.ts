// SubscriptionLimits: how much a subscription may hold. docs/reference/webhooks.md lists them.

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
