// FaultLog is what the engine needs of the log: it takes the faults that a caller must not see.
import type { EntityRef } from '@svc/model/entity';

/**
 * Takes a fault of an entity: a GuestFault, or the SvcError for a history that could not be read, for a state that a
 * handler has changed, or for an entity that backs off from now on. `handler` is the command's or query's wire name;
 * undefined for a fault outside of calls: while an entity was loaded, compared, closed, or its snapshot taken.
 * It must not throw.
 */
export type FaultLog = (entity: EntityRef, handler: string | undefined, fault: unknown) => void;
