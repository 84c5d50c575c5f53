// Budgets for tests that are not about them: nothing of it is used up.
import { ByteBudget } from '../../model/byte-budget.ts';
import { KeptBytes } from '../../model/kept-bytes.ts';

export function ampleBudget(): ByteBudget {
  return new ByteBudget(Number.MAX_SAFE_INTEGER);
}

export function amplyKept(): KeptBytes {
  return new KeptBytes(ampleBudget());
}
