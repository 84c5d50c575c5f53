// ViewStopped: why the fold of a view cannot go on. It is a failure of the view's code, or of an event that the code cannot read,
// and would occur again: nothing is folded until somebody changes the code or skips the event.
import type { Position } from '../engine/needs/feed.ts';
import type { SkippedEvent } from '../engine/needs/views.ts';
import type { EntityRef } from '@svc/model/entity';

/** The event at which a view has stopped. */
export interface StoppedAt {
  readonly entity: EntityRef;
  /** Number of the event among the records of its entity, from 1. */
  readonly seq: number;
}

/** The rows of a view that has stopped, by which it is seen whether another node has gone on. */
export interface RowsAtStop {
  /** As `ViewWriter.revision` was. */
  readonly revision: string | undefined;
  /** The position after the event. */
  readonly after: Position;
}

export class ViewStopped extends Error {
  readonly view: string;
  readonly at: StoppedAt;
  readonly rows: RowsAtStop;

  /** `cause`: its message is for the operator, one sentence or more. */
  constructor(view: string, at: StoppedAt, rows: RowsAtStop, cause: Error) {
    super(cause.message, { cause });
    this.name = 'ViewStopped';
    this.view = view;
    this.at = at;
    this.rows = rows;
  }
}

export function isStoppedAt(at: StoppedAt, { entity, seq }: SkippedEvent): boolean {
  return at.seq === seq && at.entity.component === entity.component && at.entity.id === entity.id;
}
