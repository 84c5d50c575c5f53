// Timer: a command that the runtime sends to an entity later, once or again and again. A timer belongs to an entity, its
// owner, and is known by the owner and its name: setting a timer of the same name replaces it.
import type { EntityRef } from './entity.ts';

/** When a recurring timer is due, again and again. */
export type Schedule =
  | {
      readonly kind: 'every';
      /** Milliseconds from one occurrence to the next, at least 1,000. */
      readonly everyMs: number;
    }
  | {
      readonly kind: 'cron';
      /** Five fields or an `@` word, as contract/cron-expression.ts accepts them. */
      readonly expression: string;
      /** Name of an IANA time zone; an empty text stands for UTC. */
      readonly zone: string;
    };

/** When a timer is due, as the code that sets it says. */
export type Due =
  | {
      readonly kind: 'at';
      /** Milliseconds since 1970-01-01T00:00:00Z. A time in the past is due at once. */
      readonly atMs: number;
    }
  | {
      readonly kind: 'after';
      /** Milliseconds after the time of the call that sets the timer. */
      readonly afterMs: number;
    }
  | Schedule;

/** A timer as a command, a handler or a consumer sets it. */
export interface Timer {
  readonly name: string;
  /** The entity that receives the command. */
  readonly target: EntityRef;
  readonly command: string;
  /** JSON text. */
  readonly input: string;
  readonly due: Due;
  /** How often a firing is tried before the timer is dead; undefined: as often as the settings say. */
  readonly attempts?: number | undefined;
}

/** A change that a command makes to the timers of its entity. */
export type TimerChange =
  | { readonly kind: 'set'; readonly timer: Timer }
  | { readonly kind: 'cancel'; readonly name: string };
