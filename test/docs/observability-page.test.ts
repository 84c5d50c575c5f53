// docs/reference/observability.md names the paths that there are, with the parameters that each takes, and the fields of
// a registration file.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { observed } from '../../host/introspection/observability/observability-routes.ts';
import type { ObservedService } from '../../host/introspection/observability/observed-service.ts';
import { shown } from '../../kit/observed-answer.ts';
import { snippetsOf } from '../support/doc-snippets.ts';

const PAGE = join('docs', 'reference', 'observability.md');
const text = readFileSync(join(import.meta.dirname, '..', '..', PAGE), 'utf8');
const rows = [...text.matchAll(/^\| `(\/observability\/[^`]+)` \|/gm)].map(([, path]) => path!);

/** It shows whatever it is asked for. */
const service = new Proxy({} as ObservedService, { get: () => () => shown({}) });

/** A parameter without a value is left out; an id is one that every path takes. */
const asked = (path: string) =>
  path.replaceAll(/\{\w+\}/g, '0123456789abcdef'.repeat(2)).replace(/\?.*$/, '');

test('the page has a row for every path, and every row is one', async () => {
  expect(rows.length).toBe(16);
  for (const path of rows) {
    const { body } = await observed(service, asked(path));
    expect([path, body]).toEqual([path, expect.not.stringContaining('nothing at this path')]);
  }
});

test.each(rows)('%s takes the parameters that its row names', async (path) => {
  const named = [...(path.split('?')[1] ?? '').matchAll(/([\w-]+)=/g)].map(([, name]) => name!);
  const { status, body } = await observed(service, `${asked(path)}?no-such-parameter=1`);
  expect(status).toBe(400);
  const { error } = JSON.parse(body) as { readonly error: string };
  expect(error).toBe(
    named.length === 0
      ? 'This path takes no parameters.'
      : `This path takes ${named.join(', ')}, each once at most.`,
  );
});

test('the registration file that it shows has the fields of the contract', () => {
  const [{ code } = { code: '' }] = snippetsOf(PAGE, 'json');
  expect(Object.keys(JSON.parse(code) as object)).toEqual([
    'name',
    'instanceId',
    'pid',
    'observabilityAddress',
    'startedAt',
  ]);
});
