// The lists of checks fit the sources as they are. That the tests notice is what `npm run sandbox:mutants` shows.
import { expect, test } from 'vitest';
import { mutantLists, problemsOf } from '../support/mutants.ts';

const lists = [...mutantLists()];

test('there are lists, and no two checks have one name', () => {
  const names = lists.flatMap(([, mutants]) => mutants.map(({ check }) => check));
  expect(names.length).toBeGreaterThan(80);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test.each(lists)(
  'each check of %s stands in the sources once, and its tests exist',
  (_area, mutants) => {
    expect(mutants.flatMap((mutant) => problemsOf(mutant))).toEqual([]);
  },
);
