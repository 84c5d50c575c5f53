// walkTests: the rows and the order of queries in every store of views.
import type { ColumnKind } from '@svc/contract';
import { describe, expect, test } from 'vitest';
import { COUNT_MAX } from '../../../host/engine/needs/views.ts';
import {
  ALL_KEYS,
  failureOf,
  folded,
  indexOn,
  keysOf,
  planned,
  row,
  viewOf,
  type ViewsUnderTest,
} from './views-under-test.ts';

/** Keys run against the order of the values, so that they cannot stand in for it. */
const keyOf = (at: number) => String(900 - at);

export function walkTests(views: ViewsUnderTest): void {
  describe('a walk', () => {
    test.each<readonly [ColumnKind, readonly unknown[]]>([
      [
        'text',
        [null, '', '\0', 'a', 'a\0', 'a\0b', 'ab', 'b', 'ä', '\uff5e', '\u{1F600}', '\u{10FFFF}'],
      ],
      ['boolean', [null, false, true]],
      [
        'integer',
        [
          null,
          '-9223372036854775808',
          '-9007199254740993',
          -9007199254740991,
          -10,
          -9,
          0,
          9,
          10,
        ].concat([9007199254740991, '9007199254740992', '9007199254740993', '9223372036854775807']),
      ],
      [
        'uint64',
        [null, 0, 9, 10, '9223372036854775807', '9223372036854775808', '18446744073709551615'],
      ],
      ['number', [null, -1.5e300, -1, -0.5, 0, 5e-324, 0.5, 1, 1.5, 2 ** 60, 1.5e300]],
      ['decimal', [null, '-12.5', '-1', '-0.01', '0', '0.001', '9', '12.50', '100']],
      [
        'time',
        [null, '0000-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00Z'].concat([
          '2026-01-01T01:00:00.001+01:00',
          '2026-01-01T00:00:00.002Z',
          '9999-12-31T23:59:59.999Z',
        ]),
      ],
      [
        'duration',
        [null, '-P1D', '-PT0.001S', 'PT0S', 'PT1S', 'PT1M', 'PT2H', 'P1D', 'P100000000D'],
      ],
    ])('of %s has the order of the kind, in both directions', async (kind, values) => {
      const changes = values.map((value, at) => row(keyOf(at), { field: value }));
      const expected = values.map((_, at) => keyOf(at));
      const { reader } = await views.live(viewOf(indexOn(['field', kind])), ...changes);
      expect(await keysOf(reader, planned({}))).toEqual(expected);
      expect(await keysOf(reader, planned({ descending: true }))).toEqual(expected.toReversed());
      const equals = { equals: ['p'] };
      for (const [at, value] of values.entries())
        expect(await keysOf(reader, planned(equals, { p: value }))).toEqual([keyOf(at)]);
      const lower = { parameter: 'p', isInclusive: true };
      const upper = { parameter: 'p', isInclusive: false };
      for (const [at, value] of values.entries()) {
        const from = planned({ range: { kind: 'between', lower } }, { p: value });
        const until = planned({ range: { kind: 'between', upper } }, { p: value });
        expect(await keysOf(reader, from)).toEqual(value === null ? [] : expected.slice(at));
        expect(await keysOf(reader, until)).toEqual(value === null ? [] : expected.slice(1, at));
      }
    });

    test('of keys has the order of code points', async () => {
      const keys = ['', '\0', 'a', 'a\0', '\uff5e', '\u{1F600}'];
      const { reader } = await views.live(
        viewOf(),
        ...keys.toReversed().map((key) => row(key, {})),
      );
      expect(await keysOf(reader, ALL_KEYS)).toEqual(keys);
      const down = planned({ index: 'key', descending: true });
      expect(await keysOf(reader, down)).toEqual(keys.toReversed());
      const one = planned({ index: 'key', equals: ['key'] }, { key: 'a\0' });
      expect(await keysOf(reader, one)).toEqual(['a\0']);
      const prefix = planned(
        { index: 'key', range: { kind: 'prefix', parameter: 'p' } },
        { p: 'a' },
      );
      expect(await keysOf(reader, prefix)).toEqual(['a', 'a\0']);
    });

    test('of keys has no row for null, not even the one whose key looks like it', async () => {
      const { reader } = await views.live(viewOf(), row('-Inf', {}), row('', {}));
      const bound = { parameter: 'missing', isInclusive: true };
      for (const plan of [
        { equals: ['missing'] },
        { range: { kind: 'between', lower: bound } },
        { range: { kind: 'between', upper: bound } },
        { range: { kind: 'prefix', parameter: 'missing' } },
      ] as const) {
        expect(await keysOf(reader, planned({ index: 'key', ...plan }))).toEqual([]);
        expect(await reader.count(planned({ index: 'key', ...plan }))).toEqual({
          count: 0,
          hasMore: false,
        });
      }
      const upper = { parameter: 'to', isInclusive: true };
      const until = planned({ index: 'key', range: { kind: 'between', upper } }, { to: '-Inf' });
      expect(await keysOf(reader, until)).toEqual(['', '-Inf']);
    });

    test('over an equal field goes by the fields that follow, then by key', async () => {
      const view = viewOf(indexOn(['a', 'text'], ['b', 'integer'], ['c', 'text']));
      const { reader } = await views.live(
        view,
        row('1', { a: 'x', b: 2, c: 'm' }),
        row('2', { a: 'x', b: 1, c: 'z' }),
        row('3', { a: 'x', b: 2 }),
        row('4', { a: 'y', b: 0, c: 'a' }),
        row('5', { a: 'x', b: 2, c: 'm' }),
        row('6', { a: 'x', c: 'b' }),
      );
      const order = ['6', '2', '3', '1', '5'];
      for (const limit of [1, 2, 100]) {
        const up = planned({ equals: ['p'] }, { p: 'x' });
        const down = planned({ equals: ['p'], descending: true }, { p: 'x' });
        expect(await keysOf(reader, up, limit)).toEqual(order);
        expect(await keysOf(reader, down, limit)).toEqual(order.toReversed());
      }
      const both = planned({ equals: ['p', 'q'] }, { p: 'x', q: 2 });
      expect(await keysOf(reader, both, 1)).toEqual(['3', '1', '5']);
      const exactly = planned(
        { equals: ['p', 'q', 'r', 'key'] },
        { p: 'x', q: 2, r: 'm', key: '5' },
      );
      expect(await keysOf(reader, exactly, 1)).toEqual(['5']);
    });

    test.each([
      [true, true, ['2', '3', '4']],
      [true, false, ['2', '3']],
      [false, true, ['3', '4']],
      [false, false, ['3']],
    ])('in a range has its ends as they are included: %s, %s', async (fromIt, toIt, keys) => {
      const changes = [1, 2, 3, 4, 5].map((n) => row(String(n), { n }));
      const { reader } = await views.live(
        viewOf(indexOn(['n', 'integer'])),
        ...changes,
        row('0', {}),
      );
      const range = {
        kind: 'between',
        lower: { parameter: 'from', isInclusive: fromIt },
        upper: { parameter: 'to', isInclusive: toIt },
      } as const;
      const parameters = { from: 2, to: 4 };
      for (const limit of [1, 2, 5]) {
        expect(await keysOf(reader, planned({ range }, parameters), limit)).toEqual(keys);
        const down = planned({ range, descending: true }, parameters);
        expect(await keysOf(reader, down, limit)).toEqual(keys.toReversed());
      }
      expect(await keysOf(reader, planned({ range }, { from: 4, to: 2 }))).toEqual([]);
      expect(await keysOf(reader, planned({ range }, { from: 2 }))).toEqual([]);
    });

    test.each([
      ['a', ['a', 'a\0', 'ab', 'a\uffff', 'a\u{10FFFF}', 'a\u{10FFFF}\u{10FFFF}']],
      ['a\u{10FFFF}', ['a\u{10FFFF}', 'a\u{10FFFF}\u{10FFFF}']],
      ['\ud7ff', ['\ud7ff', '\ud7ffx']],
      ['\u{10FFFF}', ['\u{10FFFF}', '\u{10FFFF}\u{10FFFF}']],
      ['%', ['%']],
      ['', undefined],
    ])('with the prefix %j has the texts that begin with it', async (prefix, expected) => {
      const texts = ['', '%', 'A', 'a', 'a\0', 'ab', 'a\uffff', 'a\u{10FFFF}']
        .concat(['a\u{10FFFF}\u{10FFFF}', 'b', '\ud7ff', '\ud7ffx', '\ue000', '\uffff'])
        .concat(['\u{10FFFF}', '\u{10FFFF}\u{10FFFF}']);
      const changes = texts.map((text, at) => row(`${100 + at}`, { text }));
      const { reader } = await views.live(
        viewOf(indexOn(['text', 'text'])),
        ...changes,
        row('1', {}),
      );
      const range = { kind: 'prefix', parameter: 'p' } as const;
      const shown = (keys: readonly string[]) => keys.map((key) => texts[Number(key) - 100]);
      const found = await keysOf(reader, planned({ range }, { p: prefix }));
      expect(shown(found)).toEqual(expected ?? texts);
      const down = await keysOf(reader, planned({ range, descending: true }, { p: prefix }));
      expect(shown(down)).toEqual((expected ?? texts).toReversed());
      expect(await keysOf(reader, planned({ range }, { p: null }))).toEqual([]);
    });

    test('takes field names as they are, quotes and paths too', async () => {
      const names = ['"', "'; DROP TABLE row; --", '$.a', 'a.b', '__proto__', 'f0', 'constructor'];
      const view = viewOf(...names.map((name) => indexOn([name, 'integer'])));
      const json = (value: number) =>
        `{${names.map((name) => `${JSON.stringify(name)}:${value}`).join()}}`;
      const { reader } = await views.live(
        view,
        { key: 'a', json: json(2) },
        { key: 'b', json: json(1) },
        { key: 'c', json: '{}' },
      );
      for (const index of names.keys()) {
        expect(await keysOf(reader, planned({ index }))).toEqual(['c', 'b', 'a']);
        const parameters = JSON.parse(`{${JSON.stringify(names[index])}:2}`) as Record<
          string,
          unknown
        >;
        const one = planned({ index, equals: [names[index]!] }, parameters);
        expect(await keysOf(reader, one)).toEqual(['a']);
      }
    });

    test('with a parameter of another type is refused, with its name', async () => {
      const { reader } = await views.live(viewOf(indexOn(['n', 'integer'])));
      for (const call of [
        () => reader.find(planned({ equals: ['mine'] }, { mine: 'text' }), 10),
        () => reader.count(planned({ equals: ['mine'] }, { mine: {} })),
      ]) {
        const failure = await failureOf(call);
        expect(failure).toMatchObject({ code: 'SVC_FIND_INVALID' });
        expect((failure as Error).message).toContain('"mine"');
      }
    });

    test('follows the rows that are put, changed and removed', async () => {
      const { writer, reader } = await views.live(
        viewOf(indexOn(['n', 'integer'])),
        row('a', { n: 1 }),
        row('b', { n: 2 }),
      );
      await writer.put([row('a', { n: 3 }), row('c', { n: 2 }), row('d', { n: 0 })], folded(2));
      expect(await keysOf(reader, planned({}))).toEqual(['d', 'b', 'c', 'a']);
      await writer.put([{ key: 'b', json: undefined }, row('d', {})], folded(3));
      expect(await keysOf(reader, planned({}))).toEqual(['d', 'c', 'a']);
    });
  });

  describe('a count', () => {
    test('is that of the rows of the query', async () => {
      const view = viewOf(indexOn(['a', 'text'], ['n', 'integer']));
      const changes = Array.from({ length: 30 }, (_, n) =>
        row(`k${n}`, { a: n % 3 ? 'x' : 'y', n }),
      );
      const { reader } = await views.live(view, ...changes, row('none', {}));
      expect(await reader.count(ALL_KEYS)).toEqual({ count: 31, hasMore: false });
      expect(await reader.count(planned({}))).toEqual({ count: 31, hasMore: false });
      expect(await reader.count(planned({ equals: ['a'] }, { a: 'y' }))).toEqual({
        count: 10,
        hasMore: false,
      });
      const upper = { parameter: 'to', isInclusive: false };
      const range = { kind: 'between', upper } as const;
      const some = planned({ equals: ['a'], range }, { a: 'x', to: 6 });
      expect(await reader.count(some)).toEqual({ count: 4, hasMore: false });
      expect(await reader.count({ ...some, parameters: { a: 'x' } })).toEqual({
        count: 0,
        hasMore: false,
      });
    });

    test(`ends at ${COUNT_MAX}`, async () => {
      const changes = Array.from({ length: COUNT_MAX }, (_, n) => row(`k${n}`, { n }));
      const { writer, reader } = await views.live(viewOf(indexOn(['n', 'integer'])), ...changes);
      expect(await reader.count(planned({}))).toEqual({ count: COUNT_MAX, hasMore: false });
      await writer.put([row('one more', {})], folded(2));
      expect(await reader.count(planned({}))).toEqual({ count: COUNT_MAX, hasMore: true });
    });
  });
}
