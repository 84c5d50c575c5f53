// The journal of a shopping cart with a past: two lives, and a clock that was set back between its records.
import { expect } from 'vitest';
import type { JournalRecord } from '../../model/entity.ts';
import { append } from '../suites/journal-suite.ts';
import { withJournal } from './with-journal.ts';

export const CART = { component: 'shopping-cart', id: 'c1' } as const;
/** 2030-01-02T03:04:05Z */
export const CART_TIME_MS = Date.UTC(2030, 0, 2, 3, 4, 5);

export function cartEvent(seq: number, seconds: number, event: object): JournalRecord {
  return {
    kind: 'event',
    seq,
    timeMs: CART_TIME_MS + seconds * 1000,
    event: { manifest: 'cart-event', json: JSON.stringify(event) },
  };
}

export const CART_RECORDS: readonly JournalRecord[] = [
  cartEvent(1, 0, { type: 'item-added', sku: 'apple', quantity: 1 }),
  cartEvent(2, 10, { type: 'item-added', sku: 'apple', quantity: 2 }),
  cartEvent(3, 20, { type: 'removed' }),
  { kind: 'deleted', seq: 4, timeMs: CART_TIME_MS + 20_000 },
  // The clock was set back.
  cartEvent(5, 5, { type: 'item-added', sku: 'pear', quantity: 5 }),
  cartEvent(6, 60, { type: 'checked-out' }),
];

export async function fillCart(
  dir: string,
  records: readonly JournalRecord[] = CART_RECORDS,
): Promise<void> {
  await withJournal(dir, async (journal) => {
    expect(await append(journal, CART, ...records)).toBeUndefined();
  });
}
