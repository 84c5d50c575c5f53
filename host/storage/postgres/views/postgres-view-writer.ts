// PostgresViewWriter is the writer of the rows of one definition. It has the lease of the definition while it is open.
//
// Invariant: after a statement whose outcome is not known, and after another writer has taken over, it stores nothing more. The next
// writer waits until that statement is over, and reads what was stored.
import assert from 'node:assert';
import { SvcError } from '@svc/kit/svc-error';
import {
  type FoldedTo,
  type RowChange,
  SKIPS_MAX,
  type SkippedEvent,
  type StoredView,
  type ViewRow,
  type ViewWriter,
} from '../../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { DatabaseFailure } from '../database-failure.ts';
import type { Parameter, Row } from '../database-session.ts';
import { keyText } from './column-text.ts';
import { type OpenedRows, makeRows } from './opened-rows.ts';
import { RowEntryTexts } from './row-entry-texts.ts';
import { RowsTable } from './rows-table.ts';
import { checkedRow, rowChecksum } from './stored-row.ts';
import { dropTable } from './unused-tables.ts';
import type { ViewDatabase } from './view-database.ts';
import { viewFailure } from './view-failure.ts';
import { type ViewHead, foldedText, revisionOf, skipsText } from './view-head.ts';
import { ViewIndexing } from './view-indexing.ts';
import { LEASE_SECONDS, type ViewLease } from './view-lease.ts';
import { ViewQuota, rowsBytes } from './view-quota.ts';
import type { ViewSession } from './view-session.ts';

/** How often a statement is tried that the server has given up in favor of another transaction. */
const ATTEMPTS_MAX = 3;

export interface WriterNeeds {
  readonly database: ViewDatabase;
  readonly view: StoredView;
  readonly limits: ViewLimits;
  /** Called when the writer is closed. */
  readonly onClose: (lease: ViewLease) => void;
}

export class PostgresViewWriter implements ViewWriter {
  readonly discarded: string | undefined;
  readonly #needs: WriterNeeds;
  readonly #lease: ViewLease;
  readonly #quota: ViewQuota;
  readonly #indexing: ViewIndexing;
  readonly #closing = new AbortController();
  #head: ViewHead;
  /** Why nothing more is stored. */
  #failure: unknown;

  constructor(needs: WriterNeeds, { lease, head, discarded }: OpenedRows) {
    const { view, limits } = needs;
    this.#needs = needs;
    this.#lease = lease;
    this.#head = head;
    this.discarded = discarded;
    this.#quota = new ViewQuota(view.definition, limits.bytesMax);
    this.#indexing = new ViewIndexing({ ...needs, lease, quota: this.#quota });
  }

  get isLive(): boolean {
    return this.#head.isLive;
  }

  get foldedTo(): FoldedTo | undefined {
    return this.#head.foldedTo;
  }

  get rowCount(): number {
    return this.#head.rowCount;
  }

  get skips(): readonly SkippedEvent[] {
    return this.#head.skips;
  }

  get revision(): string {
    return revisionOf(this.#head);
  }

  async rows(keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    if (keys.length === 0) return [];
    const text = new RowsTable(this.#head.number).rowsOfKeys();
    const rows = await this.#stored((session) => session.query(text, [keys.map(keyText)]));
    return this.#guarded(() => {
      const found = new Map<string, string>();
      for (const [keyOfRow, json, crc] of rows) {
        const row = checkedRow(keyOfRow, json, crc);
        found.set(row.key, row.json);
      }
      return keys.map((key) => found.get(key));
    });
  }

  async put(changes: readonly RowChange[], foldedTo: FoldedTo): Promise<void> {
    assert(!this.#closing.signal.aborted, 'the writer is closed');
    const { view, limits } = this.#needs;
    const { layout, number, rowCount, textBytes } = this.#head;
    const entries = new RowEntryTexts(layout, view, limits);
    const stored: (readonly [row: ViewRow, texts: readonly string[]])[] = [];
    const removed: string[] = [];
    for (const change of changes) {
      const texts = entries.of(change);
      const { key, json } = change;
      if (json === undefined) removed.push(keyText(key));
      else stored.push([{ key, json }, texts]);
    }
    const keys = stored.map(([{ key }]) => keyText(key));
    const jsons = stored.map(([{ json }]) => json);
    const bytes = [...keys, ...jsons].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const values: readonly Parameter[] = [
      this.#lease.definition,
      this.#lease.epoch,
      [...keys, ...removed],
      removed,
      bytes,
      foldedText(view, foldedTo),
      LEASE_SECONDS,
      keys,
      jsons,
      stored.map(([{ key, json }]) => rowChecksum(key, json)),
      ...layout.columns.map((_, at) => stored.map(([, texts]) => texts[at]!)),
    ];
    const indexCount = Math.max(layout.indexes.length, view.indexes.length);
    const added = { rowCount: stored.length, textBytes: bytes, indexCount };
    const text = new RowsTable(number).put(layout.columns);
    const totals = await this.#stored(async (session) => {
      await this.#quota.reserve(rowsBytes(added), session, { rowCount, textBytes, indexCount });
      return this.#lease.held(await answered(() => session.query(text, values)));
    });
    this.#head = {
      ...this.#head,
      rowCount: totals[0] as number,
      textBytes: totals[1] as number,
      foldedTo,
    };
  }

  async prepareIndexes(rowsMax: number): Promise<boolean> {
    const head = this.#head;
    this.#head = await this.#guarded(() =>
      this.#indexing.step(head, rowsMax, this.#closing.signal),
    );
    return this.#indexing.areReady(this.#head);
  }

  async goLive(): Promise<void> {
    assert(this.#indexing.areReady(this.#head), 'an index is not ready');
    const set = "is_live = true, version = nextval('svc.view_number')";
    const [version] = await this.#updated(set, [], 'version');
    this.#head = { ...this.#head, isLive: true, version: version as number };
  }

  async clear(): Promise<void> {
    const { view } = this.#needs;
    const { number, skips } = this.#head;
    this.#head = await this.#stored((session) =>
      session.transaction(async () => {
        await this.#lease.update(session, 'is_live = false');
        return makeRows(session, view, skipsText(view, skips));
      }),
    );
    await this.#stored((session) => dropTable(session, number));
  }

  async skip(event: SkippedEvent): Promise<void> {
    assert(this.skips.length < SKIPS_MAX, 'too many events are skipped');
    const skips = [...this.skips, event];
    await this.#updated('skips = $3', [skipsText(this.#needs.view, skips)], '1');
    this.#head = { ...this.#head, skips };
  }

  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#needs.onClose(this.#lease);
  }

  /** Sets columns of the definition. */
  #updated(set: string, values: readonly Parameter[], returned: string): Promise<Row> {
    return this.#stored((session) =>
      session.transaction(() => this.#lease.update(session, set, values, returned)),
    );
  }

  #stored<T>(work: (session: ViewSession) => Promise<T>): Promise<T> {
    return this.#guarded(() => this.#needs.database.write(work));
  }

  /** Rejects with an SvcError for a failure of the database. */
  async #guarded<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await work();
    } catch (error) {
      const failure = viewFailure(error, this.#lease.definition, this.#needs.database.shown);
      const isUnknown = error instanceof DatabaseFailure && error.outcome === 'unknown';
      const isReplaced = error instanceof SvcError && error.code === 'SVC_VIEW_IN_USE';
      if (isUnknown || isReplaced) this.#failure = failure;
      throw failure;
    }
  }
}

/** Carries out a statement again if the server has given it up, and it may succeed when it is repeated. */
async function answered(ask: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
  for (let attempt = 1; ; attempt++)
    try {
      return await ask();
    } catch (error) {
      const isRetryable = error instanceof DatabaseFailure && error.isRetryable;
      if (!isRetryable || attempt === ATTEMPTS_MAX) throw error;
    }
}
