// docs/reference/http.md: its limits are those of the HTTP server, with their defaults.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { QUERY_PARAMETERS_MAX, SEGMENTS_MAX } from '@svc/contract';
import { HTTP_SETTINGS_DEFAULT } from '../../host/http/http-settings.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/http.md'), 'utf8');

test('each limit has a row with its default', () => {
  const [, limits] = page.split('\n## Limits\n');
  const rows = [...limits!.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm)].map(([, name, value]) => [
    name,
    Number(value!.replaceAll(',', '')),
  ]);
  expect(Object.fromEntries(rows)).toEqual(HTTP_SETTINGS_DEFAULT);
});

test('the limits of a route are those of the contract', () => {
  expect(page).toContain(`at most ${QUERY_PARAMETERS_MAX} query parameters`);
  expect(page).toContain(`more than ${SEGMENTS_MAX} segments`);
});
