// DelayedJournal stands for a journal behind a network, as one entity that nobody has called before uses it: a connection for appends
// and one for lookups of idempotency keys, each with one request under way, which takes a while; meanwhile the next one gathers. It
// stores nothing, as what is stored would be in another process.
import type { StoredReply } from '../host/engine/needs/journal.ts';
import { MemoryJournal } from '../host/storage/memory/memory-journal.ts';
import type { SvcError } from '@svc/kit/svc-error';
import type { EntityRef, JournalRecord } from '@svc/model/entity';

export class DelayedJournal extends MemoryJournal {
  readonly #appends: Connection;
  readonly #lookups: Connection;

  constructor(delayMs: number) {
    super();
    this.#appends = new Connection(delayMs);
    this.#lookups = new Connection(delayMs);
  }

  override append(
    _entity: EntityRef,
    _records: readonly JournalRecord[],
    settled: (failure?: SvcError) => void,
  ): void {
    this.#appends.send(settled);
  }

  lookAhead(): Promise<StoredReply | undefined> {
    return new Promise((resolve) => {
      this.#lookups.send(() => resolve(undefined));
    });
  }
}

class Connection {
  readonly #delayMs: number;
  #gathered: (() => void)[] = [];
  #isBusy = false;

  constructor(delayMs: number) {
    this.#delayMs = delayMs;
  }

  /** Calls `done` when the request with it is answered. */
  send(done: () => void): void {
    this.#gathered.push(done);
    if (this.#isBusy) return;
    this.#isBusy = true;
    setImmediate(() => this.#request());
  }

  #request(): void {
    const sent = this.#gathered;
    this.#gathered = [];
    setTimeout(() => {
      this.#isBusy = false;
      for (const done of sent) done();
      if (this.#gathered.length === 0 || this.#isBusy) return;
      this.#isBusy = true;
      this.#request();
    }, this.#delayMs);
  }
}
