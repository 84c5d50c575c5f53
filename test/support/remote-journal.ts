// RemoteJournal is a journal as one behind a network is, around one in memory: appends of different entities settle in any
// order, their outcomes may be lost, and every read has its answer some turns of the event loop after it has begun. What it
// returns is what was stored when the read began, which is the earliest moment that `needs/journal.ts` allows.
import type { IncarnationStart, Journal, StoredReply } from '../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { Random } from './random.ts';
import { FailingJournal } from './watched-journal.ts';

export class RemoteJournal extends FailingJournal {
  readonly #random: Random;
  /** Keys that were looked up ahead, `component/id KEY`. */
  readonly lookedAhead: string[] = [];
  /** Keys that were looked up when their command ran. */
  readonly lookedUp: string[] = [];
  /** How often lookups were sent: all that begin in one turn go together. */
  requests = 0;
  /** How many turns of the event loop a read takes. */
  turnsOfRead = 1;
  /** The entity of which the next append is, instead of one by chance; 0: the one that has waited longest. */
  picked: number | undefined = undefined;
  #isSending = false;

  constructor(inner: Journal, random: Random) {
    super(inner);
    this.#random = random;
  }

  protected override nextOf(entityCount: number): number {
    return this.picked ?? this.#random.below(Math.max(1, entityCount));
  }

  override async incarnation(
    entity: EntityRef,
    limit: number,
    fingerprint: string | undefined,
  ): Promise<IncarnationStart> {
    const { turnsOfRead } = this;
    const start = await super.incarnation(entity, limit, fingerprint);
    await after(turnsOfRead);
    return start;
  }

  override answer(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    this.lookedUp.push(`${entity.component}/${entity.id} ${key}`);
    return this.#find(entity, key);
  }

  lookAhead(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    this.lookedAhead.push(`${entity.component}/${entity.id} ${key}`);
    return this.#find(entity, key);
  }

  async #find(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    const { turnsOfRead } = this;
    if (!this.#isSending) {
      this.#isSending = true;
      this.requests++;
      setImmediate(() => void (this.#isSending = false));
    }
    try {
      if (this.readFailure !== undefined) throw this.readFailure;
      return await super.answer(entity, key);
    } finally {
      await after(turnsOfRead);
    }
  }

  /** Waits for the appends that are queued. */
  override async close(): Promise<void> {
    await this.letAllThrough();
    await super.close();
  }
}

/** Resolves after so many turns of the event loop. */
export async function after(turnCount: number): Promise<void> {
  for (let turn = 0; turn < turnCount; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
