// FaultLog is what the engine needs of the log: it takes the faults that a caller must not see.
import type { EntityRef } from '../../model/entity.ts';

/**
 * Takes a fault of an entity: a GuestFault, or the SvcError for a history that could not be read.
 * `handler` is the command's or query's wire name; undefined while the history was folded.
 * It must not throw.
 */
export type FaultLog = (entity: EntityRef, handler: string | undefined, fault: unknown) => void;
