// Messages between the main thread and a thread that folds events into the rows of views (view-thread.ts).
import type { LogEntry } from '@svc/kit/log-entry';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { SharedViews } from '@svc/model/view';
import type { ViewLimits } from '@svc/model/view-limits';
import type { SkippedEvent } from '../engine/needs/views.ts';
import type { FollowerConnection } from '../storage/follower-connection.ts';
import type { ViewChange, ViewProblem } from '../views/view-report.ts';

/**
 * - `follow`: keeps all views up to date, and builds those that take little work.
 * - `build`: builds the views that it is asked for, one after the other, at the lowest priority.
 */
export type ViewRole = 'follow' | 'build';

/** Start data of the thread. */
export interface ViewThreadSettings {
  readonly role: ViewRole;
  readonly source: GuestSource;
  readonly hosting: HostingSettings;
  readonly connection: FollowerConnection;
  readonly limits: ViewLimits;
  /** Memory of all views of the source. */
  readonly shared: SharedViews;
  /** Ids of the views to begin with. */
  readonly views: readonly string[];
}

export type ToViewThread =
  /** A view that another thread has built, or that is to be built. */
  | { readonly kind: 'take'; readonly view: string }
  /** Asks for a change of a view, which is answered under the same number. */
  | { readonly kind: 'change'; readonly number: number; readonly asked: AskedChange }
  /** The thread finishes what it is doing, and ends. */
  | { readonly kind: 'stop' };

/** `skip` leaves out the event at which the view has stopped; undefined: the rows are built again. */
export interface AskedChange {
  readonly view: string;
  readonly skip: SkippedEvent | undefined;
}

/** The SvcError with which a change has failed. */
export interface FailedChange {
  readonly code: SvcErrorCode;
  readonly message: string;
}

export type FromViewThread =
  | { readonly kind: 'log'; readonly entry: LogEntry }
  /** The reason why a view does not follow the events; undefined: it does again. */
  | { readonly kind: 'problem'; readonly view: string; readonly problem: ViewProblem | undefined }
  /** The events that a view leaves out. */
  | { readonly kind: 'skips'; readonly view: string; readonly skips: readonly SkippedEvent[] }
  /** Answers a change. */
  | {
      readonly kind: 'changed';
      readonly number: number;
      readonly outcome: ViewChange | FailedChange;
    }
  /** To build the view takes much work: another thread has to do it. */
  | { readonly kind: 'to-build'; readonly view: string }
  /** The thread has built the view, and has released its rows. */
  | { readonly kind: 'built'; readonly view: string };
