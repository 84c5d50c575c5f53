// ViewStopped: why the fold of a view cannot go on. It is a failure of the view's code, or of an event that the code cannot read,
// and would occur again: nothing is folded until somebody changes the code or skips the event.
import type { EntityRef } from '@svc/model/entity';

/** The event at which a view has stopped. */
export interface StoppedAt {
  readonly entity: EntityRef;
  /** Number of the event among the records of its entity, from 1. */
  readonly seq: number;
}

export class ViewStopped extends Error {
  readonly view: string;
  readonly at: StoppedAt;

  /** `reason`: for the operator, one sentence or more. */
  constructor(view: string, at: StoppedAt, reason: string, cause: unknown) {
    super(reason, { cause });
    this.name = 'ViewStopped';
    this.view = view;
    this.at = at;
  }
}
