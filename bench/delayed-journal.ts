// DelayedJournal stands for a journal behind a network: a journal in memory whose appends settle, and whose lookups of idempotency
// keys are answered, a while after they began. All that begins in one turn of the event loop waits together.
import type { Journal, StoredBeside, StoredReply } from '../host/engine/needs/journal.ts';
import { MemoryJournal } from '../host/storage/memory/memory-journal.ts';
import type { SvcError } from '@svc/kit/svc-error';
import type { EntityRef, JournalRecord } from '@svc/model/entity';

export class DelayedJournal extends MemoryJournal implements Journal {
  readonly #delayMs: number;
  /** Called together once the delay of this turn is over; empty: nothing has begun in this turn. */
  #begun: (() => void)[] = [];

  constructor(delayMs: number) {
    super();
    this.#delayMs = delayMs;
  }

  override append(
    entity: EntityRef,
    records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
    beside?: StoredBeside,
  ): void {
    const later = (failure?: SvcError): void => this.#afterDelay(() => settled(failure));
    super.append(entity, records, later, beside);
  }

  lookAhead(entity: EntityRef, key: string): Promise<StoredReply | undefined> {
    return new Promise((resolve) => this.#afterDelay(() => resolve(this.answer(entity, key))));
  }

  #afterDelay(done: () => void): void {
    this.#begun.push(done);
    if (this.#begun.length > 1) return;
    setImmediate(() => {
      const begun = this.#begun;
      this.#begun = [];
      setTimeout(() => {
        for (const each of begun) each();
      }, this.#delayMs);
    });
  }
}
