// What is known of the last searches.
import { expect, test } from 'vitest';
import { NameSearches } from '../../../webhooks/subscriptions/name-searches.ts';

test('the results of the last sixteen names are kept, each for its expression', () => {
  const searches = new NameSearches();
  for (let number = 0; number < 17; number++) {
    searches.keep(`name ${number}`, 'a', true);
    searches.keep(`name ${number}`, 'b', false);
  }
  expect(searches.find('name 0', 'a')).toBeUndefined();
  expect([searches.find('name 1', 'a'), searches.find('name 1', 'b')]).toEqual([true, false]);
  expect(searches.find('name 16', 'c')).toBeUndefined();
});
