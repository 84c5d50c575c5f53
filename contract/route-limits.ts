// Limits of a route in the module descriptor. The schema enforces them, and the compiler and the embedded
// hosting report authors' mistakes against the same limits.

export const QUERY_PARAMETERS_MAX = 64;
export const ANSWERS_MAX = 32;
/** Maximum length of a text in the default of a query parameter, in UTF-16 code units. */
export const DEFAULT_LENGTH_MAX = 200;
/** Most items of a list that is the default of a query parameter. */
export const DEFAULT_ITEMS_MAX = 100;
/** Maximum length in UTF-16 code units, as is DESCRIPTION_LENGTH_MAX. */
export const SUMMARY_LENGTH_MAX = 200;
export const DESCRIPTION_LENGTH_MAX = 2000;
/** Maximum length of the reason of a refusal, in UTF-16 code units. */
export const REASON_LENGTH_MAX = 1000;
/** Most roles, and most scopes, that a bearer rule names. */
export const GRANTS_MAX = 32;
/** Most limits of requests that an endpoint declares, and a route besides. */
export const LIMITS_MAX = 4;
/** Most requests that a limit of requests counts. */
export const LIMIT_COUNT_MAX = 1_000_000;
