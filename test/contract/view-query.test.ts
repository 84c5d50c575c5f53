import { describe, expect, test } from 'vitest';
import { parseViewQuery } from '../../contract/view-query.ts';

/** A condition or an order as `column operator parameter`, with quotes around the name of a field. */
function outline(text: string): string[] {
  const query = parseViewQuery(text);
  if ('message' in query) throw new Error(query.message);
  const name = (column: (typeof query.conditions)[number]['column']) =>
    column.kind === 'key' ? 'key' : JSON.stringify(column.name);
  return [
    ...query.conditions.map(({ column, operator, parameter }) =>
      [name(column), operator, JSON.stringify(parameter)].join(' '),
    ),
    ...(query.order === undefined
      ? []
      : [`${query.order.descending ? 'desc' : 'asc'} ${name(query.order.column)}`]),
  ];
}

function problemOf(text: string) {
  const query = parseViewQuery(text);
  return 'message' in query ? query : undefined;
}

describe('the text of a query', () => {
  test.each([
    ['', []],
    [' \t\r\n', []],
    ['a = :a', ['"a" = "a"']],
    ['a=:a and b<:b', ['"a" = "a"', '"b" < "b"']],
    ['a >= :from and a < :to', ['"a" >= "from"', '"a" < "to"']],
    ['a <= :a and b > :b', ['"a" <= "a"', '"b" > "b"']],
    ['name starts with :start', ['"name" starts with "start"']],
    ['key starts with :start order by key desc', ['key starts with "start"', 'desc key']],
    ['order by placedAt', ['asc "placedAt"']],
    ['ORDER By a ASC', ['asc "a"']],
    [
      'a = :a AnD b STARTS With :b oRdEr BY b dEsC',
      ['"a" = "a"', '"b" starts with "b"', 'desc "b"'],
    ],
    ['"key" = :key and "placed at" > :"the time"', ['"key" = "key"', '"placed at" > "the time"']],
    ['"a""b" = :"""" order by """"', [String.raw`"a\"b" = "\""`, String.raw`asc "\""`]],
    ['Key = :KEY', ['"Key" = "KEY"']],
    ['größe = :größe and $_1 = :$', ['"größe" = "größe"', '"$_1" = "$"']],
    // No word is reserved.
    [
      'order = :by and by = :order order by order',
      ['"order" = "by"', '"by" = "order"', 'asc "order"'],
    ],
    ['and = :and and starts starts with :with', ['"and" = "and"', '"starts" starts with "with"']],
    ['order by desc desc', ['desc "desc"']],
    ['order by "asc"', ['asc "asc"']],
    ['"order" = :a', ['"order" = "a"']],
    // Quotes make a name of anything.
    [`"'; drop table row; --" = :a`, [`"'; drop table row; --" = "a"`]],
    ['"and" = :a and "order by" = :b', ['"and" = "a"', '"order by" = "b"']],
  ])('%s', (text, expected) => {
    expect(outline(text)).toEqual(expected);
  });

  test.each([
    ['a', 1, "expected =, <, <=, >, >= or 'starts with' after 'a', and found the end"],
    ['a =', 3, "expected a parameter such as :a after '=', and found the end: values"],
    ['a = 5', 4, "and found '5': values are given by parameters only"],
    ["a = 'x'", 4, `and found ''': values`],
    ['a = b', 4, "and found 'b': values"],
    ['a = null', 4, "and found 'null': values"],
    ['a == :a', 2, "after 'a', and found '=='"],
    ['a != :a', 2, "after 'a', and found '!='"],
    ['a <> :a', 2, "and found '<>'"],
    ['a like :a', 2, "and found 'like'"],
    ['a starts :a', 2, "and found 'starts'"],
    ['a "starts" with :a', 2, "and found 'starts'"],
    ['a = :a or b = :b', 7, "'or' cannot follow a condition: write 'and'"],
    ['a = :a, b = :b', 6, "',' cannot follow a condition"],
    ['a = :a and', 10, "expected the name of a field or 'key', and found the end"],
    ['and a = :a', 4, "after 'and', and found 'a'"],
    ['(a = :a)', 0, "and found '('"],
    ['not a = :a', 4, "after 'not', and found 'a'"],
    [':a = a', 0, "and found ':a'"],
    ['a = :a order by', 15, "after 'order by', and found the end"],
    ['order by :a', 9, "and found ':a'"],
    ['order by a, b', 10, "',' cannot follow the order"],
    ['order by a desc b', 16, "'b' cannot follow the order"],
    ['order by a limit', 11, "'limit' cannot follow the order"],
    ['a = :a; drop table row', 6, "';' cannot follow a condition"],
    ['a = :a -- comment', 7, "'-' cannot follow a condition"],
    ['a = : a', 5, "':' has to be followed by the name of a parameter"],
    ['a = :1', 5, "':' has to be followed"],
    ['a = :', 5, "':' has to be followed"],
    ['"a = :a', 0, 'the name in quotes has no end'],
    ['"a"" = :a', 0, 'the name in quotes has no end'],
    ['"" = :a', 0, 'a name in quotes is empty'],
    ['"a\nb" = :a', 2, 'a name in quotes has a control character'],
    ['a\u0000 = :a', 1, "and found '\u0000'"],
    [`${'a'.repeat(201)} = :a`, 0, 'a name has more than 200 characters'],
    [`"${'a'.repeat(201)}" = :a`, 0, 'a name has more than 200 characters'],
    ['😀 = :a', 0, "and found '😀'"],
  ])('%s is refused at %i: %s', (text, offset, message) => {
    expect(problemOf(text)).toEqual({ message: expect.stringContaining(message), offset });
  });

  test('may have 1,000 characters', () => {
    const text = `a = :a${' '.repeat(994)}`;
    expect(problemOf(text)).toBeUndefined();
    expect(problemOf(`${text} `)?.message).toBe('the query has more than 1000 characters');
  });

  test('says where names and parameters are', () => {
    const query = parseViewQuery('a = :b order by  c');
    expect(query).toMatchObject({
      conditions: [{ offset: 0, parameterOffset: 4 }],
      order: { offset: 17 },
    });
  });
});
