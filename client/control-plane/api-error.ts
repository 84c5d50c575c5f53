// The errors of clients. Their messages never contain a token.
import { problemsText, type Problem } from '../descriptor/problem.ts';

/** Answer with a status from 400 on. */
export class ApiError extends Error {
  /** Name of the route. */
  readonly route: string;
  readonly status: number;
  /** `error` of the answer. */
  readonly reason: string;
  /** `Retry-After` of the answer, in seconds; undefined if it has none. */
  readonly retryAfterS: number | undefined;

  constructor(
    route: string,
    answer: Readonly<Pick<ApiError, 'status' | 'reason' | 'retryAfterS'>>,
  ) {
    super(`${route} was refused with ${answer.status}: ${answer.reason}`);
    this.name = 'ApiError';
    this.route = route;
    this.status = answer.status;
    this.reason = answer.reason;
    this.retryAfterS = answer.retryAfterS;
  }
}

/** A request that is invalid, and that was not sent. */
export class InvalidRequestError extends Error {
  /** Name of the route. */
  readonly route: string;
  /** Problems of the body, of a parameter (`/organizationId`) or of a query parameter, sorted. */
  readonly problems: readonly Problem[];

  constructor(route: string, problems: readonly Problem[]) {
    super(`${route} was not sent:\n${problemsText(problems)}`);
    this.name = 'InvalidRequestError';
    this.route = route;
    this.problems = problems;
  }
}

/**
 * Why there is no answer: the connection failed or was lost; the answer did not arrive in time; it is larger than allowed;
 * it is not the program's (no JSON of the expected kind, or a redirect).
 */
export type NoAnswerKind = 'connection' | 'timeout' | 'too-large' | 'foreign';

/** A request without a usable answer. Whether a change was made is unknown. */
export class NoAnswerError extends Error {
  /** Name of the route. */
  readonly route: string;
  readonly kind: NoAnswerKind;

  constructor(route: string, kind: NoAnswerKind, reason: string, options?: ErrorOptions) {
    super(`${route} got no answer: ${reason}`, options);
    this.name = 'NoAnswerError';
    this.route = route;
    this.kind = kind;
  }
}
