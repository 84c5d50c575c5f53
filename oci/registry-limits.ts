// RegistryLimits: bounds on the time and the number of requests that a registry may cost.

export interface RegistryLimits {
  /** Time in which a connection has to be open, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Time in which the head of an answer has to arrive, and then each part of its body, in milliseconds. */
  readonly answerTimeoutMs: number;
  /** Time for all requests that reading or pushing an image needs, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** Number of times that a request is sent to a registry that is overloaded or gives no answer. */
  readonly attemptsMax: number;
  /** Pause before a request is sent again, in milliseconds. It doubles each time. */
  readonly retryPauseMs: number;
  /** Longest pause that a registry may ask for by Retry-After, in milliseconds. */
  readonly retryPauseMaxMs: number;
  /** Number of redirects that a request follows. */
  readonly redirectsMax: number;
}

export const REGISTRY_LIMITS_DEFAULT: RegistryLimits = {
  connectTimeoutMs: 5000,
  answerTimeoutMs: 10_000,
  totalTimeoutMs: 120_000,
  attemptsMax: 3,
  retryPauseMs: 250,
  retryPauseMaxMs: 10_000,
  redirectsMax: 5,
};

/** Maximum size of an answer with a token, or with the reason of a refusal, in bytes. */
export const ANSWER_BYTES_MAX = 64 * 1024;
/** Maximum length of a token, in characters. */
export const TOKEN_LENGTH_MAX = 16 * 1024;
