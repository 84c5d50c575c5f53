// How often failures of a background job reach the log.
import { expect, test } from 'vitest';
import { FailureReports } from '../../../host/service/failure-reports.ts';

function reporting() {
  const clock = { ms: 1_000_000, monotonicMs: () => clock.ms };
  const reported: string[] = [];
  const reports = new FailureReports(clock, (message) => reported.push(message));
  return { clock, reports, reported };
}

test('a text is reported once a minute, and other texts at once', () => {
  const { clock, reports, reported } = reporting();
  reports.add(new Error('the disk is full'));
  reports.add(new Error('the disk is full'));
  reports.add('the shard is away');
  clock.ms += 59_999;
  reports.add(new Error('the disk is full'));
  expect(reported).toEqual(['the disk is full', 'the shard is away']);
  clock.ms += 1;
  reports.add(new Error('the disk is full'));
  expect(reported).toEqual(['the disk is full', 'the shard is away', 'the disk is full']);
});

test('of more than a hundred texts, the ones reported first are forgotten', () => {
  const { reports, reported } = reporting();
  for (let text = 0; text <= 100; text++) reports.add(`text ${text}`);
  reports.add('text 100');
  reports.add('text 1');
  expect(reported).toHaveLength(101);
  reports.add('text 0');
  expect(reported.at(-1)).toBe('text 0');
});
