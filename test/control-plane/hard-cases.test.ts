// Every hard case of a control plane that needs no real orchestrator has a test that begins with `hard case` and its number.
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** 26 to 29 are those of real orchestrators. */
const NUMBERS = [...Array.from({ length: 25 }, (_, index) => index + 1), 30];
const TITLE = /(?:\b(?:test|describe)|\))\(\s*(['"`])hard case (\d+)(?:: |\1)/g;

test('every hard case has a test under its number', () => {
  const found = new Set<number>();
  for (const path of globSync('**/*.test.ts', { cwd: import.meta.dirname })) {
    const text = readFileSync(`${import.meta.dirname}/${path}`, 'utf8');
    for (const [, , number] of text.matchAll(TITLE)) found.add(Number(number));
  }
  expect([...found].toSorted((a, b) => a - b)).toEqual(NUMBERS);
});
