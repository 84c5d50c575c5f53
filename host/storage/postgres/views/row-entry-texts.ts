// RowEntryTexts: the texts of a row's columns, checked against what an index can hold.
import type { RowChange, StoredView } from '../../../engine/needs/views.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { checkSizes, rowInvalid, valuesOf } from '../../view-walk/row-columns.ts';
import { columnText, keyText } from './column-text.ts';
import { type ViewLayout, columnNumbers } from './view-layout.ts';

/** Bytes of the key and the columns of an index together. PostgreSQL refuses an entry of more than 2,704 bytes, headers included. */
export const ENTRY_BYTES_MAX = 2_600;

export class RowEntryTexts {
  readonly #limits: ViewLimits;
  readonly #layout: ViewLayout;
  /** Positions among the columns of the layout, for each index that the table has or that the view declares. */
  readonly #indexes: readonly (readonly number[])[];

  constructor(layout: ViewLayout, view: StoredView, limits: ViewLimits) {
    this.#limits = limits;
    this.#layout = layout;
    const numbers = layout.columns.map(({ no }) => no);
    const declared = view.indexes.flatMap((index) => {
      const columns = columnNumbers(layout, index);
      return columns === undefined ? [] : [columns];
    });
    this.#indexes = [...layout.indexes.map(({ columns }) => columns), ...declared].map((columns) =>
      columns.map((no) => numbers.indexOf(no)),
    );
  }

  /**
   * Returns the texts of all columns of a row that is to be stored, in the order of the layout; none for a row that is to be removed.
   * Throws SVC_VIEW_ROW_INVALID for a row that cannot be stored.
   */
  of({ key, json }: RowChange): readonly string[] {
    checkSizes(key, json, this.#limits);
    const keyBytes = Buffer.byteLength(keyText(key));
    if (keyBytes > ENTRY_BYTES_MAX) throw entryTooLong(key, 'its key');
    if (json === undefined) return [];
    if (json.includes('\u0000'))
      throw rowInvalid(key, 'has U+0000 in its JSON text, which PostgreSQL cannot store');
    const texts = valuesOf({ key, json }, this.#layout.columns, this.#limits).map(columnText);
    const bytes = texts.map((text) => Buffer.byteLength(text));
    for (const index of this.#indexes) {
      const total = index.reduce((sum, at) => sum + bytes[at]!, keyBytes);
      if (total > ENTRY_BYTES_MAX) throw entryTooLong(key, 'its key and the fields of an index');
    }
    return texts;
  }
}

export function entryTooLong(key: string, what: string): Error {
  return rowInvalid(
    key,
    `has more than ${ENTRY_BYTES_MAX} bytes in ${what}, which an index of PostgreSQL cannot hold`,
  );
}
