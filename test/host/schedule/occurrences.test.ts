// The occurrences of schedules: in zones with daylight saving time, in leap years, and after a stop.
import * as fc from 'fast-check';
import { cronProblem, TIME_MS_MAX } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { Occurrences } from '../../../host/schedule/occurrences.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const cron = (expression: string, zone = '') => ({ kind: 'cron', expression, zone }) as const;
const every = (everyMs: number) => ({ kind: 'every', everyMs }) as const;
const iso = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().replace(':00.000Z', 'Z');

/** Returns the first occurrences after a time. */
function occurrencesOf(expression: string, zone: string, after: string, count: number) {
  const occurrences = new Occurrences();
  const found: (number | undefined)[] = [];
  let afterMs = Date.parse(after);
  while (found.length < count) {
    const nextMs = occurrences.first(cron(expression, zone), afterMs);
    found.push(nextMs);
    if (nextMs === undefined) break;
    afterMs = nextMs;
  }
  return found.map(iso);
}

/** Generates a field of an expression; one value in twenty is outside of the field's range. */
function field(first: number, last: number, ...names: readonly string[]) {
  const value = fc.oneof(
    { weight: 14, arbitrary: fc.integer({ min: first, max: last }).map(String) },
    { weight: 5, arbitrary: fc.constantFrom(...names, String(first)) },
    { weight: 1, arbitrary: fc.constantFrom(String(first - 1), String(last + 1), 'L') },
  );
  const range = fc.tuple(value, value).map((ends) => ends.join('-'));
  const step = fc.integer({ min: 1, max: 8 });
  const stepped = fc.tuple(fc.oneof(fc.constant('*'), range), step);
  const item = fc.oneof(
    { weight: 8, arbitrary: value },
    { weight: 1, arbitrary: range },
    { weight: 1, arbitrary: stepped.map((parts) => parts.join('/')) },
  );
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','));
  return fc.oneof(fc.constant('*'), list);
}

describe('occurrences of a cron expression', () => {
  test.each([
    ['* * * * *', '', '2026-05-01T09:00:59.999Z', ['2026-05-01T09:01Z', '2026-05-01T09:02Z']],
    ['0 9 * * MON-FRI', '', '2026-05-01T09:00Z', ['2026-05-04T09:00Z', '2026-05-05T09:00Z']],
    ['0 0 * * 0', '', '2026-05-01T00:00Z', ['2026-05-03T00:00Z', '2026-05-10T00:00Z']],
    ['0 0 * * 7', '', '2026-05-01T00:00Z', ['2026-05-03T00:00Z', '2026-05-10T00:00Z']],
    ['0 0 * * SAT-SUN', '', '2026-05-01T00:00Z', ['2026-05-02T00:00Z', '2026-05-03T00:00Z']],
    ['@monthly', '', '2026-01-01T00:00Z', ['2026-02-01T00:00Z', '2026-03-01T00:00Z']],
    ['0 0 31 * *', '', '2026-01-31T00:00Z', ['2026-03-31T00:00Z', '2026-05-31T00:00Z']],
    ['0 0 29 2 *', '', '2026-01-01T00:00Z', ['2028-02-29T00:00Z', '2032-02-29T00:00Z']],
    ['0 0 29 2 *', '', '2096-03-01T00:00Z', ['2104-02-29T00:00Z']],
    // 29 February, and every Monday in February.
    [
      '0 0 29 2 1',
      '',
      '2028-02-20T00:00Z',
      ['2028-02-21T00:00Z', '2028-02-28T00:00Z', '2028-02-29T00:00Z'],
    ],
    ['0 9 * * *', 'Asia/Kathmandu', '2026-05-01T00:00Z', ['2026-05-01T03:15Z']],
    ['0 0 30 2 *', '', '2026-01-01T00:00Z', [undefined]],
    ['* * * * *', '', '9999-12-31T23:59Z', [undefined]],
  ] as const)('%s in %j after %s', (expression, zone, after, expected) => {
    expect(occurrencesOf(expression, zone, after, expected.length)).toEqual(expected);
  });

  // The hour from 02:00 to 03:00 is skipped on 29 March 2026.
  test.each([
    ['30 2 * * *', ['2026-03-28T01:30Z', '2026-03-29T01:00Z', '2026-03-30T00:30Z']],
    [
      '30 1-3 * * *',
      [
        '2026-03-28T00:30Z',
        '2026-03-28T01:30Z',
        '2026-03-28T02:30Z',
        '2026-03-29T00:30Z',
        '2026-03-29T01:00Z',
        '2026-03-29T01:30Z',
      ],
    ],
    ['*/30 2 * * *', ['2026-03-28T01:00Z', '2026-03-28T01:30Z', '2026-03-30T00:00Z']],
    ['0 3 * * *', ['2026-03-28T02:00Z', '2026-03-29T01:00Z', '2026-03-30T01:00Z']],
    ['@daily', ['2026-03-28T23:00Z', '2026-03-29T22:00Z']],
  ] as const)('%s in Berlin when the clocks go forward', (expression, expected) => {
    const found = occurrencesOf(expression, 'Europe/Berlin', '2026-03-27T23:00Z', expected.length);
    expect(found).toEqual(expected);
  });

  // The hour from 02:00 to 03:00 comes twice on 25 October 2026.
  test.each([
    ['30 2 * * *', ['2026-10-25T00:30Z', '2026-10-26T01:30Z']],
    ['0,30 2 * * *', ['2026-10-25T00:00Z', '2026-10-25T00:30Z', '2026-10-26T01:00Z']],
    [
      '*/30 2 * * *',
      [
        '2026-10-25T00:00Z',
        '2026-10-25T00:30Z',
        '2026-10-25T01:00Z',
        '2026-10-25T01:30Z',
        '2026-10-26T01:00Z',
      ],
    ],
    ['0 3 * * *', ['2026-10-25T02:00Z', '2026-10-26T02:00Z']],
    ['@daily', ['2026-10-25T23:00Z', '2026-10-26T23:00Z']],
  ] as const)('%s in Berlin when the clocks go back', (expression, expected) => {
    const found = occurrencesOf(expression, 'Europe/Berlin', '2026-10-24T22:00Z', expected.length);
    expect(found).toEqual(expected);
  });

  test('follow one another without a gap, wherever between two the question is asked', () => {
    const zones = ['', 'Europe/Berlin', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Asia/Gaza'];
    const expressions = [
      '*/25 * * * *',
      '30 2 * * *',
      '0 0 * * *',
      '15,45 0-3 * * *',
      '5 1-2 * * SUN',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...expressions),
        fc.integer({ min: Date.UTC(2025, 0), max: Date.UTC(2035, 0) }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (zone, expression, fromMs, part) => {
          const occurrences = new Occurrences();
          const schedule = cron(expression, zone);
          const firstMs = occurrences.first(schedule, fromMs)!;
          expect(firstMs).toBeGreaterThan(fromMs);
          const betweenMs = fromMs + Math.floor((firstMs - fromMs) * part);
          expect(occurrences.first(schedule, betweenMs)).toBe(firstMs);
        },
      ),
      { numRuns: 300, seed: 1 },
    );
  });

  test('exist for each expression that the contract accepts, and croner takes each', () => {
    const fields = fc.tuple(
      field(0, 59),
      field(0, 23),
      field(1, 31),
      field(1, 12, 'JAN', 'feb', 'DEC'),
      field(0, 7, 'SUN', 'mon', 'Sat'),
    );
    let valid = 0;
    const startMs = Date.UTC(2026, 0);
    fc.assert(
      fc.property(fields, (texts) => {
        const expression = texts.join(' ');
        if (cronProblem(expression) !== undefined) return;
        valid += 1;
        const firstMs = new Occurrences().first(cron(expression), startMs);
        expect(firstMs).toBeGreaterThan(startMs);
      }),
      { numRuns: 1500, seed: 1 },
    );
    expect(valid).toBeGreaterThan(500);
  });

  test('are refused with an error if the expression or the zone is invalid', () => {
    const occurrences = new Occurrences();
    expect(() => occurrences.first(cron('61 * * * *'), 0)).toThrow('CronPattern');
    expect(() => occurrences.first(cron('* * * * *', 'Europe/Atlantis'), 0)).toThrow('Atlantis');
  });
});

describe('the occurrence that follows a fired one', () => {
  const due = Date.UTC(2026, 0, 1, 9);

  test.each([
    ['on time', due, due + MINUTE, 0],
    ['a moment late', due + 59_999, due + MINUTE, 0],
    ['when the next one is due too', due + MINUTE, due + 2 * MINUTE, 1],
    ['after ten minutes and a half', due + 10.5 * MINUTE, due + 11 * MINUTE, 10],
    ['with a clock that has gone back', due - DAY, due + MINUTE, 0],
  ])('is on the grid %s, of a period and of an expression', (_, nowMs, dueMs, missed) => {
    const occurrences = new Occurrences();
    expect(occurrences.following(every(MINUTE), due, nowMs)).toEqual({ dueMs, missed });
    expect(occurrences.following(cron('* * * * *'), due, nowMs)).toEqual({ dueMs, missed });
  });

  test('is found at once after years of a period of a second', () => {
    const nowMs = due + 3650 * DAY + 1;
    expect(new Occurrences().following(every(1000), due, nowMs)).toEqual({
      dueMs: due + 3650 * DAY + 1000,
      missed: 3650 * 86_400,
    });
  });

  test('is found after years of an expression, of which 100 occurrences are counted', () => {
    const occurrences = new Occurrences();
    const late = due + 3650 * DAY;
    const expected = { dueMs: late + MINUTE, missed: 100 };
    expect(occurrences.following(cron('* * * * *'), due, late)).toEqual(expected);
    // Again, from what was remembered.
    expect(occurrences.following(cron('* * * * *'), due, late)).toEqual(expected);
    expect(occurrences.following(cron('* * * * *'), due + MINUTE, late)).toEqual(expected);
    const counted = { dueMs: due + 101 * MINUTE, missed: 100 };
    expect(occurrences.following(cron('* * * * *'), due, due + 100 * MINUTE)).toEqual(counted);
  });

  test('is none after the last occurrence', () => {
    const occurrences = new Occurrences();
    const last = Date.UTC(9996, 1, 29);
    const none = { dueMs: undefined, missed: 0 };
    expect(occurrences.following(cron('0 0 29 2 *'), last, last)).toEqual(none);
    expect(occurrences.following(cron('0 0 29 2 *'), last, last)).toEqual(none);
    expect(occurrences.following(every(DAY), TIME_MS_MAX - 1, TIME_MS_MAX - 1)).toEqual(none);
  });

  test('is the one that a walk over single occurrences finds, in whatever order it is asked for', () => {
    const schedules = [cron('*/7 * * * *'), cron('30 2 * * *', 'Europe/Berlin'), every(90_000)];
    const span = fc.integer({ min: 0, max: DAY });
    const question = fc.tuple(fc.constantFrom(...schedules), span, span);
    fc.assert(
      fc.property(fc.array(question, { minLength: 1, maxLength: 12 }), (questions) => {
        const occurrences = new Occurrences();
        for (const [schedule, startMs, lateMs] of questions) {
          const dueMs = new Occurrences().first(schedule, due + startMs)!;
          let missed = 0;
          let nextMs = occurrences.first(schedule, dueMs)!;
          for (; nextMs <= dueMs + lateMs; nextMs = occurrences.first(schedule, nextMs)!)
            missed += 1;
          const found = occurrences.following(schedule, dueMs, dueMs + lateMs);
          const counted = schedule.kind === 'cron' ? Math.min(missed, 100) : missed;
          expect(found).toEqual({ dueMs: nextMs, missed: counted });
        }
      }),
      { numRuns: 12, seed: 1 },
    );
  });

  test('is computed for many expressions in bounded memory', () => {
    const occurrences = new Occurrences();
    for (let index = 0; index < 300; index += 1) {
      const schedule = cron(`${index % 60} ${Math.floor(index / 60)} * * *`);
      expect(occurrences.following(schedule, due, due).dueMs).toBeGreaterThan(due);
    }
  });
});
