// EntityPage: the description of a page of entities. The function is pure.
import type { EntityList } from '@svc/contract';
import { amountText, countText } from './number-text.ts';

/** Returns '51–100 of 1,234 entities' or '12 entities'. `before`: number of entities on the pages before. */
export function entityPageText(
  { entities, total, totalCapped }: Pick<EntityList, 'entities' | 'total' | 'totalCapped'>,
  before: number,
): string {
  const all = totalCapped
    ? `more than ${countText(total)} entities`
    : amountText(total, 'entity', 'entities');
  if (entities.length === 0 || (before === 0 && entities.length === total)) return all;
  return `${countText(before + 1)}–${countText(before + entities.length)} of ${all}`;
}
