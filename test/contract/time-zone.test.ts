// The check of time zones: names of IANA alone.
import { describe, expect, test } from 'vitest';
import { timeZoneProblem } from '../../contract/time-zone.ts';

describe('a time zone', () => {
  test.each([
    '',
    'UTC',
    'Europe/Berlin',
    'europe/berlin',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+2',
  ])('can be %s', (text) => {
    expect(timeZoneProblem(text)).toBeUndefined();
  });

  test.each([
    ['+02:00', 'is an offset: write an IANA name, such as Europe/Berlin or UTC'],
    ['-08', 'is an offset: write an IANA name, '],
    ['UTC+2', 'is not the name of a known time zone: write an IANA name, '],
    ['Europe/Atlantis', 'is not the name of a known time zone: '],
    [' UTC', 'is not the name of a known time zone: '],
    ['UTC\0', 'is not the name of a known time zone: '],
    ['../../etc/passwd', 'is not the name of a known time zone: '],
    ['x'.repeat(50_000), 'has 50000 characters: write an IANA name of at most 100, '],
  ])('is not %j', (text, problem) => {
    expect(timeZoneProblem(text)).toMatch(new RegExp(`^${RegExp.escape(problem)}`));
  });
});
