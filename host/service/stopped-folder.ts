// StoppedFolder carries out an operator's changes in a data folder that no host uses, under the folder's lock.
import { SvcError } from '@svc/kit/svc-error';
import type { ControlRequest } from '../control/control-request.ts';
import { laneDamaged } from '../consumers/lane-damaged.ts';
import {
  RETRIED_AT_ONCE_MAX,
  type StoredConsumer,
  type StoredLane,
} from '../engine/needs/consumers.ts';
import type { EntityRef } from '@svc/model/entity';
import { VIEW_LIMITS_DEFAULT } from '@svc/model/view-limits';
import { type ChangeableJournal, changeJournal } from '../storage/journal-administration.ts';
import { type JournalLocation, locationName } from '../storage/journal-location.ts';
import { inspectConsumers } from '../storage/journal-reading.ts';
import { storedViews } from '../storage/stored-views.ts';
import type { ConsumerInspection } from '../storage/work-inspection.ts';
import { ViewInspection } from '../history/view-inspection.ts';
import { systemClock } from '../system.ts';
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
        return removeRows(location, request.view);
      case 'skip-in-view':
        throw new SvcError(
          'SVC_CONTROL_UNAVAILABLE',
          `No host runs on ${locationName(location)}, so it is not known where the view '${request.view}' stops. Start the service, and skip the ` +
            'event once the view has stopped at it.',
        );
      case 'retry-lane':
        return changeLane(location, journal, request);
      case 'retry-lanes':
        return retryLanes(location, journal, request.consumer);
      case 'skip-in-lane':
        return changeLane(location, journal, request, request);
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

/**
 * Lets the next start deliver the parked event of a lane again, or the event after the skipped one, whose reason it writes to the
 * log. Rejects with SVC_NOT_IN_JOURNAL if there is no such consumer, and with SVC_JOURNAL_CORRUPT if a damaged lane is to be
 * delivered again.
 */
async function changeLane(
  location: JournalLocation,
  journal: ChangeableJournal,
  { consumer, entity }: { readonly consumer: string; readonly entity: EntityRef },
  skipped?: SkippedEvent,
): Promise<boolean> {
  const inspection = inspectConsumers(location);
  try {
    const { id, start, position } = await storedIn(inspection, consumer);
    const { lanes, damaged } = await inspection.lanes(consumer, { entity }, 0, 1);
    if (damaged.length > 0 && skipped === undefined) throw laneDamaged(consumer, entity);
    const next = damaged.length > 0 ? afterSkipped(skipped!) : nextOf(lanes[0], skipped);
    if (next === undefined) return false;
    const waiting = { entity, ...next, attempts: 0, nextMs: systemClock.nowMs() };
    await journal.settleConsumer({ id, start }, { position, lanes: [waiting], rejoined: [] });
    return true;
  } finally {
    inspection.close();
  }
}

interface SkippedEvent {
  readonly seq: number;
  readonly reason: string;
}

type NextEvent = Pick<StoredLane, 'seq' | 'round' | 'reason'>;

/** Returns where a parked lane continues; undefined if it is not parked at the event that is to be skipped, or not at all. */
function nextOf(lane: StoredLane | undefined, skipped?: SkippedEvent): NextEvent | undefined {
  if (lane === undefined || lane.nextMs !== undefined) return undefined;
  if (skipped === undefined) return { seq: lane.seq, round: lane.round, reason: undefined };
  return lane.seq === skipped.seq ? afterSkipped(skipped) : undefined;
}

function afterSkipped({ seq, reason }: SkippedEvent): NextEvent {
  return { seq: seq + 1, round: 0, reason };
}

/** Rejects with SVC_NOT_IN_JOURNAL. */
async function storedIn(inspection: ConsumerInspection, consumer: string): Promise<StoredConsumer> {
  const stored = await inspection.stored(consumer);
  if (stored !== undefined) return stored;
  throw new SvcError(
    'SVC_NOT_IN_JOURNAL',
    `No consumer '${consumer}' has handled events of this journal. svc consumers DIR lists those that have.`,
  );
}

/** Lets the next start deliver the parked events of RETRIED_AT_ONCE_MAX entities again, at most. */
async function retryLanes(
  location: JournalLocation,
  journal: ChangeableJournal,
  consumer: string,
): Promise<boolean> {
  const inspection = inspectConsumers(location);
  try {
    const { id, start, position } = await storedIn(inspection, consumer);
    const lanes: StoredLane[] = [];
    for await (const lane of inspection.parked(consumer))
      if (lanes.push(lane) === RETRIED_AT_ONCE_MAX) break;
    if (lanes.length === 0) return false;
    const nextMs = systemClock.nowMs();
    const waiting = lanes.map((lane) => ({ ...lane, attempts: 0, nextMs, reason: undefined }));
    await journal.settleConsumer({ id, start }, { position, lanes: waiting, rejoined: [] });
    return true;
  } finally {
    inspection.close();
  }
}
