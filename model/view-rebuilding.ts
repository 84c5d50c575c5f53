// ViewRebuilding: the failure of a query of a view whose rows are being built. A caller may know how far they are.
import { SvcError } from '@svc/kit/svc-error';

export class ViewRebuilding extends SvcError {
  /** Share of the events that are folded, from 0 to 100. */
  readonly percent: number;

  constructor(message: string, percent: number, retryAfterMs: number) {
    super('SVC_VIEW_REBUILDING', message, { retryAfterMs });
    this.percent = percent;
  }
}
