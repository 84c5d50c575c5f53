// FiringEnding: how the firing of a timer ended, as the metrics count it.

/** All endings, in the order in which they are listed. */
export const FIRING_ENDINGS = [
  'replied',
  'refused',
  'retried',
  'dead',
  'gone',
  'moved',
  'unavailable',
] as const;

export type FiringEnding = (typeof FIRING_ENDINGS)[number];
