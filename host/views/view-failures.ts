// ViewFailures: the failures of a query of a view that is behind, is being built, or has stopped.
import { SvcError } from '@svc/kit/svc-error';
import { ViewRebuilding } from '@svc/model/view-rebuilding';

/** Building takes seconds or more, so a caller that asks sooner asks in vain. */
const BUILDING_RETRY_MS = 2_000;
const BEHIND_RETRY_MS = 1_000;
/** A view that has stopped goes on only after somebody has changed something. */
const STOPPED_RETRY_MS = 30_000;

export function viewBehind(view: string, waitMs: number): SvcError {
  return new SvcError(
    'SVC_VIEW_BEHIND',
    `The view '${view}' did not have the events that its caller asks for within ${waitMs} ms ` +
      '(svc.views.wait-ms). They are stored: try again.',
    { retryAfterMs: BEHIND_RETRY_MS },
  );
}

/** `percent`: the share of the events that are folded. `isPaused`: the building waits until the disk has space. */
export function viewBuilding(view: string, percent: number, isPaused: boolean): SvcError {
  return new ViewRebuilding(
    `The view '${view}' is being built, and ${percent} % of the events are folded. ` +
      (isPaused
        ? 'The building pauses until the disk has more space (svc.views.free-bytes-min).'
        : 'Try again once it is built.'),
    percent,
    BUILDING_RETRY_MS,
  );
}

/** For a data folder that no service uses. */
export function viewNotBuilt(view: string): SvcError {
  return new SvcError(
    'SVC_VIEW_REBUILDING',
    `The rows of the view '${view}' are missing, damaged or not complete, and no service runs on the data folder, so ` +
      'nobody builds them. Start the service: it builds them from the journal.',
  );
}

export function viewStopped(view: string): SvcError {
  return new SvcError(
    'SVC_VIEW_STOPPED',
    `The view '${view}' has stopped at an event that it cannot fold, which the log of the service names. ` +
      'Correct the code of the view and give it another version.',
    { retryAfterMs: STOPPED_RETRY_MS },
  );
}
