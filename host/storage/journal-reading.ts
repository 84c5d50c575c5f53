// JournalReading opens what reads a journal beside a service that may be writing it: for persons, and for checks. All functions
// throw SVC_JOURNAL_MISSING, SVC_JOURNAL_NEWER, SVC_JOURNAL_CORRUPT, SVC_JOURNAL_UNAVAILABLE and SVC_DATA_UNUSABLE.
import type { Feed } from '../engine/needs/feed.ts';
import type { Awaitable } from '@svc/model/call';
import type { InspectedCluster } from './cluster-inspection.ts';
import { EntityOrder } from './entity-order.ts';
import type { HistoryScan, JournalInspection } from './journal-inspection.ts';
import { type JournalInDatabase, type JournalLocation, locationName } from './journal-location.ts';
import type { JournalProgress } from './journal-progress.ts';
import { DatabaseConsumerInspection } from './postgres/tools/consumer-inspection.ts';
import { DatabaseHistoryScan } from './postgres/tools/history-scan.ts';
import { DatabaseInspection } from './postgres/tools/journal-inspection.ts';
import { DatabaseProgress } from './postgres/tools/journal-progress.ts';
import { DatabaseTimerInspection } from './postgres/tools/timer-inspection.ts';
import { SqliteConsumerInspection } from './sqlite/tools/consumer-inspection.ts';
import { SqliteHistoryScan } from './sqlite/tools/history-scan.ts';
import { JournalFeed } from './sqlite/tools/journal-feed.ts';
import { SqliteInspection } from './sqlite/tools/journal-inspection.ts';
import { SqliteProgress } from './sqlite/tools/journal-progress.ts';
import { SqliteTimerInspection } from './sqlite/tools/timer-inspection.ts';
import type { ConsumerInspection, TimerInspection } from './work-inspection.ts';

/** Opens a journal for the inspection of its entities. */
export function inspectJournal(location: JournalLocation): JournalInspection {
  switch (location.kind) {
    case 'folder':
      return new SqliteInspection(location.dir);
    case 'postgres':
      return new DatabaseInspection(location);
  }
}

/** Opens a journal for reading the histories of many entities. */
export function scanHistories(location: JournalLocation): HistoryScan {
  switch (location.kind) {
    case 'folder':
      return new SqliteHistoryScan(location.dir);
    case 'postgres':
      return new DatabaseHistoryScan(location);
  }
}

/** Opens a journal for the inspection of its timers. */
export function inspectTimers(location: JournalLocation): TimerInspection {
  switch (location.kind) {
    case 'folder':
      return new SqliteTimerInspection(location.dir);
    case 'postgres':
      return new DatabaseTimerInspection(location);
  }
}

/** Opens a journal for the inspection of its consumers. */
export function inspectConsumers(location: JournalLocation): ConsumerInspection {
  switch (location.kind) {
    case 'folder':
      return new SqliteConsumerInspection(location.dir);
    case 'postgres':
      return new DatabaseConsumerInspection(location);
  }
}

/** Opens what says how far a journal is. */
export function inspectProgress(location: JournalLocation): JournalProgress {
  switch (location.kind) {
    case 'folder':
      return new SqliteProgress(location.dir);
    case 'postgres':
      return new DatabaseProgress(location);
  }
}

/** Returns the nodes of a journal in a database, and the owners of its slices. A journal in a folder has one writer and no cluster. */
export async function inspectCluster(location: JournalInDatabase): Promise<InspectedCluster> {
  const code = await import('./postgres/tools/cluster-inspection.ts');
  return code.inspectCluster(location);
}

/** Opens the records that are stored now, in commit order: no record follows the last one. */
export function openEndedFeed(location: JournalLocation): Awaitable<Feed> {
  switch (location.kind) {
    case 'folder':
      return new JournalFeed(location.dir);
    case 'postgres':
      return import('./postgres/tools/ended-feed.ts').then((code) => code.openEndedFeed(location));
  }
}

/** Whether the entity that was stored first comes first, or last. */
export type EntityDirection = 'first-to-last' | 'last-to-first';

/** The records of a journal, all of one entity before those of the next. */
export interface OrderedEntities {
  /** Returns the records in an order. Reading them throws SVC_JOURNAL_CORRUPT and SVC_JOURNAL_UNAVAILABLE. */
  feed(direction: EntityDirection): Pick<Feed, 'start' | 'read' | 'count' | 'mark'>;
  close(): void;
}

/** Orders the records of a feed of the same journal, of these components, by entity. Rejects with the errors of the feed. */
export function orderByEntity(
  location: JournalLocation,
  feed: Feed,
  components: ReadonlySet<string>,
): Promise<OrderedEntities> {
  return EntityOrder.open(inspectJournal(location), locationName(location), feed, components);
}
