// ViewReport: how a view fares, as operators see it, and what their changes of it come to.
import type { SkippedEvent } from '../engine/needs/views.ts';
import type { ViewStatus } from '@svc/model/view-status';
import type { ViewState } from './shared-view.ts';
import type { StoppedAt } from './view-stopped.ts';

/**
 * The reason why a view does not follow the events.
 * - `stopped`: its code failed at an event, and nothing is tried again.
 * - `paused`: it is being built, and waits until the disk has space.
 * - `failing`: something else failed, such as a write to a full disk, and is tried again.
 */
export type ViewProblem =
  | { readonly kind: 'stopped'; readonly at: StoppedAt; readonly reason: string }
  | {
      readonly kind: 'paused' | 'failing';
      readonly code: string | undefined;
      readonly reason: string;
    };

export interface ViewReport {
  readonly id: string;
  /** Hash of the definition, which names the file of the rows. */
  readonly definition: string;
  readonly state: ViewState;
  /** The position up to which events are folded; an empty text if it is not known yet. */
  readonly position: string;
  readonly problem: ViewProblem | undefined;
  /** The events that are left out of the rows. */
  readonly skips: readonly SkippedEvent[];
}

/** Returns skipped events as operators see them. */
export function skippedEvents(skips: readonly SkippedEvent[]): ViewStatus['skipped'] {
  return skips.map(({ entity, seq, reason, timeMs }) => ({ ...entity, seq, reason, timeMs }));
}

/**
 * Outcome of a change.
 * - `unknown-view`: the service has no view of this id.
 * - `not-stopped-there`: the view has not stopped at the event that was to be skipped.
 * - `too-many`: the view skips so many events already that it takes no more.
 * - `unavailable`: the thread of the view is being started.
 */
export type ViewChange = 'done' | 'unknown-view' | 'not-stopped-there' | 'too-many' | 'unavailable';
