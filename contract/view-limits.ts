// Limits of views, consumers and schedules in the module descriptor. The schema enforces them, and the compiler and the
// embedded hosting report authors' mistakes against the same limits.

export const VIEWS_MAX = 64;
/** Maximum number of indexes of a view. */
export const INDEXES_MAX = 8;
/** Maximum number of fields of an index. */
export const INDEX_FIELDS_MAX = 4;
/** Maximum number of queries of a view. */
export const VIEW_QUERIES_MAX = 64;
/** Maximum length of a query's text, in UTF-16 code units. */
export const VIEW_QUERY_LENGTH_MAX = 1000;
export const CONSUMERS_MAX = 64;
export const SCHEDULES_MAX = 100;
/** Maximum length of a schedule's input, in bytes of UTF-8. */
export const SCHEDULE_INPUT_BYTES_MAX = 65_536;
/** Longest time between two occurrences of a schedule, in milliseconds: 100 years of 365 days. */
export const EVERY_MS_MAX = 3_153_600_000_000;
