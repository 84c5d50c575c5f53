// The check of cron expressions: what is valid, and the messages for what is not.
import { describe, expect, test } from 'vitest';
import { cronProblem } from '../../contract/cron-expression.ts';

describe('a cron expression', () => {
  test.each([
    '* * * * *',
    '0 9 * * MON-FRI',
    '0 9 * * mon,Wed,FRI',
    '*/15 8-17 * * 1-5',
    '0-30/10 0 1,15 JAN-MAR *',
    '05 00 01 02 00',
    '0 0 * * 7',
    '0 0 * * SAT-SUN',
    '0 0 * * 6-7',
    '0 0 29 2 *',
    '0 0 30 2 1',
    '0 0 31 2,3 *',
    '  0\t0  * * *  ',
    '@yearly',
    '@annually',
    '@monthly',
    '@weekly',
    '@daily',
    '@midnight',
    '@Hourly',
    `${'1,'.repeat(45)}1 * * * *`,
  ])('can be %s', (text) => {
    expect(cronProblem(text)).toBeUndefined();
  });

  test.each([
    ['', 'is empty: write five: minute, hour, day of month, month, day of week'],
    [' \t ', 'is empty: '],
    ['0 9 * *', 'has 4 fields: write five: '],
    ['9', 'has 1 field: write five: '],
    ['0 0 9 * * *', 'has 6 fields, but seconds are not supported: write five: '],
    ['0 0 9 * * * 2027', 'has 7 fields, but seconds and years are not supported: write five: '],
    ['@reboot', 'is not a known word: write @yearly, '],
    ['@daily 5', 'is not a known word: write @yearly, '],
    ['@', 'is not a known word: write @yearly, '],
    [
      '60 * * * *',
      "has '60' in the field minute, which is neither a value nor a range: write *, 0 ",
    ],
    ['0 24 * * *', "has '24' in the field hour, which is neither a value nor a range: "],
    ['0 0 0 * *', "has '0' in the field day of month, which is neither a value nor a range: "],
    ['0 0 1 13 *', "has '13' in the field month, which is neither a value nor a range: "],
    ['0 0 * * 8', "has '8' in the field day of week, which is neither a value nor a range: "],
    ['0 0 1 JANUARY *', "has 'JANUARY' in the field month, which is neither"],
    ['0 0 JAN * *', "has 'JAN' in the field day of month, which is neither"],
    ['0 0 L * *', "has 'L' in the field day of month, which is neither"],
    ['001 0 * * *', "has '001' in the field minute, which is neither"],
    ['-1 * * * *', "has '-1' in the field minute, which is neither"],
    ['1- * * * *', "has '1-' in the field minute, which is neither"],
    ['1-2-3 * * * *', "has '1-2-3' in the field minute, which is neither"],
    ['1,,2 * * * *', "has '' in the field minute, which is neither"],
    ['*/5/5 * * * *', "has '*/5/5' in the field minute, which is neither"],
    ['*-5 * * * *', "has '*-5' in the field minute, which is neither"],
    ['** * * * *', "has '**' in the field minute, which is neither"],
    ['*/0 * * * *', "has '*/0' in the field minute, whose step is not 1 to 60"],
    ['*/61 * * * *', "has '*/61' in the field minute, whose step is not 1 to 60"],
    ['*/ * * * *', "has '*/' in the field minute, whose step is not 1 to 60"],
    ['0 0 * * */8', "has '*/8' in the field day of week, whose step is not 1 to 7"],
    [
      '5/15 * * * *',
      "has '5/15' in the field minute, which has a step without a range: write 5-59/15",
    ],
    ['30-10 * * * *', "has '30-10' in the field minute, whose range ends before it begins"],
    [
      '0 0 * * FRI-MON',
      "has 'FRI-MON' in the field day of week, whose range ends before it begins",
    ],
    ['0 0 30 2 *', 'never fires: the months that it names have at most 29 days'],
    ['0 0 31 2,4,6,9,11 *', 'never fires: the months that it names have at most 30 days'],
    ['0 0 ? * MON', 'has a character that it may not have: write numbers'],
    ['0 0 * * 5#2', 'has a character that it may not have: '],
    ['0 0 * * *\0', 'has a character that it may not have: '],
    ['0 0 * * *\n', 'has a character that it may not have: '],
    ['0 0\u00a0* * *', 'has a character that it may not have: '],
    ['２ 0 * * *', 'has a character that it may not have: '],
    ['*'.repeat(101), 'has 101 characters: write at most 100'],
    ['* '.repeat(25_000), 'has 50000 characters: write at most 100'],
  ])('is not %j', (text, problem) => {
    expect(cronProblem(text)).toMatch(new RegExp(`^${RegExp.escape(problem)}`));
  });

  test('has a problem that shows no character of the text that a terminal would obey', () => {
    for (let code = 0; code < 0x3000; code += 1) {
      const problem = cronProblem(`${String.fromCharCode(code)} * * * * *`) ?? '';
      expect(problem).toMatch(/^[\x20-\x7e]*$/);
    }
  });
});
