// Readiness: an instance is ready when all checks pass.
import { expect, test } from 'vitest';
import { readinessReport } from '../../../../host/introspection/management/readiness.ts';

const agrees = (part: string) => ({ part, failureReason: () => undefined });

test('an instance is ready when every part with an opinion agrees', () => {
  expect(readinessReport([agrees('cluster'), agrees('http')])).toEqual({
    ready: true,
    parts: [
      { part: 'cluster', ready: true },
      { part: 'http', ready: true },
    ],
  });
});

test('an instance is ready without a part that is not required', () => {
  const views = { part: 'views', failureReason: () => 'It is built.', isRequired: false };
  expect(readinessReport([agrees('http'), views])).toEqual({
    ready: true,
    parts: [
      { part: 'http', ready: true },
      { part: 'views', ready: false, required: false, reason: 'It is built.' },
    ],
  });
});

test('the report names each part that does not agree, and why, as it is now', () => {
  let reason: string | undefined = 'It is not open yet.';
  const checks = [
    agrees('module'),
    { part: 'journal', failureReason: () => reason },
    { part: 'http', failureReason: () => 'No shard listens on port 9000.' },
  ];
  expect(readinessReport(checks)).toEqual({
    ready: false,
    parts: [
      { part: 'module', ready: true },
      { part: 'journal', ready: false, reason: 'It is not open yet.' },
      { part: 'http', ready: false, reason: 'No shard listens on port 9000.' },
    ],
  });
  reason = undefined;
  expect(readinessReport(checks.slice(0, 2)).ready).toBe(true);
});
