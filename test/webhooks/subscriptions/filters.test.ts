// W16: which events of datasets a subscription wants, and that no regular expression takes long.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Filters } from '../../../webhooks/subscriptions/filters.ts';
import { NamePattern, patternProblem } from '../../../webhooks/subscriptions/name-pattern.ts';

const DATASET = {
  name: 'Munich-2026',
  model: 'routing',
  tags: ['nightly', 'eu'],
  status: 'SOLVING_COMPLETED',
};

function matches(filters: ConstructorParameters<typeof Filters>[0], more = {}): boolean {
  return new Filters(filters).matches({ ...DATASET, ...more });
}

describe('W16: a dataset has to match every filter that is given', () => {
  test('none match all', () => {
    expect(matches({})).toBe(true);
    expect(matches({ tags: [] })).toBe(true);
  });

  test('status and model are equal, in their case', () => {
    expect(matches({ status: 'SOLVING_COMPLETED', model: 'routing' })).toBe(true);
    expect(matches({ status: 'SOLVING_FAILED' })).toBe(false);
    expect(matches({ model: 'Routing' })).toBe(false);
    expect(matches({ model: 'rout' })).toBe(false);
    expect(matches({ status: 'SOLVING_COMPLETED', model: 'other' })).toBe(false);
  });

  test('all tags are there', () => {
    expect(matches({ tags: ['eu'] })).toBe(true);
    expect(matches({ tags: ['eu', 'nightly'] })).toBe(true);
    expect(matches({ tags: ['eu', 'us'] })).toBe(false);
    expect(matches({ tags: ['EU'] })).toBe(false);
  });

  test('the regular expression is found anywhere in the name', () => {
    expect(matches({ nameRegex: 'ich-20' })).toBe(true);
    expect(matches({ nameRegex: '^ich' })).toBe(false);
    expect(matches({ nameRegex: '^Munich-\\d{4}$' })).toBe(true);
    expect(matches({ nameRegex: '' })).toBe(true);
    expect(matches({ nameRegex: 'ICH' })).toBe(false);
    expect(matches({ nameRegex: '(?i)ICH' })).toBe(true);
    expect(matches({ nameRegex: 'ich', tags: ['us'] })).toBe(false);
  });

  test('an expression of Unicode matches characters, not halves of them', () => {
    expect(matches({ nameRegex: '^.\\p{L}$' }, { name: '😀ü' })).toBe(true);
  });

  test('of a name that is longer than names are, the beginning is searched', () => {
    expect(matches({ nameRegex: 'b' }, { name: `${'😀'.repeat(255)}b` })).toBe(true);
    expect(matches({ nameRegex: 'b' }, { name: `${'a'.repeat(512)}b` })).toBe(false);
  });
});

test.each(['(', 'a(?=b)', '(a)\\1', 'a{1001}', '[z-a]', '*', '\\'])(
  'W16: %s is no regular expression of RE2',
  (text) => {
    expect(patternProblem(text)).toMatch(/^is no regular expression of RE2/);
  },
);

test('W16: an expression that becomes too many instructions is refused', () => {
  expect(patternProblem('a{500}')).toBeUndefined();
  expect(patternProblem('a{600}')).toBe(
    'is too large: it repeats so much that it becomes 602 instructions, of which it may have 512',
  );
  expect(patternProblem('(a{0,30}){0,30}')).toMatch(/^is too large/);
});

/** Expressions for which a search that tries again takes exponential time, or that repeat as much as they may. */
const WORST = [
  '(a+)+$',
  '(a|aa)+$',
  '([a-z]+)*[0-9]$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '(.*a){20}$',
  '(a|b)*a(a|b){160}$',
  '((a?){20}){5}[^!]$',
  '(\\pL\\pL?){80}[0-9]$',
  '(a?){90}(a){40}[^!]$',
  '((((((a*)*)*)*)*)*)*b',
];

test.each(WORST)('W16: a search for %s ends, whatever the name is', (text) => {
  expect(patternProblem(text)).toBeUndefined();
  expect(new NamePattern(text).isFoundIn(`${'a'.repeat(255)}!`)).toBe(false);
});

test('W16: the steps that a search may take follow from the expression and the name', () => {
  const filters = new Filters({ nameRegex: '(a+)+$' });
  const steps = (name: string) => filters.stepsMax({ ...DATASET, name });
  const { size } = new NamePattern('(a+)+$');
  // Making the program counts for more than a search.
  expect(steps('aaaa')).toBeGreaterThanOrEqual(512 * 256);
  expect(filters.matches(DATASET)).toBe(false);
  expect(steps('aaaa')).toBe(4 * size);
  expect(steps('a'.repeat(1_000))).toBe(512 * size);
  expect(new Filters({ model: 'a' }).stepsMax(DATASET)).toBe(0);
});

test('W16: a search gives what the regular expressions of JavaScript give', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '(a|b)', '(ab)', 'a|b');
  const repeated = fc.tuple(atom, fc.constantFrom('', '*', '+', '?', '{0,2}'));
  const text = fc.array(repeated, { maxLength: 4 }).map((parts) => parts.flat().join(''));
  const name = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') });
  fc.assert(
    fc.property(text, name, fc.boolean(), fc.boolean(), (inner, searched, isBegin, isEnd) => {
      const pattern = `${isBegin ? '^' : ''}(${inner})${isEnd ? '$' : ''}`;
      expect(new NamePattern(pattern).isFoundIn(searched)).toBe(
        new RegExp(pattern, 'u').test(searched),
      );
    }),
    { numRuns: 300 },
  );
});
