import { expect, test } from 'vitest';
import { expiryEntry, expiryStage } from '../../identity/certificate-expiry.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const certificate = { validFromDate: new Date(0), validToDate: new Date(100 * DAY_MS) };

test.each([
  [-10 * DAY_MS, 0],
  [0, 0],
  [79 * DAY_MS, 0],
  [80 * DAY_MS, 1],
  [89 * DAY_MS, 1],
  [90 * DAY_MS, 2],
  [95 * DAY_MS, 3],
  [99.99 * DAY_MS, 6],
  [100 * DAY_MS - 1, 6],
  [100 * DAY_MS, 7],
  [200 * DAY_MS, 7],
])('at %i ms of 100 days, the warnings that are due are %i', (nowMs, stage) => {
  expect(expiryStage(certificate, nowMs)).toBe(stage);
});

test.each([
  [20 * DAY_MS, /expires in 20 days/],
  [2 * DAY_MS, /expires in 2 days/],
  [2 * DAY_MS - 1, /expires in 47 hours/],
  [HOUR_MS, /expires in 60 minutes/],
  [1, /expires in 1 minutes/],
])('%i ms before the end', (leftMs, message) => {
  expect(expiryEntry(certificate, { folder: '/c' }, 100 * DAY_MS - leftMs)).toEqual({
    level: 'warn',
    message: expect.stringMatching(message),
    fields: { folder: '/c', expiresAt: '1970-04-11T00:00:00.000Z' },
  });
});

test('an expired certificate is an error', () => {
  expect(expiryEntry(certificate, { folder: '/c' }, 100 * DAY_MS)).toMatchObject({
    level: 'error',
    message: expect.stringContaining('has expired'),
  });
});
