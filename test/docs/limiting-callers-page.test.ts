// docs/how-to/limiting-callers.md: its code is code of the tests, and its numbers are those of the program.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIMIT_COUNT_MAX, LIMITS_MAX } from '@svc/contract';
import { HTTP_SETTINGS_DEFAULT } from '../../host/http/http-settings.ts';
import { SharedBuckets } from '../../model/shared-buckets.ts';
import { filesWith, snippetsOf } from '../support/doc-snippets.ts';

const PAGE = 'docs/how-to/limiting-callers.md';
const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');

test('each snippet is in a file that tests run', () => {
  const snippets = snippetsOf(PAGE, 'ts');
  expect(snippets).toHaveLength(3);
  const lost = snippets.filter(
    ({ code }) =>
      filesWith(code, [
        'fixtures/limited/assembly/index.ts',
        'test/guest-sdk/testing/limits.test.ts',
      ]).length === 0,
  );
  expect(lost).toEqual([]);
});

test('its numbers are those of the program', () => {
  const bucketsMax = HTTP_SETTINGS_DEFAULT.limitBucketsMax;
  const megabytes = SharedBuckets.shared({ bucketsMax, reserved: 1 }).byteLength / 1e6;
  expect(page).toContain(
    `(${bucketsMax.toLocaleString('en-US')} by default, which take ${megabytes.toFixed(1)} MB)`,
  );
  expect(page).toContain(`from 1 to ${LIMIT_COUNT_MAX.toLocaleString('en-US')}`);
  expect(LIMITS_MAX).toBe(4);
});
