// What is said between a caller and a handler: the context of a call, and how it came out.
// A refusal is a value. A fault or a failure is thrown (GuestFault, SvcError) and is none of these.
import type { RefusalCode } from '@svc/contract';
import type { StoredEvent } from './entity.ts';

/** A value now, or later. Asking `instanceof Promise` keeps the fast path free of waiting. */
export type Awaitable<T> = T | Promise<T>;

export type Metadata = readonly (readonly [name: string, value: string])[];

/** What a call has cost. It is added to by whoever runs the guest. */
export interface Spent {
  /** Units of fuel. */
  fuel: number;
}

/** What a call knows beside its input, recorded by the runtime: the same context, the same result. */
export interface CallContext {
  /** Milliseconds since 1970-01-01T00:00:00Z, an integer. */
  readonly nowMs: number;
  /** 64 bits that seed the module's random numbers. */
  readonly seed: bigint;
  readonly metadata: Metadata;
  /** Where it is noted what the call costs; the module does not see it. */
  readonly spent?: Spent | undefined;
}

export interface Reply {
  readonly kind: 'reply';
  /** JSON text. */
  readonly json: string;
}

/** A request that was refused on purpose. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly code: RefusalCode | 'OTHER';
  /** With code `OTHER`: the module's own word. */
  readonly otherCode?: string;
  readonly message: string;
  /** JSON text for programs. */
  readonly details?: string;
}

/** What a command does to its entity beside its events. Each action is stored as a record after them. */
export type EntityAction = DeleteEntity;

/** The entity is deleted; the same id starts again from the empty state. */
export interface DeleteEntity {
  readonly kind: 'delete-entity';
}

/** The actions of most commands. Effects share this list and the next one, so that neither is made for each command. */
export const NO_ACTIONS: readonly EntityAction[] = [];
export const DELETE_ENTITY: readonly EntityAction[] = [{ kind: 'delete-entity' }];

/** What a command wants to happen, all of it or nothing: first its events, then its actions, in order. */
export interface Effect {
  readonly kind: 'effect';
  /** The guest folds them as one batch, so they are a list of their own. */
  readonly events: readonly StoredEvent[];
  readonly actions: readonly EntityAction[];
  /** JSON text. Undefined: the module computes it from the state after the events, when it is asked. */
  readonly reply: string | undefined;
}

export function deletesEntity({ actions }: Effect): boolean {
  return actions.some(({ kind }) => kind === 'delete-entity');
}

export function refusal(code: RefusalCode, message: string): Refusal {
  return { kind: 'refusal', code, message };
}
