// LaneAdministration is what operators do with the stored lanes of consumers.
import type { EntityRef } from '@svc/model/entity';

export interface LaneAdministration {
  /**
   * Lets the event be delivered again at which the events of an entity are parked. Resolves with whether they were parked, once that is
   * on disk. Rejects with SVC_NOT_IN_JOURNAL if no such consumer has handled events, with SVC_JOURNAL_CORRUPT for a damaged lane, and as
   * writing to the journal does.
   */
  retryLane(consumer: string, entity: EntityRef): Promise<boolean>;
  /** Does what `retryLane` does for RETRIED_AT_ONCE_MAX entities at most, without damaged lanes. Resolves with whether there were any. */
  retryLanes(consumer: string): Promise<boolean>;
  /**
   * Settles the event `seq` without handling it, if the events of its entity are parked there. `reason` goes to the log of the service.
   * Resolves and rejects as `retryLane` does; a damaged lane continues after `seq`.
   */
  skipInLane(consumer: string, entity: EntityRef, seq: number, reason: string): Promise<boolean>;
}
