// PostgresViewReader answers queries of one definition from the database. Each statement also returns the version of the definition, so
// that an answer whose table, layout or liveness is another one by then is not given, and asked for once more.
import {
  COUNT_MAX,
  type RowCount,
  type SkippedEvent,
  type StoredView,
  type ViewPage,
  type ViewQuery,
  type ViewReader,
  type ViewRow,
  type ViewStatus,
} from '../../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { PageRows } from '../../view-walk/page-rows.ts';
import { checkKey, checkLimit, positionOfRow } from '../../view-walk/row-columns.ts';
import { cursorAt, positionOf } from '../../view-walk/view-cursor.ts';
import { viewRebuilding } from '../../view-walk/view-refusals.ts';
import { after, walkOf } from '../../view-walk/walk.ts';
import type { Parameter, Row } from '../database-session.ts';
import { keyText } from './column-text.ts';
import { RowsTable, boundTexts } from './rows-table.ts';
import { checkedRow } from './stored-row.ts';
import type { ViewDatabase } from './view-database.ts';
import { viewFailure } from './view-failure.ts';
import { HEAD, type ViewHead, headOf, skipsOf } from './view-head.ts';
import { madeIndex } from './view-layout.ts';
import { isMissing } from './view-session.ts';

/** How often a query is asked again because the definition has changed meanwhile. */
const ATTEMPTS_MAX = 3;
/** The text of a key has at most this many bytes for each of the key's. */
const KEY_GROWTH = 2;

/** A statement whose rows begin with the version of the definition, and its values after the definition. */
interface Asked {
  readonly text: string;
  readonly values: readonly Parameter[];
}

export class PostgresViewReader implements ViewReader {
  readonly #database: ViewDatabase;
  readonly #view: StoredView;
  readonly #limits: ViewLimits;
  /** The head of live rows, as it was when the last statement was answered. */
  #known: ViewHead | undefined;

  constructor(database: ViewDatabase, view: StoredView, limits: ViewLimits) {
    this.#database = database;
    this.#view = view;
    this.#limits = limits;
  }

  async status(): Promise<ViewStatus> {
    try {
      const head = await this.#head();
      if (head === undefined) return { state: 'missing', reason: undefined };
      return { state: head.isLive ? 'live' : 'building', foldedTo: head.foldedTo };
    } catch (error) {
      const reason = viewFailure(error, this.#view.definition, this.#database.shown);
      return {
        state: 'missing',
        reason: reason instanceof Error ? reason.message : String(reason),
      };
    }
  }

  /** Returns the events that are left out of the rows; none if they cannot be read. */
  async skips(): Promise<readonly SkippedEvent[]> {
    const { definition } = this.#view;
    const text = 'SELECT skips FROM svc.view_definition WHERE definition = $1';
    const [row] = await this.#database.read(text, [definition]).catch(() => []);
    return (row && skipsOf(definition, row[0])) ?? [];
  }

  async get(key: string): Promise<ViewRow | undefined> {
    checkKey(key, this.#limits);
    return this.#read(
      (head) => ({ text: new RowsTable(head.number).row(), values: [keyText(key)] }),
      ([row = []]) => (row[1] === null ? undefined : checkedRow(row[1], row[2], row[3])),
    );
  }

  async find(query: ViewQuery, limit: number, cursor?: string): Promise<ViewPage> {
    checkLimit(limit, this.#limits);
    const { definition } = this.#view;
    const { pageBytesMax } = this.#limits;
    const walk = walkOf(this.#view, query);
    const from = cursor === undefined ? walk : after(walk, positionOf(definition, walk, cursor));
    const values = [limit + 1, KEY_GROWTH * pageBytesMax, ...boundTexts(from)];
    return this.#read(
      (head) => {
        const columns = this.#columns(head, query);
        if (columns === undefined) return 'not-made';
        if (walk.isEmpty) return 'no-rows';
        return { text: new RowsTable(head.number).page(columns, from), values };
      },
      (rows) => {
        const page = new PageRows(limit, pageBytesMax);
        for (const [, text, json, crc] of rows) {
          if (page.add(checkedRow(text, json, crc))) continue;
          const open = walk.columns.slice(walk.equals.length);
          const position = positionOfRow(page.rows.at(-1), open, this.#limits);
          return { rows: page.rows, cursor: cursorAt(definition, walk, position) };
        }
        return { rows: page.rows, cursor: undefined };
      },
    );
  }

  async count(query: ViewQuery): Promise<RowCount> {
    const walk = walkOf(this.#view, query);
    const values = [COUNT_MAX + 1, ...boundTexts(walk)];
    return this.#read(
      (head) => {
        const columns = this.#columns(head, query);
        if (columns === undefined) return 'not-made';
        if (walk.isEmpty) return 'no-rows';
        return { text: new RowsTable(head.number).count(columns, walk), values };
      },
      ([row]) => {
        const count = Number(row?.[1] ?? 0);
        return { count: Math.min(count, COUNT_MAX), hasMore: count > COUNT_MAX };
      },
    );
  }

  close(): void {
    // The connections are the store's.
  }

  /**
   * Carries out the statement that `ask` makes for live rows, and returns what `take` makes of its rows. `ask` returns `not-made` if
   * the index of the query is missing.
   */
  async #read<T>(
    ask: (head: ViewHead) => Asked | 'not-made' | 'no-rows',
    take: (rows: readonly Row[]) => T,
  ): Promise<T> {
    try {
      return take(await this.#rows(ask));
    } catch (error) {
      this.#known = undefined;
      throw viewFailure(error, this.#view.definition, this.#database.shown);
    }
  }

  async #rows(ask: (head: ViewHead) => Asked | 'not-made' | 'no-rows'): Promise<readonly Row[]> {
    const { definition } = this.#view;
    for (let attempt = 1; ; attempt++) {
      const known = this.#known;
      const head = known ?? (await this.#liveHead());
      const asked = ask(head);
      if (asked === 'no-rows') return [];
      if (asked !== 'not-made') {
        try {
          const rows = await this.#database.read(asked.text, [definition, ...asked.values]);
          const version = rows.length > 0 ? rows[0]![0] : await this.#version();
          if (version === head.version) return rows;
        } catch (error) {
          // The table or the index was dropped after the head was read.
          if (!isMissing(error) || attempt === ATTEMPTS_MAX) throw error;
        }
      } else if (known === undefined) throw viewRebuilding('the index of this query is being made');
      this.#known = undefined;
      if (attempt === ATTEMPTS_MAX) throw viewRebuilding('its rows are being made new');
    }
  }

  async #liveHead(): Promise<ViewHead> {
    const head = await this.#head();
    if (head === undefined) throw viewRebuilding('its rows are not built yet');
    if (!head.isLive) throw viewRebuilding('its rows are being built');
    this.#known = head;
    return head;
  }

  /** Returns what is stored of the definition; undefined if it has no rows. */
  async #head(): Promise<ViewHead | undefined> {
    const text = `SELECT ${HEAD} FROM svc.view_definition WHERE definition = $1`;
    const [row] = await this.#database.read(text, [this.#view.definition]);
    return row && headOf(row);
  }

  async #version(): Promise<unknown> {
    const text = 'SELECT version FROM svc.view_definition WHERE definition = $1';
    const [row] = await this.#database.read(text, [this.#view.definition]);
    return row?.[0];
  }

  /** Returns the columns of the index that a query walks; undefined if the index is not made. */
  #columns({ layout }: ViewHead, { plan: { index } }: ViewQuery): readonly number[] | undefined {
    return index === 'key' ? [] : madeIndex(layout, this.#view.indexes[index]!)?.columns;
  }
}
