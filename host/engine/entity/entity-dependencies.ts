// EntityDependencies are the parts of an engine that its live entities share.
import type { EngineLimits } from '../engine-limits.ts';
import type { Clock } from '../needs/clock.ts';
import type { Journal } from '../needs/journal.ts';
import type { EventLoop } from '../needs/event-loop.ts';
import type { CallExecution } from './call-execution.ts';
import type { EntityBreaker } from './entity-breaker.ts';
import type { StateNeeds } from './entity-state.ts';
import type { ReplayNeeds } from './replay.ts';
import type { SnapshotPolicy } from './snapshot-policy.ts';
import type { UnsettledBytes } from './unsettled-bytes.ts';

export interface EntityDependencies<Entity> extends ReplayNeeds, StateNeeds {
  readonly snapshots: SnapshotPolicy;
  readonly execution: CallExecution;
  readonly breaker: EntityBreaker;
  readonly clock: Clock;
  readonly eventLoop: EventLoop;
  readonly limits: EngineLimits;
  readonly journal: Journal;
  readonly unsettled: UnsettledBytes;
  /** Called when the entity was used, and no call and no append of it is under way any more. */
  idle(entity: Entity): void;
  /** Called when work of the entity continues asynchronously, so that the entity must not be closed. */
  busy(entity: Entity): void;
  /** Called when the entity holds no state any more, and is to be removed from memory. */
  gone(entity: Entity): void;
}
