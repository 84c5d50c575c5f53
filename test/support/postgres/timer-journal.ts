// TimerJournal is a journal whose timers are in PostgreSQL, and everything else in memory. It stores groups of appends as a journal in
// PostgreSQL does, as far as timers are concerned.
import type { StoredBeside } from '../../../host/engine/needs/journal.ts';
import type { StoredTimer } from '../../../host/engine/needs/timers.ts';
import { DatabaseFailure } from '../../../host/storage/postgres/database-failure.ts';
import type { DatabaseSession } from '../../../host/storage/postgres/database-session.ts';
import {
  TimerChanges,
  type TimerRules,
} from '../../../host/storage/postgres/timers/timer-changes.ts';
import { PostgresTimerReader } from '../../../host/storage/postgres/timers/timer-reader.ts';
import { MemoryJournal } from '../../../host/storage/memory/memory-journal.ts';
import { SvcError } from '../../../kit/svc-error.ts';
import type { EntityRef, JournalRecord } from '../../../model/entity.ts';

interface QueuedAppend {
  readonly entity: EntityRef;
  readonly records: readonly JournalRecord[];
  readonly settled: (failure?: SvcError) => void;
  readonly beside: StoredBeside;
  /** Whether an earlier append of the entity, which this one depends on, has failed. */
  dependsOnFailed: boolean;
}

export class TimerJournal extends MemoryJournal {
  readonly #session: DatabaseSession;
  readonly #rules: TimerRules;
  readonly reader: PostgresTimerReader;
  readonly damaged: unknown[] = [];
  /** SQLSTATEs of transactions that were repeated. */
  readonly repeated: string[] = [];
  /** When the earliest timer is fired that each transaction has stored. */
  readonly earliestMs: number[] = [];
  /** The next record of each entity, indexed by component and id. */
  readonly #nextSeq = new Map<string, number>();
  #queue: QueuedAppend[] = [];
  #storing: Promise<void> | undefined = undefined;

  constructor(session: DatabaseSession, rules: TimerRules) {
    super();
    this.#session = session;
    this.#rules = rules;
    const onDamage = (error: unknown): void => {
      this.damaged.push(error);
    };
    this.reader = new PostgresTimerReader(session, onDamage);
  }

  override append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside: StoredBeside = {},
  ): void {
    this.#queue.push({ entity, records, settled, beside, dependsOnFailed: false });
    this.#storing ??= this.#store();
  }

  // oxlint-disable-next-line typescript/ban-ts-comment -- the timers of a MemoryJournal are there at once
  // @ts-expect-error -- a Journal's may come later
  override async timer(number: number): Promise<StoredTimer | undefined> {
    if (this.isClosed) throw new SvcError('SVC_JOURNAL_UNAVAILABLE', 'The journal is closed.');
    return this.reader.timer(number);
  }

  /** Does what `TimersUnderTest.due` does. */
  async due(nowMs: number, limit = 1_000): Promise<readonly StoredTimer[]> {
    const due = await this.reader.due(nowMs, limit, undefined);
    return Promise.all(due.map(async ({ number }) => (await this.reader.timer(number))!));
  }

  override async close(): Promise<void> {
    await this.#storing;
    await super.close();
  }

  async #store(): Promise<void> {
    // Appends of one turn are a group.
    await Promise.resolve();
    for (let group = this.#queue; group.length > 0; group = this.#queue) {
      this.#queue = [];
      const outcomes = await this.#stored(group);
      for (const [index, { settled }] of group.entries()) settled(outcomes[index]);
    }
    this.#storing = undefined;
  }

  async #stored(group: readonly QueuedAppend[]): Promise<readonly (SvcError | undefined)[]> {
    for (;;)
      try {
        const outcomes = await this.#transaction(group);
        this.#keep(group.filter((_, index) => outcomes[index] === undefined));
        return outcomes;
      } catch (error) {
        await this.#session.query({ text: 'ROLLBACK' });
        if (!(error instanceof DatabaseFailure) || !error.isRetryable) throw error;
        this.repeated.push(error.sqlState!);
      }
  }

  async #transaction(group: readonly QueuedAppend[]): Promise<readonly (SvcError | undefined)[]> {
    const appends = group.map(({ entity, records, beside: { timers = { changes: [] } } }) => ({
      entity,
      isDeleted: records.some(({ kind }) => kind === 'deleted'),
      writes: timers,
    }));
    await this.#session.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
    const changes = await TimerChanges.load(this.#session, appends, this.#rules);
    const next = new Map(this.#nextSeq);
    const outcomes = group.map((append, index) => {
      const { entity, isDeleted, writes } = appends[index]!;
      const failure = this.#conflict(append, next) ?? changes.apply(entity, isDeleted, writes);
      if (failure === undefined)
        next.set(keyOf(entity), (next.get(keyOf(entity)) ?? 1) + append.records.length);
      else this.#failed(append, group.slice(index + 1));
      return failure;
    });
    this.earliestMs.push(await changes.store(this.#session));
    await this.#session.query({ text: 'COMMIT' });
    return outcomes;
  }

  #conflict(
    { entity, records, beside, dependsOnFailed }: QueuedAppend,
    next: ReadonlyMap<string, number>,
  ): SvcError | undefined {
    if (this.isClosed) return unavailable('The journal is closed.');
    if (beside.isDetached === true) return undefined;
    if (dependsOnFailed) return unavailable('One before it was not stored.');
    const seq = next.get(keyOf(entity)) ?? 1;
    return records.length === 0 || records[0]!.seq === seq
      ? undefined
      : unavailable(`Record ${records[0]!.seq} does not follow.`);
  }

  #failed({ entity, beside }: QueuedAppend, later: readonly QueuedAppend[]): void {
    if (beside.isDetached === true) return;
    for (const append of [...later, ...this.#queue])
      if (keyOf(append.entity) === keyOf(entity)) append.dependsOnFailed = true;
  }

  #keep(stored: readonly QueuedAppend[]): void {
    for (const { entity, records, beside } of stored) {
      const key = keyOf(entity);
      this.#nextSeq.set(key, (this.#nextSeq.get(key) ?? 1) + records.length);
      if (records.length > 0 || beside.reply !== undefined)
        super.append(entity, records, () => {}, { reply: beside.reply });
    }
  }
}

function keyOf({ component, id }: EntityRef): string {
  return `${component}\n${id}`;
}

function unavailable(message: string): SvcError {
  return new SvcError('SVC_JOURNAL_UNAVAILABLE', message);
}
