// What the engine needs of whoever keeps the log: a place for what a caller must not see.
import type { EntityRef } from '../../model/entity.ts';

/**
 * Takes a fault of an entity: a GuestFault, or an SvcError that kept its history from being read.
 * `handler` is the command's or query's wire name; undefined while the history was folded.
 * It must not throw.
 */
export type FaultLog = (entity: EntityRef, handler: string | undefined, fault: unknown) => void;
