// RemoteJournal is a journal as one behind a network is, around one in memory: appends of different entities settle in any
// order, their outcomes may be lost, and every read has its answer some turns of the event loop after it has begun. What it
// returns is what was stored when the read began, which is the earliest moment that `needs/journal.ts` allows.
import {
  type IncarnationStart,
  type Journal,
  LEFT_TO_ANSWER,
  READ_UNITS_MAX,
  type ReplyAhead,
  type StoredReply,
} from '../../host/engine/needs/journal.ts';
import type { EntityRef } from '../../model/entity.ts';
import type { Random } from './random.ts';
import { FailingJournal } from './watched-journal.ts';

/** A lookup that waits for the next request, or for its response. */
interface Lookup {
  readonly found: Promise<StoredReply | undefined>;
  readonly resolve: (reply: Promise<ReplyAhead> | ReplyAhead) => void;
}

export class RemoteJournal extends FailingJournal {
  readonly #random: Random;
  /** Keys that were looked up ahead, `component/id KEY`. */
  readonly lookedAhead: string[] = [];
  /** Keys that were looked up when their command ran. */
  readonly lookedUp: string[] = [];
  /** How often lookups were sent: all that begin in one turn go together, and one request is under way at a time. */
  requests = 0;
  /** UTF-16 units of the replies of the largest response. */
  largestResponse = 0;
  /** How many turns of the event loop a read takes. */
  turnsOfRead = 1;
  /** The entity of which the next append is, instead of one by chance; 0: the one that has waited longest. */
  picked: number | undefined = undefined;
  #isSending = false;
  #lookups: Lookup[] = [];

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

  override async answer(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    const { turnsOfRead } = this;
    this.lookedUp.push(`${entity.component}/${entity.id} ${key}`);
    try {
      return await this.#find(entity, key);
    } finally {
      await after(turnsOfRead);
    }
  }

  lookAhead(entity: EntityRef, key: string): Promise<ReplyAhead> {
    this.lookedAhead.push(`${entity.component}/${entity.id} ${key}`);
    const { promise, resolve } = Promise.withResolvers<ReplyAhead>();
    const found = this.#find(entity, key);
    // The response may be some turns away, or leave it out.
    found.catch(() => {});
    this.#lookups.push({ found, resolve });
    if (!this.#isSending) void this.#send();
    return promise;
  }

  /** Sends the lookups that begin in this turn, and then those that begin until the response is there. */
  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#lookups.length > 0) {
      await after(1);
      const sent = this.#lookups.splice(0);
      this.requests++;
      await after(this.turnsOfRead - 1);
      await this.#respond(sent);
    }
    this.#isSending = false;
  }

  async #respond(lookups: readonly Lookup[]): Promise<void> {
    let units = 0;
    for (const { found, resolve } of lookups) {
      resolve(units < READ_UNITS_MAX ? found : LEFT_TO_ANSWER);
      if (units < READ_UNITS_MAX) units += unitsOf(await found.catch(() => undefined));
    }
    this.largestResponse = Math.max(this.largestResponse, units);
  }

  async #find(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    if (this.readFailure !== undefined) throw this.readFailure;
    return super.answer(entity, key);
  }

  /** Waits for the appends that are queued. */
  override async close(): Promise<void> {
    await this.letAllThrough();
    await super.close();
  }
}

function unitsOf(reply: StoredReply | undefined): number {
  return reply === undefined ? 0 : JSON.stringify(reply.outcome).length;
}

/** Resolves after so many turns of the event loop. */
export async function after(turnCount: number): Promise<void> {
  for (let turn = 0; turn < turnCount; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
