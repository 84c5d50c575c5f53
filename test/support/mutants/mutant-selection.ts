// MutantSelection: which mutants a run tries, and in which order. The same seed gives the same sample and order.
import { Random } from '../random.ts';
import type { Mutant } from './mutant.ts';

export interface MutantSelection {
  /** A part of the name of the check. */
  readonly check: string;
  /** Which of how many parts, from 1 on. */
  readonly shard: readonly [number, number];
  /** How many at most, chosen by the seed. */
  readonly sample: number;
  readonly seed: number;
}

/** Shuffled by the seed, so that a run that ends with its budget tries other ones another day. */
export function selectMutants(
  mutants: readonly Mutant[],
  { check, shard: [part, parts], sample, seed }: MutantSelection,
): readonly Mutant[] {
  const random = new Random(seed);
  const shuffled = mutants.filter((mutant) => mutant.check.includes(check));
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  return shuffled.filter((_, index) => index % parts === part - 1).slice(0, sample);
}

/** Parses `2/4`. Undefined: it is no part of a whole. */
export function parseShard(text: string): readonly [number, number] | undefined {
  const [, part, parts] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).map(Number);
  return part !== undefined && parts !== undefined && part >= 1 && part <= parts
    ? [part, parts]
    : undefined;
}

/** Groups mutants whose tests are in the same files: they share one run of the tests on the unchanged sources. */
export function groupByTestFiles<
  T extends { readonly tests: readonly (readonly [string, string])[] },
>(mutants: readonly T[]): readonly (readonly T[])[] {
  const groups = Map.groupBy(mutants, ({ tests }) =>
    [...new Set(tests.map(([file]) => file))].toSorted().join(' '),
  );
  return [...groups.values()];
}
