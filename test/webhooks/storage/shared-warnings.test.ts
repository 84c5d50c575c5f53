// A warning that several journals write at the same time is logged once.
import { expect, test } from 'vitest';
import { VirtualClock } from '@svc/host/testing';
import type { LogEntry } from '@svc/kit/log-entry';
import { sharedWarnings } from '../../../webhooks/storage/shared-warnings.ts';

test('a repeated warning is left out for a minute, and everything else is logged', async () => {
  const clock = new VirtualClock();
  const logged: string[] = [];
  const log = sharedWarnings(({ message }) => void logged.push(message), clock);
  const warn = (message: string, fields?: LogEntry['fields']) =>
    log({ level: 'warn', message, ...(fields && { fields }) });
  for (const message of ['a', 'b', 'a']) warn(message);
  for (const segment of [1, 1]) warn('c', { segment });
  for (const message of ['d', 'd']) log({ level: 'info', message });
  expect(logged).toEqual(['a', 'b', 'c', 'c', 'd', 'd']);
  await clock.advance(60_000);
  warn('a');
  expect(logged.at(-1)).toBe('a');
});
