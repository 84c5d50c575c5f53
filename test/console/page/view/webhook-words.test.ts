// The words of webhooks on the page, and the log that does not move while somebody reads it.
import type { LogAttempt } from '@svc/client';
import { expect, test } from 'vitest';
import { addedCount, refreshed } from '../../../../console/page/view/steady-list.ts';
import {
  attemptErrorText,
  deliveryErrorText,
  filterTexts,
  lastAttemptText,
  nextAttemptText,
} from '../../../../console/page/view/webhook-words.ts';

const attempt = (status: number | null, error: string | null): LogAttempt => ({
  run: 1,
  number: 1,
  time: '2026-01-01T00:00:00.000Z',
  status,
  error,
  durationMs: 5,
});

const row = (id: string, state: string) => ({ id, state });

test('the last attempt is its error or its status', () => {
  expect(lastAttemptText({ attempts: [] })).toBe('–');
  expect(lastAttemptText({ attempts: [attempt(200, null), attempt(503, null)] })).toBe('503');
  expect(lastAttemptText({ attempts: [attempt(302, 'redirect')] })).toBe('redirect');
});

test('errors are explained, and unknown ones are shown, with what is harmful in them escaped', () => {
  expect(attemptErrorText('timeout')).toBe('no answer within five seconds');
  expect(attemptErrorText('constructor')).toBe('constructor');
  expect(attemptErrorText('a\u202eb')).toBe(String.raw`a\u{202e}b`);
  expect(deliveryErrorText('expired')).toContain('its time in the log');
  expect(deliveryErrorText('toString')).toBe('It ended without its receiver: toString.');
});

test('filters are words, with what is harmful in them escaped', () => {
  const filters = { model: 'm', tags: ['a', 'b\u202e'], nameRegex: '^x\n' };
  expect(filterTexts({ filters })).toEqual([
    'model is m',
    'has the tag a',
    String.raw`has the tag b\u{202e}`,
    String.raw`name has ^x\n`,
  ]);
});

test('only a pending delivery has a next attempt', () => {
  const nextAttemptAt = '2026-01-01T00:00:10.000Z';
  const atMs = Date.parse(nextAttemptAt);
  expect(nextAttemptText({ outcome: 'pending', nextAttemptAt }, atMs - 8_500)).toBe('in 8 s');
  expect(nextAttemptText({ outcome: 'pending', nextAttemptAt }, atMs + 5_000)).toBe('now');
  expect(nextAttemptText({ outcome: 'pending', nextAttemptAt: null }, atMs)).toBeUndefined();
  expect(nextAttemptText({ outcome: 'exhausted', nextAttemptAt }, atMs)).toBeUndefined();
});

test('a list that is read shows its rows in their newest state, and counts those that came', () => {
  const shown = [row('b', 'pending'), row('a', 'pending')];
  const newest = [row('c', 'pending'), row('b', 'delivered')];
  expect(refreshed(shown, newest)).toEqual([row('b', 'delivered'), row('a', 'pending')]);
  expect(addedCount(shown, newest)).toBe(1);
  expect(addedCount(shown, [row('d', '')])).toBe(1);
  expect(addedCount(shown, shown)).toBe(0);
});
