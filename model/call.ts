// The types that a caller and a handler exchange: the context of a call, and its outcome. A refusal is a value; a
// fault or a failure is thrown (GuestFault, SvcError).
import type { RefusalCode } from '@svc/contract';
import type { StoredEvent } from './entity.ts';
import type { TimerChange } from './timer.ts';

/** A value now, or later. Checking `instanceof Promise` keeps the fast path free of waiting. */
export type Awaitable<T> = T | Promise<T>;

export type Metadata = readonly (readonly [name: string, value: string])[];

/** The fuel that a call has used. The host that runs the guest adds to it. */
export interface Spent {
  /** Units of fuel. */
  fuel: number;
}

/**
 * The data of a call besides its input. A replay of the call is given the same time, seed and metadata, so that it has
 * the same result.
 */
export interface CallContext {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. */
  readonly nowMs: number;
  /** 64 bits that seed the module's random numbers. */
  readonly seed: bigint;
  readonly metadata: Metadata;
  /** Receives the fuel that the call uses; the module does not see it. */
  readonly spent?: Spent | undefined;
}

export interface Reply {
  readonly kind: 'reply';
  /** JSON text. */
  readonly json: string;
}

/** A request that the module refused on purpose. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly code: RefusalCode | 'OTHER';
  /** The module's own code, if `code` is `OTHER`. */
  readonly otherCode?: string;
  readonly message: string;
  /** JSON text for programs. */
  readonly details?: string;
}

/** An action of a command on its entity, besides its events. Each action is stored as a record after the events. */
export type EntityAction = DeleteEntity;

/** The entity is deleted; the same id starts again from the empty state. */
export interface DeleteEntity {
  readonly kind: 'delete-entity';
}

/** The empty list, for commands without actions. Effects share both lists, so that no command creates one. */
export const NO_ACTIONS: readonly EntityAction[] = [];
export const DELETE_ENTITY: readonly EntityAction[] = [{ kind: 'delete-entity' }];

/**
 * The result of a command, which is stored completely or not at all: first its events, then its actions, then the changes of
 * its timers, each in order.
 */
export interface Effect {
  readonly kind: 'effect';
  /** Separate from the actions, because the guest folds all events as one batch. */
  readonly events: readonly StoredEvent[];
  readonly actions: readonly EntityAction[];
  /**
   * JSON text. Undefined: the module computes the reply from the state after the events, when the runtime asks for
   * it.
   */
  readonly reply: string | undefined;
  /** Changes of the timers of the entity, made in order after its events and actions; undefined: none. */
  readonly timers?: readonly TimerChange[] | undefined;
}

export function deletesEntity({ actions }: Effect): boolean {
  return actions.some(({ kind }) => kind === 'delete-entity');
}

export function refusal(code: RefusalCode, message: string): Refusal {
  return { kind: 'refusal', code, message };
}
