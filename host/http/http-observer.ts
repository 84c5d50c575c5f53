// HttpObserver records and counts the requests of an HTTP server.
import { NO_RECORDER, type Recorder } from '../engine/needs/recorder.ts';

/** Counts every request that an Exchange has answered, including those without a route. */
export interface HttpCounts {
  /**
   * `route`: index of the route, -1 for none. `status`: status of the answer. `durationMs`: milliseconds from the
   * arrival of the headers to the writing of the answer.
   */
  answered(route: number, status: number, durationMs: number): void;
}

const NO_COUNTS: HttpCounts = { answered() {} };

export interface HttpObserver {
  readonly recorder: Recorder;
  readonly counts: HttpCounts;
  /** Handler index of the first route, for the recorder. */
  readonly firstRouteIndex: number;
}

/** Records nothing. */
export const NO_OBSERVER: HttpObserver = {
  recorder: NO_RECORDER,
  counts: NO_COUNTS,
  firstRouteIndex: 0,
};
