// Every hard case of a control plane and of one machine has a test that begins with `hard case` and its number.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** 26 to 28 are those of a cluster. */
const NUMBERS = [...Array.from({ length: 25 }, (_, index) => index + 1), 29, 30];
/** Those of which a test runs real instances of one machine, too. */
const OF_ONE_MACHINE = [16, 18, 19, 20, 21, 29];
const TITLE = /(?:\b(?:test|describe)|\))\(\s*(['"`])hard case (\d+)(?:: |\1)/g;

function numbersIn(files: string): number[] {
  const found = new Set<number>();
  for (const path of globSync(files, { cwd: import.meta.dirname })) {
    const text = readFileSync(`${import.meta.dirname}/${path}`, 'utf8');
    for (const [, , number] of text.matchAll(TITLE)) found.add(Number(number));
  }
  return [...found].toSorted((a, b) => a - b);
}

test('every hard case has a test under its number', () => {
  expect(numbersIn('{**,../tokens}/*.test.ts')).toEqual(NUMBERS);
  expect(numbersIn('local/*.test.ts')).toEqual(OF_ONE_MACHINE);
});
