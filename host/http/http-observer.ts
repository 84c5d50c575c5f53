// HttpObserver records and counts the requests of an HTTP server.
import { NO_RECORDER, type Recorder } from '../engine/needs/recorder.ts';

/** What is counted of every request, also of those that no route is there for. */
export interface HttpCounts {
  /** `route`: its index; -1: none. `status`: of the answer. */
  answered(route: number, status: number, durationMs: number): void;
}

const NO_COUNTS: HttpCounts = { answered() {} };

export interface HttpObserver {
  readonly recorder: Recorder;
  readonly counts: HttpCounts;
  /** The number of the first route's handler, for the recorder. */
  readonly firstPlace: number;
}

/** Records nothing. */
export const NO_OBSERVER: HttpObserver = {
  recorder: NO_RECORDER,
  counts: NO_COUNTS,
  firstPlace: 0,
};
