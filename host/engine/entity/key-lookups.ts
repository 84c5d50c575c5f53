// KeyLookups looks the idempotency keys of one entity's commands up while the commands wait for their turn, in a journal that
// answers later (`Journal.lookAhead`). So the lookups of many commands wait for the journal together, and together with the
// replay of the entity, and not one after the other.
//
// Invariants
// L1  A lookup is used only if no reply to its key can have been stored since it began. Calls of an entity run in the order in
//     which they came, so it is enough that no other call with that key is in flight when a lookup begins, and that
//     nothing has invalidated it since. A failed append does, because its call is over before it is known what is stored of
//     the appends behind it, and so does another lease, before which other nodes may have stored replies. Other calls look their
//     keys up when they run.
// L2  A reply that was found counts among the unsettled bytes of the engine until its call has ended. While too much waits for
//     the disk, no lookup begins.
//     A lookup that the journal leaves to `answer` counts as one that has not begun.
// L3  A lookup that fails fails its call if the call runs, and nothing else.
import type { Awaitable } from '@svc/model/call';
import type { EntityRef } from '@svc/model/entity';
import type { EngineLimits } from '../engine-limits.ts';
import { type Journal, LEFT_TO_ANSWER, type ReplyAhead } from '../needs/journal.ts';
import type { KeyLookup } from './entity-call.ts';
import { outcomeBytes, type UnsettledBytes } from './unsettled-bytes.ts';

export interface LookupNeeds {
  readonly journal: Pick<Journal, 'lookAhead'>;
  readonly unsettled: UnsettledBytes;
  readonly limits: Pick<EngineLimits, 'unsettledBytesMax'>;
}

export class KeyLookups {
  readonly #ref: EntityRef;
  readonly #needs: LookupNeeds;
  /** The number of calls in flight with each key: those that are queued, run, or wait for the disk. */
  readonly #inFlight = new Map<string, number>();
  #invalidations = 0;

  constructor(ref: EntityRef, needs: LookupNeeds) {
    this.#ref = ref;
    this.#needs = needs;
  }

  get invalidations(): number {
    return this.#invalidations;
  }

  get unsettled(): UnsettledBytes {
    return this.#needs.unsettled;
  }

  /** Called when a command with this key was queued. Begins its lookup, unless L1 or L2 forbids it. */
  enter(key: string): KeyLookup {
    const others = this.#inFlight.get(key) ?? 0;
    const lookup = new CallLookup(this, key, others === 0);
    this.#inFlight.set(key, others + 1);
    return lookup;
  }

  /** Called when a call with this key has ended. */
  left(key: string): void {
    const others = this.#inFlight.get(key)! - 1;
    if (others > 0) this.#inFlight.set(key, others);
    else this.#inFlight.delete(key);
  }

  /** Called when replies may have been stored that lookups under way do not find (L1). */
  invalidate(): void {
    this.#invalidations++;
  }

  /** Looks a key up; undefined: too much waits for the disk. */
  find(key: string): Promise<ReplyAhead> | undefined {
    const { journal, unsettled, limits } = this.#needs;
    return unsettled.total < limits.unsettledBytesMax
      ? journal.lookAhead?.(this.#ref, key)
      : undefined;
  }
}

class CallLookup implements KeyLookup {
  readonly #lookups: KeyLookups;
  readonly #key: string;
  /** Whether no other call with this key was in flight when the call came. */
  readonly #isFirst: boolean;
  #hasBegun = false;
  /** A promise until the reply was found, and if that has failed. */
  #reply: Awaitable<ReplyAhead> = undefined;
  #invalidations = 0;
  /** Bytes of the reply among the unsettled bytes. */
  #bytes = 0;

  constructor(lookups: KeyLookups, key: string, isFirst: boolean) {
    this.#lookups = lookups;
    this.#key = key;
    this.#isFirst = isFirst;
    if (isFirst) this.#begin();
  }

  get isCurrent(): boolean {
    return this.#hasBegun && this.#invalidations === this.#lookups.invalidations;
  }

  get reply(): Awaitable<ReplyAhead> {
    return this.#reply;
  }

  renew(): void {
    if (this.#isFirst && !this.isCurrent) this.#begin();
  }

  callEnded(): void {
    this.#found(undefined);
    this.#lookups.left(this.#key);
  }

  #begin(): void {
    const reply = this.#lookups.find(this.#key);
    this.#hasBegun = reply !== undefined;
    this.#invalidations = this.#lookups.invalidations;
    this.#reply = reply;
    reply?.then(
      (stored) => {
        // The call may have ended since, or another lookup begun.
        if (this.#reply === reply) this.#found(stored);
      },
      // The promise itself rejects the call (L3). Without a listener, the rejection of a call that does not run is unhandled.
      () => {},
    );
  }

  #found(reply: ReplyAhead): void {
    const { unsettled } = this.#lookups;
    if (reply === LEFT_TO_ANSWER) this.#hasBegun = false;
    const stored = reply === LEFT_TO_ANSWER ? undefined : reply;
    unsettled.add(-this.#bytes);
    this.#bytes = stored === undefined ? 0 : outcomeBytes(stored.outcome);
    unsettled.add(this.#bytes);
    this.#reply = stored;
  }
}
