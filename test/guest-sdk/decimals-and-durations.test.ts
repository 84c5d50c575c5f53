// Decimal and Duration: their arithmetic against BigInt, their texts, and where they stand in a module. Embedded
// components read the same texts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { durationOf, isDecimal, parseModuleDescriptor } from '@svc/contract';
import { buildComponent } from '@svc/guest-sdk/compiler';
import {
  type ModuleUnderTest,
  testEndpoints,
  testEntity,
  testModule,
} from '@svc/guest-sdk/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MODES, exact, expected, secondsText, textOf } from './support/exact-decimals.ts';
import { DECIMALS, DURATIONS, LEDGER, NO_DECIMALS, NO_DURATIONS } from './support/ledger.ts';
import { UserProjects, entity, problemLine } from './support/user-projects.ts';

const fixture = join(import.meta.dirname, '../../fixtures/late-fee/assembly/index.ts');

const decimal = fc
  .record({
    digits: fc.oneof(fc.bigInt(-999n, 999n), fc.bigInt(-(10n ** 34n), 10n ** 34n)),
    scale: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 15 })),
  })
  .map(({ digits, scale }) => textOf({ value: digits, scale }));
const sum = fc
  .record({
    a: decimal,
    b: decimal,
    op: fc.constantFrom('+', '-', '*', '/', '/', 'round', 'round', 'abs', 'negate', '?'),
    scale: fc.integer({ min: 0, max: 20 }),
    rounding: fc.integer({ min: 0, max: 6 }),
  })
  .filter(({ b, op }) => op !== '/' || exact(b).value !== 0n);

let projects: UserProjects;
let module: ModuleUnderTest;
let types: Record<string, unknown>;

beforeAll(async () => {
  projects = await UserProjects.open();
  const entryFile = await projects.write({ 'index.ts': LEDGER });
  const { component, descriptor } = await buildComponent({ entryFile, optimizeLevel: 0 });
  module = await testModule(component);
  const parsed = parseModuleDescriptor(JSON.stringify(descriptor));
  types = parsed.ok ? parsed.descriptor.types : {};
});

afterAll(() => projects.remove());

const ledger = () => testEntity(module, 'ledger', 'one');

describe('arithmetic', () => {
  test('of decimals is that of BigInt', () => {
    fc.assert(
      fc.property(fc.array(sum, { minLength: 50, maxLength: 100 }), (sums) => {
        const found = ledger().query('sums', sums).reply();
        expect(found).toEqual(sums.map((one) => expected(one)));
      }),
      { numRuns: 40 },
    );
  });

  test('of halves, nines and zeros rounds in each mode as BigInt does', () => {
    const texts = [
      '0',
      '0.0',
      '0.5',
      '1.5',
      '2.5',
      '2.500',
      '2.501',
      '2.499',
      '9.995',
      '0.05',
      '0.04',
      '99.99',
    ];
    const sums = [...texts, ...texts.slice(2).map((text) => `-${text}`)].flatMap((a) =>
      MODES.flatMap((_mode, rounding) =>
        [0, 1, 2, 4].flatMap((scale) => [
          { a, b: '1', op: 'round', scale, rounding },
          { a, b: '3', op: '/', scale, rounding },
          { a, b: '-0.2', op: '/', scale, rounding },
        ]),
      ),
    );
    expect(ledger().query('sums', sums).reply()).toEqual(sums.map((one) => expected(one)));
  });

  test('of 64-bit integers begins with each of them', () => {
    const values = [0n, 1n, -1n, 999n, -1000n, 2n ** 63n - 1n, -(2n ** 63n)];
    ledger()
      .query('i64', values.map(String))
      .thenReply(values.map((value) => textOf({ value, scale: 3 })));
  });

  test.each([
    ['a zero below', { a: '1', b: '0.00', op: '/' }, /cannot be divided by zero/],
    [
      'too many digits',
      { a: `1${'0'.repeat(60)}`, b: `1${'0'.repeat(60)}`, op: '*' },
      /at most 100 digits/,
    ],
    [
      'a scale below 0',
      { a: '1', b: '1', op: '/', scale: -1 },
      /the scale of a decimal is 0 to 99, not -1/,
    ],
    ['a scale above 99', { a: '1', b: '1', op: 'round', scale: 100 }, /0 to 99, not 100/],
  ])('of %s aborts', (_name, one, message) => {
    const whole = { scale: 0, rounding: 0, ...one };
    expect(() => ledger().query('sums', [whole]).reply()).toThrow(message);
  });

  const DAY_MS = 86_400_000n;
  const durationMs = fc.oneof(
    fc.bigInt(-100_000n, 100_000n),
    fc.bigInt(-40_000_000n * DAY_MS, 40_000_000n * DAY_MS),
  );

  test('of durations is that of BigInt', () => {
    const span = fc.record({ a: durationMs, b: durationMs, factor: fc.bigInt(-2n, 2n) });
    fc.assert(
      fc.property(fc.array(span, { minLength: 20, maxLength: 50 }), (spans) => {
        const sent = spans.map(({ a, b, factor }) => ({
          a: a === 0n ? 'PT0S' : secondsText(a),
          b: b === 0n ? 'PT0S' : secondsText(b),
          factor: Number(factor),
        }));
        const wanted = spans.map(({ a, b, factor }) =>
          [
            a + b,
            a - b,
            a * factor,
            -a,
            a < 0n ? -a : a,
            a - b,
            a,
            a < b ? -1 : a > b ? 1 : 0,
            a === b,
            a < 0n,
          ].join(' '),
        );
        expect(ledger().query('spans', sent).reply()).toEqual(wanted);
      }),
      { numRuns: 20 },
    );
  });

  test.each([
    ['P100000000D', 'PT0.001S', 1],
    ['P100000000D', 'PT0S', 2],
    ['PT1S', 'PT0S', '9223372036854775807'],
  ])('of more than 100,000,000 days aborts: %s, %s, %s', (a, b, factor) => {
    expect(() => ledger().query('spans', [{ a, b, factor }]).reply()).toThrow(
      'a duration has at most 100000000 days',
    );
  });
});

describe('the texts', () => {
  test('of decimals are the same in a module and in an embedded component', () => {
    const texts = [...DECIMALS, ...NO_DECIMALS];
    const wanted = texts.map((text) => DECIMALS.includes(text));
    ledger().query('decimals', texts).thenReply(wanted);
    expect(texts.map((text) => isDecimal(text))).toEqual(wanted);
    for (const text of DECIMALS) ledger().query('parse', text).thenReply(text);
  });

  test('of durations are the same in a module and in an embedded component', () => {
    const texts = [...DURATIONS.map(([text]) => text), ...NO_DURATIONS];
    const wanted = [...DURATIONS.map(([, written]) => written), ...NO_DURATIONS.map(() => 'none')];
    ledger().query('durations', texts).thenReply(wanted);
    expect(texts.map((text) => durationOf(text) ?? 'none')).toEqual(wanted);
  });

  test('of either are taken by both, or by neither, whatever they are', () => {
    const piece = fc.constantFrom(
      '-',
      '.',
      '0',
      '1',
      '09',
      'P',
      'T',
      'D',
      'H',
      'M',
      'S',
      '12',
      'PT',
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            text,
            text.map((one) => `PT${one}S`),
          ),
          { minLength: 100, maxLength: 200 },
        ),
        (texts) => {
          ledger()
            .query('decimals', texts)
            .thenReply(texts.map((one) => isDecimal(one)));
          ledger()
            .query('durations', texts)
            .thenReply(texts.map((one) => durationOf(one) ?? 'none'));
        },
      ),
      { numRuns: 20 },
    );
  });

  test('that are none are refused with what is asked for', () => {
    const message = 'must be a decimal as text like "12.50", of at most 100 digits, found "1e3"';
    ledger().query('parse', '1e3').thenRefused({ code: 'BAD_REQUEST', message });
    ledger().query('parse-duration', 'P1Y').thenRefused({
      code: 'BAD_REQUEST',
      message: 'must be a duration as text like "PT1H30M", of at most 100000000 days, found "P1Y"',
    });
  });
});

describe('in a module', () => {
  test('they are stored as text, with the scale that came', () => {
    const terms = { fee: '12.50', period: 'P14D', max: '0.10', none: null };
    ledger()
      .when('agree', { ...terms, period: 'PT336H' })
      .thenEvents([
        {
          type: 'agreed',
          terms,
          due: ['1970-01-15T00:00:00.000Z', '1969-12-18T00:00:00.000Z'],
        },
      ])
      .query('get')
      .thenReply({ terms, byName: { fee: '12.50' } });
  });

  test.each([
    [
      { fee: 12.5 },
      'fee: must be a decimal as text like "12.50", of at most 100 digits, found 12.5',
    ],
    [
      { fee: '1e3' },
      'fee: must be a decimal as text like "12.50", of at most 100 digits, found "1e3"',
    ],
    [
      { period: 'P1M' },
      'period: must be a duration as text like "PT1H30M", of at most 100000000 days, found "P1M"',
    ],
    [
      { period: 1 },
      'period: must be a duration as text like "PT1H30M", of at most 100000000 days, found 1',
    ],
  ])('%j is refused', (wrong, message) => {
    ledger()
      .when('agree', { fee: '1', period: 'PT1S', ...wrong })
      .thenRefused({ code: 'BAD_REQUEST', message });
  });

  test('they are parameters of a path', async () => {
    const api = testEndpoints(module);
    expect((await api.get('/fees/12.50/per/PT24H')).text).toBe('12.50 per P1D');
    const refused = async (path: string) => (await api.get(path)).json as unknown;
    expect(await refused('/fees/12.5.0/per/P1D')).toEqual({
      status: 400,
      error:
        'path parameter \'fee\': must be a decimal as text like "12.50", of at most 100 digits, found "12.5.0"',
    });
    const asked = await api.post('/fees/sums?least=1.5&among=2.50&among=-1&since=PT90S');
    expect(asked.text).toBe('1.5 2.50+-1 PT1M30S');
    expect((await api.post('/fees/sums?least=0')).text).toBe('0  ever');
    expect(await refused('/fees/1%22/per/P1D')).toMatchObject({ status: 400 });
  });

  test('the schema has their formats', () => {
    expect(types['Terms']).toMatchObject({
      properties: {
        fee: { type: 'string', format: 'decimal' },
        period: { type: 'string', format: 'duration' },
        none: { anyOf: [{ type: 'string', format: 'decimal' }, { type: 'null' }] },
      },
      required: ['fee', 'period'],
    });
  });
});

test('a late book costs what the page about money and time says', async () => {
  const entryFile = await projects.write({ 'index.ts': readFileSync(fixture, 'utf8') });
  const loans = await testModule((await buildComponent({ entryFile, optimizeLevel: 0 })).component);
  const loan = () =>
    testEntity(loans, 'loan', 'one').given([
      {
        type: 'lent',
        due: '2026-03-01T12:00:00Z',
        terms: { feePerDay: '0.125', grace: 'P1DT12H' },
      },
    ]);
  const fee = (returned: string) => loan().query('fee', returned).reply();
  expect(fee('2026-03-02T23:59:59Z')).toBe('0.00');
  expect(fee('2026-03-04T00:00:00Z')).toBe('0.12');
  expect(fee('2026-03-06T23:59:00Z')).toBe('0.38');
  expect(loan().query('share', '0.3').reply()).toBe('0.42');
  loan().query('share', '0').thenRefused('BAD_REQUEST');
});

/** A query that looks at `x` by the check, and uses it. */
const checked = (type: string, check: string): string => `${entity(
  `@query("get") get(s: State): State { const x = find(s); if (${check}) x.negate(); return s; }`,
).replace('ok, ', `ok, ${type}, `)}
function find(s: State): ${type} | null { return s.n > 0 ? new ${type}() : null; }`;

test.each(['Decimal', 'Duration'])(
  '%s: x != null narrows nothing, and the error says to write if (x)',
  async (type) => {
    const problems = await projects.problemsOf(checked(type, 'x != null'));
    expect(problems.map((problem) => problemLine(problem))).toEqual([
      expect.stringMatching(
        new RegExp(`'${type} \\| null'.*: a check != null narrows no type .* if \\(fee\\) \\{`),
      ),
    ]);
    const entryFile = await projects.write({ 'index.ts': checked(type, 'x') });
    expect((await buildComponent({ entryFile, optimizeLevel: 0 })).warnings).toEqual([]);
  },
);
