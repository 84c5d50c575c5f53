// Which of a component's entities a page shows, in words. Pure.
import type { EntityList } from '@svc/contract';
import { amountText, countText } from './number-text.ts';

/** '51–100 of 1,234 entities', '12 entities'. `before`: entities on the pages before. */
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
