// Random views, queries and rows: whenever a query has a plan, the rows that fit the query are one run of the planned
// walk, in the order that the query asks for; whenever only an index is missing, declaring it gives a plan.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TypeSchema, type ViewQueryPlan, planViewQuery } from '@svc/contract';

const FIELDS = ['a', 'key', 'order', 'it\'s "quoted"', '$.a"; drop'] as const;
const KEY = Symbol('key');
const OPERATORS = ['=', '=', '<', '<=', '>', '>=', 'starts with'] as const;
type Column = (typeof FIELDS)[number] | typeof KEY;
type Values = Readonly<Record<string, string | null>>;
interface Row {
  readonly key: string;
  readonly values: Values;
}
interface Condition {
  readonly column: Column;
  readonly operator: (typeof OPERATORS)[number];
  readonly parameter: string;
}
interface Query {
  readonly conditions: readonly Condition[];
  readonly order: { readonly column: Column; readonly descending: boolean } | undefined;
}

const text = fc.constantFrom('', 'a', 'ab', 'b', 'ba');
const column = fc.constantFrom<Column>(...FIELDS, KEY);
const query: fc.Arbitrary<Query> = fc.record({
  conditions: fc
    .array(fc.record({ column, operator: fc.constantFrom(...OPERATORS) }), { maxLength: 4 })
    .map((conditions) =>
      conditions.map((condition, index) => ({ ...condition, parameter: `p "${index}"` })),
    ),
  order: fc.option(fc.record({ column, descending: fc.boolean() }), { nil: undefined }),
});
const indexes = fc.array(fc.shuffledSubarray([...FIELDS], { minLength: 1, maxLength: 4 }), {
  maxLength: 8,
});
const rows: fc.Arbitrary<readonly Row[]> = fc
  .uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 }), { maxLength: 16 })
  .chain((keys) =>
    fc.tuple(
      ...keys.map((key) =>
        fc.tuple(...FIELDS.map(() => fc.option(text))).map((values): Row => ({
          key,
          values: Object.fromEntries(FIELDS.map((field, index) => [field, values[index]!])),
        })),
      ),
    ),
  );

const nullableText: TypeSchema = { anyOf: [{ type: 'string' }, { type: 'null' }] };
const record = (names: readonly string[]): TypeSchema => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, nullableText])),
  required: [],
});

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const written = (name: Column) => (name === KEY ? 'key' : quoted(name));

function textOf({ conditions, order }: Query): string {
  const joined = conditions
    .map((each) => `${written(each.column)} ${each.operator} :${quoted(each.parameter)}`)
    .join(' and ');
  if (order === undefined) return joined;
  return `${joined} order by ${written(order.column)} ${order.descending ? 'desc' : ''}`;
}

const keyOf = (row: Row) => row.key;
const valueOf = (row: Row, name: Column) => (name === KEY ? row.key : row.values[name]!);

function compare(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  return one < other ? -1 : 1;
}

function fits(value: string | null, operator: Condition['operator'], given: string | null) {
  if (operator === '=') return value === given;
  if (value === null || given === null) return false;
  if (operator === 'starts with') return value.startsWith(given);
  if (operator.startsWith('<') && value < given) return true;
  if (operator.startsWith('>') && value > given) return true;
  return operator.endsWith('=') && value === given;
}

function columnsOf(plan: ViewQueryPlan, declared: readonly (readonly string[])[]): Column[] {
  return [...(plan.index === 'key' ? [] : (declared[plan.index] as Column[])), KEY];
}

/** Rows in the order of the walk, and whether the plan's limits take each. */
function walk(plan: ViewQueryPlan, columns: readonly Column[], all: readonly Row[], given: Values) {
  const sorted = all.toSorted((one, other) => {
    const differing = columns.map((name) => compare(valueOf(one, name), valueOf(other, name)));
    return (differing.find((order) => order !== 0) ?? 0) * (plan.descending ? -1 : 1);
  });
  return sorted.map((row) => {
    const equal = plan.equals.every((name, index) =>
      fits(valueOf(row, columns[index]!), '=', given[name]!),
    );
    return {
      row,
      taken: equal && isInRange(plan, valueOf(row, columns[plan.equals.length] ?? KEY), given),
    };
  });
}

function isInRange({ range }: ViewQueryPlan, value: string | null, given: Values): boolean {
  if (range === undefined) return true;
  if (range.kind === 'prefix') return fits(value, 'starts with', given[range.parameter]!);
  const { lower, upper } = range;
  const isAbove = lower && fits(value, lower.isInclusive ? '>=' : '>', given[lower.parameter]!);
  const isBelow = upper && fits(value, upper.isInclusive ? '<=' : '<', given[upper.parameter]!);
  return isAbove !== false && isBelow !== false;
}

const plannedOf = (asked: Query, declared: readonly (readonly string[])[]) =>
  planViewQuery(
    textOf(asked),
    record(asked.conditions.map(({ parameter }) => parameter)),
    { row: record(FIELDS), indexes: declared },
    {},
  );

test('a planned query is one run of a walk, in the order that it asks for', () => {
  let plans = 0;
  fc.assert(
    fc.property(
      query,
      indexes,
      rows,
      fc.array(fc.option(text), { minLength: 4, maxLength: 4 }),
      (asked, declared, all, values) => {
        const result = plannedOf(asked, declared);
        if (!result.ok) return;
        plans++;
        const given = Object.fromEntries(values.map((value, index) => [`p "${index}"`, value]));
        const columns = columnsOf(result.plan, declared);
        const steps = walk(result.plan, columns, all, given);
        const taken = steps.filter((step) => step.taken).map((step) => step.row);
        // The limits of the plan take the rows that the query describes.
        const described = all.filter((row) =>
          asked.conditions.every(({ column: name, operator, parameter }) =>
            fits(valueOf(row, name), operator, given[parameter]!),
          ),
        );
        expect(taken.map(keyOf).toSorted()).toEqual(described.map(keyOf).toSorted());
        // They are one run: nothing is read in vain.
        const first = steps.findIndex((step) => step.taken);
        expect(steps.slice(Math.max(first, 0)).findIndex((step) => !step.taken)).toSatisfy(
          (end: number) => first < 0 || end < 0 || end === taken.length,
        );
        // They are in the order that the query asks for, and ties are ended.
        if (asked.order === undefined) return;
        const { column: by, descending } = asked.order;
        for (const [index, row] of taken.entries()) {
          const before = taken[index - 1];
          if (before === undefined) continue;
          const order = compare(valueOf(before, by), valueOf(row, by));
          expect(descending ? -order : order).toBeLessThanOrEqual(0);
        }
      },
    ),
    { numRuns: 1000 },
  );
  expect(plans).toBeGreaterThan(100);
});

test('a missing index is the only thing that is missing', () => {
  let missing = 0;
  fc.assert(
    fc.property(query, indexes, (asked, declared) => {
      const result = plannedOf(asked, declared);
      if (result.ok || result.problem.missingIndex === undefined) return;
      missing++;
      const { missingIndex } = result.problem;
      expect(result.problem.message).toContain(JSON.stringify(missingIndex[0]));
      expect(new Set(missingIndex).size).toBe(missingIndex.length);
      const { plan } = expectPlan(plannedOf(asked, [...declared, missingIndex]));
      expect(plan.index).toBe(declared.length);
    }),
    { numRuns: 1000 },
  );
  expect(missing).toBeGreaterThan(100);
});

function expectPlan(result: ReturnType<typeof planViewQuery>) {
  if (!result.ok) throw new Error(result.problem.message);
  return result;
}

test('no text makes planning throw', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'a',
      'key',
      'and',
      'order',
      'by',
      'starts',
      'with',
      'desc',
      ':a',
      ':',
      '"',
      '""',
      '=',
      '<',
      '<=',
      ' ',
      '\n',
      ';',
      "'",
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const result = planViewQuery(
        pieces.join(' '),
        record(['a']),
        { row: record(['a']), indexes: [['a']] },
        {},
      );
      expect(result.ok || result.problem.message !== '').toBe(true);
    }),
    { numRuns: 1000 },
  );
});
