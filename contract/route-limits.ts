// How much a route of the module descriptor may declare. The schema holds descriptors to these limits, and
// the compiler and the embedded hosting report their authors' mistakes against the same ones.

export const QUERY_PARAMETERS_MAX = 64;
export const ANSWERS_MAX = 32;
/** UTF-16 code units, as is DESCRIPTION_LENGTH_MAX. */
export const SUMMARY_LENGTH_MAX = 200;
export const DESCRIPTION_LENGTH_MAX = 2000;
