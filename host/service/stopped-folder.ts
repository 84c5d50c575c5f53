// StoppedFolder carries out an operator's changes without a host: in a data folder that none uses, under its lock, and in a database,
// whose hosts follow changes of timers and lanes.
import { SvcError } from '@svc/kit/svc-error';
import type { ControlRequest } from '../control/control-request.ts';
import { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import { changeJournal } from '../storage/journal-administration.ts';
import { type JournalLocation, locationName } from '../storage/journal-location.ts';
import { storedViews } from '../storage/stored-views.ts';
import { ViewInspection } from '../history/view-inspection.ts';
import { changeTimer } from './service-change.ts';

/**
 * Makes a change. Resolves with whether there was something to change, once it is on disk. Rejects as `changeJournal` does, with
 * SVC_DATA_IN_USE while a host uses the folder, and with SVC_CONTROL_UNAVAILABLE for what only a host can do.
 */
export function changeStoppedFolder(
  location: JournalLocation,
  request: ControlRequest,
): Promise<boolean> {
  return changeJournal(location, async (journal) => {
    switch (request.kind) {
      case 'cancel-timer':
      case 'retry-timer':
        return changeTimer(journal, request);
      case 'rebuild-view':
        if (journal.hasHost) throw inUse(location);
        return removeRows(location, request.view);
      case 'skip-in-view':
        if (journal.hasHost) throw inUse(location);
        throw new SvcError(
          'SVC_CONTROL_UNAVAILABLE',
          `No host runs on ${locationName(location)}, so it is not known where the view '${request.view}' stops. Start the service, and skip the ` +
            'event once the view has stopped at it.',
        );
      case 'retry-lane':
        return journal.lanes.retryLane(request.consumer, request.entity);
      case 'retry-lanes':
        return journal.lanes.retryLanes(request.consumer);
      case 'skip-in-lane': {
        const { consumer, entity, seq, reason } = request;
        return journal.lanes.skipInLane(consumer, entity, seq, reason);
      }
    }
  });
}

/** Lets the next start build the rows of a view again. */
async function removeRows(location: JournalLocation, view: string): Promise<boolean> {
  const inspection = new ViewInspection(location);
  try {
    const stored = await inspection.storedView(view);
    if (stored === undefined) return false;
    const store = await storedViews(location, VIEW_LIMITS_DEFAULT);
    try {
      const writer = await store.openWriter(stored);
      try {
        await writer.clear();
      } finally {
        writer.close();
      }
    } finally {
      await store.close();
    }
    return true;
  } finally {
    inspection.close();
  }
}

/** Returns the failure of a change that only a host makes, because hosts use the journal. */
function inUse(location: JournalLocation): SvcError {
  return new SvcError(
    'SVC_DATA_IN_USE',
    `The journal in ${locationName(location)} is used by a running service, which alone makes this change.`,
  );
}
