// docs/how-to/calling-from-a-browser.md: the settings that it lists are all of those for CORS but the origins, with
// their defaults.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CORS_SETTINGS_DEFAULT } from '../../host/http/cors-settings.ts';
import { dottedName } from '../../kit/setting-name.ts';

const file = join(import.meta.dirname, '../../docs/how-to/calling-from-a-browser.md');
const page = readFileSync(file, 'utf8');

test('the settings of the page have their defaults', () => {
  const rows = [...page.matchAll(/^\| `(svc\.http\.cors\.[a-z-]+)` \| ([^|]+) \|/gm)].map(
    ([, name, value]) => [name, value!.replaceAll('`', '')],
  );
  const { origins, methods, ...others } = CORS_SETTINGS_DEFAULT;
  expect(origins).toEqual([]);
  expect(methods).toHaveLength(5);
  const settings = Object.entries(others).map(([key, value]) => [
    dottedName('http.cors', key),
    String(value),
  ]);
  expect(Object.fromEntries(rows)).toEqual({
    'svc.http.cors.methods': 'all',
    ...Object.fromEntries(settings),
  });
});
