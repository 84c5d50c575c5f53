import { expect, test } from 'vitest';
import { closest } from '@svc/contract/suggestion';

test.each([
  ['biuld', 'build'],
  ['inspct', 'inspect'],
  ['RUN', 'run'],
  ['xyz', undefined],
  ['', undefined],
])('the command meant by %j is %j', (word, meant) => {
  expect(closest(word, ['build', 'run', 'inspect'])).toBe(meant);
});
