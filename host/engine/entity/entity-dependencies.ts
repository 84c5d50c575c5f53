// EntityDependencies: what the live entities of one engine share.
import type { EngineLimits } from '../engine-limits.ts';
import type { RandomSource, Clock } from '../needs/clock.ts';
import type { FaultLog } from '../needs/fault-log.ts';
import type { Journal } from '../needs/journal.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import type { EntityBreaker } from './entity-breaker.ts';
import type { FullJournal } from './full-journal.ts';
import type { ReplayNeeds } from './replay.ts';
import type { SnapshotPolicy } from './snapshot-policy.ts';
import type { UnsettledBytes } from './unsettled-bytes.ts';

export interface EntityDependencies<Entity> extends ReplayNeeds {
  readonly journal: Journal;
  readonly snapshots: SnapshotPolicy;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly eventLoop: EventLoop;
  readonly limits: EngineLimits;
  readonly faultLog: FaultLog;
  readonly breaker: EntityBreaker;
  readonly unsettled: UnsettledBytes;
  readonly fullJournal: FullJournal;
  /** The entity was used, and has nothing to do any more. */
  idle(entity: Entity): void;
  /** The entity has something to do beyond the present call. */
  busy(entity: Entity): void;
  /** The entity holds no state any more: forget it. */
  gone(entity: Entity): void;
}
