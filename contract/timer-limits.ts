// Limits of a timer that every hosting, the SDK and the schema of the descriptor share.

/** Shortest period of a recurring timer, in milliseconds. */
export const EVERY_MS_MIN = 1000;
