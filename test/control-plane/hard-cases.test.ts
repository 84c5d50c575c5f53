// Every hard case of a control plane and of one machine has a test that begins with `hard case` and its number.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const NUMBERS = Array.from({ length: 30 }, (_, index) => index + 1);
/** Those of which a test runs real instances of one machine, too. */
const OF_ONE_MACHINE = [16, 18, 19, 20, 21, 29];
/** Those of which a test runs with the objects of a cluster, too. */
const OF_A_CLUSTER = [16, 17, 18, 19, 20, 21, 22, 26, 27, 28];
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
  expect(numbersIn('kubernetes/*.test.ts')).toEqual(OF_A_CLUSTER);
});
