// docs/reference/view-queries.md: each query of its tables is planned or refused as the page says, and its limits are
// those of the contract.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  INDEXES_MAX,
  INDEX_FIELDS_MAX,
  type TypeSchema,
  VIEWS_MAX,
  VIEW_QUERIES_MAX,
  VIEW_QUERY_LENGTH_MAX,
  planViewQuery,
} from '@svc/contract';

const page = readFileSync(
  join(import.meta.dirname, '../../docs/reference/view-queries.md'),
  'utf8',
);

const text: TypeSchema = { type: 'string' };
const time: TypeSchema = { type: 'string', format: 'date-time' };
const status: TypeSchema = { type: 'string', enum: ['placed', 'expired'] };
const total: TypeSchema = { type: 'string', format: 'decimal' };
const ROW = {
  customer: text,
  status,
  placedAt: time,
  name: text,
  total,
  lines: { type: 'array', items: text } as TypeSchema,
};
const PARAMETERS = { customer: text, status, since: time, until: time, prefix: text, total };

const record = (properties: Record<string, TypeSchema>): TypeSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

/** Rows of the table of two columns that has this heading. */
function tableOf(heading: string): [string, string][] {
  const [, after] = page.split(`${heading}\n| --- | --- |\n`);
  const [rows] = after!.split('\n\n');
  return rows!
    .trimEnd()
    .split('\n')
    .map((row) => row.slice(2, -2).split(' | ') as [string, string]);
}

function planned(cell: string, indexes: readonly (readonly string[])[]) {
  const where = cell.startsWith('`') ? cell.slice(1, -1) : '';
  const used = Object.entries(PARAMETERS).filter(([name]) => where.includes(`:${name}`));
  return planViewQuery(where, record(Object.fromEntries(used)), { row: record(ROW), indexes }, {});
}

const served = tableOf('| Query | Index |');

test.each(served.filter(([, index]) => index === 'none'))('%s needs no index', (query) => {
  expect(planned(query, [])).toMatchObject({ ok: true, plan: { index: 'key' } });
});

test.each(served.filter(([, index]) => index !== 'none'))(
  '%s needs the index %s',
  (query, index) => {
    const fields = JSON.parse(index.slice(1, -1)) as string[];
    expect(planned(query, [])).toMatchObject({ ok: false, problem: { missingIndex: fields } });
    expect(planned(query, [fields])).toMatchObject({ ok: true, plan: { index: 0 } });
  },
);

test.each(tableOf('| Query | Why |'))('%s is refused: %s', (query) => {
  const fields = Object.keys(ROW).filter((name) => name !== 'lines');
  const indexes = fields.flatMap((one) => [[one], ...fields.map((other) => [one, other])]);
  const result = planned(query, indexes);
  expect(result.ok).toBe(false);
  expect(result).not.toHaveProperty('problem.missingIndex');
});

test('the example needs the index that the page shows', () => {
  const [, example] = page.split('```\n');
  expect(planned(`\`${example!.trim()}\``, [])).toMatchObject({
    ok: false,
    problem: { missingIndex: ['customer', 'placedAt'] },
  });
  expect(page).toContain('declare the index ["customer", "placedAt"]');
});

test('the limits are those of the contract', () => {
  const rows = tableOf('| | |').map(([name, value]) => [name, Number(value.replaceAll(',', ''))]);
  expect(Object.fromEntries(rows)).toEqual({
    'views of a module': VIEWS_MAX,
    'indexes of a view': INDEXES_MAX,
    'fields of an index': INDEX_FIELDS_MAX,
    'queries of a view': VIEW_QUERIES_MAX,
    'characters of a query': VIEW_QUERY_LENGTH_MAX,
  });
});
