// modelTests: random rows and queries of every store of views, compared with an array that is filtered and sorted.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ColumnRange } from '@svc/contract';
import type { RowChange, ViewQuery } from '../../../host/engine/needs/views.ts';
import {
  type ViewsUnderTest,
  folded,
  indexOn,
  keysOf,
  planned,
  viewOf,
} from './views-under-test.ts';

type Value = string | number | boolean | null;
type Fields = Readonly<Record<string, Value>>;

const INDEXES = [['t', 'n'], ['n'], ['b', 't', 'n'], []] as const;
const KINDS = { t: 'text', n: 'integer', b: 'boolean' } as const;
const view = viewOf(
  ...INDEXES.map((names) => indexOn(...names.map((name) => [name, KINDS[name]] as const))),
);

const text = fc.constantFrom(
  '',
  'a',
  'a\0',
  'ab',
  'b',
  'ä',
  '\uff5e',
  '\u{1F600}',
  '\u{10FFFF}',
  'A',
);
const integer = fc.constantFrom<Value>(-1, 0, 2, 10, '9007199254740993', '-9223372036854775808');
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 4 });
const values = { t: orNull(text), n: orNull(integer), b: orNull(fc.boolean()) };
const fields: fc.Arbitrary<Fields> = fc.record(values, { requiredKeys: ['n'] });
const key = fc.oneof(text, fc.stringMatching(/^k[0-9]$/));
const change = fc.tuple(key, fc.option(fields, { freq: 3 }));
const batch = fc.uniqueArray(change, { selector: ([name]) => name, maxLength: 12 });

interface Asked {
  readonly query: ViewQuery;
  readonly limit: number;
}

const asked: fc.Arbitrary<Asked> = fc
  .record({
    index: fc.constantFrom<number | 'key'>('key', ...INDEXES.keys()),
    equalCount: fc.nat(3),
    range: fc.constantFrom('none', 'lower', 'upper', 'both', 'prefix'),
    isInclusive: fc.boolean(),
    descending: fc.boolean(),
    parameters: fc.record({ ...values, from: fc.oneof(values.t, values.n, values.b), key }),
    to: fc.oneof(values.t, values.n, values.b),
    limit: fc.integer({ min: 1, max: 6 }),
  })
  .map(({ index, equalCount, range, isInclusive, descending, parameters, to, limit }) => {
    const columns = columnsOf(index);
    const equals = columns.slice(0, Math.min(equalCount, columns.length - 1));
    const open = columns[equals.length]!;
    const fit = (value: Value) => (isOfColumn(open, value) ? value : null);
    const plan = { index, equals, descending, range: rangeOf(range, open, isInclusive) };
    const given = { ...parameters, from: fit(parameters.from), to: fit(to) };
    return { query: planned(plan, given), limit };
  });

function columnsOf(index: number | 'key'): readonly string[] {
  return [...(index === 'key' ? [] : INDEXES[index]!), 'key'];
}

function isOfColumn(column: string, value: Value): boolean {
  if (value === null) return true;
  if (column === 'b') return typeof value === 'boolean';
  if (column === 'n') return typeof value === 'number' || /^-?\d+$/.test(String(value));
  return typeof value === 'string';
}

function rangeOf(kind: string, column: string, isInclusive: boolean): ColumnRange | undefined {
  const lower = { parameter: 'from', isInclusive };
  const upper = { parameter: 'to', isInclusive };
  if (kind === 'lower') return { kind: 'between', lower };
  if (kind === 'upper') return { kind: 'between', upper };
  if (kind === 'both') return { kind: 'between', lower, upper };
  const isText = column === 't' || column === 'key';
  return kind === 'prefix' && isText ? { kind: 'prefix', parameter: 'from' } : undefined;
}

/** Compares by the words of the contract, in another way than the stores. */
function compare(column: string, a: Value, b: Value): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  if (column === 'n')
    return Number(BigInt(a) - BigInt(b) > 0n) - Number(BigInt(a) - BigInt(b) < 0n);
  if (column === 'b') return Number(a) - Number(b);
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

function expected(rows: ReadonlyMap<string, Fields>, { plan, parameters }: ViewQuery): string[] {
  const columns = columnsOf(plan.index);
  const valueOf = (name: string, column: string): Value =>
    column === 'key' ? name : (rows.get(name)![column] ?? null);
  const given = (name: string) => (parameters[name] ?? null) as Value;
  const open = columns[plan.equals.length]!;
  const { range } = plan;
  const isInRange = (value: Value): boolean => {
    if (range === undefined) return true;
    if (value === null) return false;
    if (range.kind === 'prefix') {
      const prefix = given(range.parameter);
      return prefix !== null && String(value).startsWith(String(prefix));
    }
    return [range.lower, range.upper].every((bound, at) => {
      if (bound === undefined) return true;
      const limit = given(bound.parameter);
      if (limit === null) return false;
      const order = compare(open, value, limit) * (at === 0 ? 1 : -1);
      return order > 0 || (order === 0 && bound.isInclusive);
    });
  };
  const sorted = [...rows.keys()]
    .filter((name) =>
      plan.equals.every(
        (parameter, at) =>
          compare(columns[at]!, valueOf(name, columns[at]!), given(parameter)) === 0,
      ),
    )
    .filter((name) => isInRange(valueOf(name, open)))
    .toSorted((a, b) => {
      for (const column of columns) {
        const order = compare(column, valueOf(a, column), valueOf(b, column));
        if (order !== 0) return order;
      }
      return 0;
    });
  return plan.descending ? sorted.toReversed() : sorted;
}

export function modelTests(views: ViewsUnderTest): void {
  describe('random rows', () => {
    test('are found by random queries as in an array that is filtered and sorted', async () => {
      const { writer, reader } = await views.live(view);
      const rows = new Map<string, Fields>();
      const property = fc.asyncProperty(
        fc.array(batch, { minLength: 1, maxLength: 6 }),
        fc.array(asked, { minLength: 20, maxLength: 20 }),
        async (batches, queries) => {
          const removals = Array.from(rows.keys(), (name) => ({ key: name, json: undefined }));
          await writer.put(removals, folded(0));
          rows.clear();
          for (const [at, changes] of batches.entries()) {
            for (const [name, row] of changes)
              if (row === null) rows.delete(name);
              else rows.set(name, row);
            const put = changes.map(([name, row]): RowChange => ({
              key: name,
              json: row === null ? undefined : JSON.stringify(row),
            }));
            await writer.put(put, folded(at));
          }
          expect(writer.rowCount).toBe(rows.size);
          for (const { query, limit } of queries) {
            const keys = expected(rows, query);
            expect(await keysOf(reader, query, limit)).toEqual(keys);
            expect(await reader.count(query)).toEqual({ count: keys.length, hasMore: false });
          }
        },
      );
      await fc.assert(property, { numRuns: 200 });
    });
  });
}
