// The corpus as a whole: how many families and cases there are, that no family is one case with other
// numbers, and that what makes them is source. What the cases do is in the files beside this one.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FAMILIES } from '../../fixtures/hostile/families.ts';
import {
  type Answer,
  type CaseKind,
  isAlone,
  isRouted,
} from '../../fixtures/hostile/hostile-case.ts';
import { LIMIT_NAMES } from '../../model/limit-name.ts';

const KINDS: readonly CaseKind[] = ['refused', 'fault', 'held', 'harmless'];
const cases = FAMILIES.flatMap((family) => family.cases);

const row = (name: string, counts: readonly (number | string)[]) =>
  `${name.padEnd(28)}${counts.map((count) => String(count).padStart(9)).join('')}`;

function table(): string {
  const counted = (of: typeof cases) => [
    ...KINDS.map((kind) => of.filter((candidate) => candidate.kind === kind).length),
    of.length,
  ];
  return [
    row('family', [...KINDS, 'cases']),
    ...FAMILIES.map(({ name, cases: own }) => row(name, counted([...own]))),
    row('all', counted(cases)),
  ].join('\n');
}

describe('the corpus', () => {
  test('has at least 200 cases in at least 20 families', () => {
    console.log(`\n${table()}\n`);
    expect(cases.length).toBeGreaterThanOrEqual(200);
    expect(FAMILIES.length).toBeGreaterThanOrEqual(20);
  });

  test('has at least five cases in each family, no two of one name', () => {
    for (const { name, cases: own } of FAMILIES) {
      const names = own.map((candidate) => `${name} › ${candidate.name}`);
      expect(names.length).toBeGreaterThanOrEqual(5);
      expect(names).toEqual([...new Set(names)]);
    }
  });

  test('has a case for each limit that a running module can meet', () => {
    const answers = cases.flatMap((candidate): readonly Partial<Answer>[] => {
      if (isAlone(candidate))
        return candidate.steps.flatMap((step) => ('answers' in step ? step.answers : step.answer));
      if (isRouted(candidate)) return [candidate.answer];
      return candidate.limit === undefined ? [] : [{ limit: candidate.limit }];
    });
    const met = new Set(answers.map(({ limit }) => limit));
    // Its line has a code of its own.
    if (answers.some(({ code }) => code === 'SVC_ANSWER_TIMED_OUT')) met.add('request-time');
    // Two gigabytes: what is lifted of the caller and of entities is less, by the limits above.
    met.add('lowered-bytes');
    expect(LIMIT_NAMES.filter((name) => !met.has(name))).toEqual([]);
  });

  test('is kept as source, without a single module in binary', () => {
    const root = join(import.meta.dirname, '../../fixtures/hostile');
    const files = globSync('**/*.*', { cwd: root });
    expect(files.length).toBeGreaterThan(FAMILIES.length);
    expect(files.filter((file) => !file.endsWith('.ts') && !file.startsWith('crashers'))).toEqual(
      [],
    );
  });
});
