// Parameters of handlers that come from the query string: what the descriptor says of them, what a handler is given,
// and what is refused, with the place.
import { describe, expect, test } from 'vitest';
import { parseModuleDescriptor } from '@svc/contract';
import { compileFixture, compileFixtureCore } from '../support/compile-fixture.ts';
import {
  CoreGuest,
  type CoreRequest,
  type CoreResponse,
  type CoreResult,
} from '../support/core-guest.ts';
import { descriptorText } from '../support/descriptor-text.ts';

const parsed = parseModuleDescriptor(descriptorText(await compileFixture('query-parameters')));
if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
const routes = parsed.descriptor.endpoints.flatMap(({ prefix, routes: own }) =>
  own.map((route) => ({ ...route, label: `${route.method} ${prefix}${route.path}` })),
);
const guest = new CoreGuest(new WebAssembly.Module(await compileFixtureCore('query-parameters')));

function handle(label: string, request: Omit<CoreRequest, 'route'>): CoreResult<CoreResponse> {
  const route = routes.findIndex((one) => one.label === label);
  if (route < 0) throw new Error(`no route ${label}`);
  return guest.handle({ ...request, route });
}

/** The JSON that a handler answered. */
function answer(label: string, query: string, request: Omit<CoreRequest, 'route'> = {}): unknown {
  const result = handle(label, { ...request, query });
  if ('refused' in result) throw new Error(result.refused.message);
  const { kind, content } = result.ok.body;
  return kind === 'json' ? JSON.parse(content) : content;
}

function refusal(label: string, query: string, request: Omit<CoreRequest, 'route'> = {}): string {
  const result = handle(label, { ...request, query });
  if (!('refused' in result)) throw new Error(`answered ${result.ok.body.content}`);
  expect(result.refused.code).toBe(0);
  return result.refused.message;
}

const queryOf = (label: string) =>
  routes
    .find((route) => route.label === label)!
    .query?.map(({ name, required, schema }) => [name, required, schema]);

describe('the descriptor says', () => {
  const text = { type: 'string' };
  const sort = { $ref: '#/types/Sort' };
  const date = { type: 'string', format: 'date-time' };
  const u32 = { type: 'integer', minimum: 0, maximum: 4_294_967_295 };

  test('which parameters are in the query string, of which type, and which must be given', () => {
    expect(queryOf('GET /books/search')).toEqual([
      ['text', true, text],
      ['tag', false, { type: 'array', items: text }],
      ['since', false, { anyOf: [date, { type: 'null' }] }],
      ['author', false, { anyOf: [text, { type: 'null' }] }],
      ['sort', false, sort],
      ['call', false, u32],
      ['route', false, u32],
    ]);
  });

  test('the defaults that are written out and fit, in their JSON form, and no other', () => {
    const defaultsOf = (label: string) => {
      const { query } = routes.find((route) => route.label === label)!;
      return query!.map((parameter) => [parameter.name, parameter.default]);
    };
    expect(defaultsOf('GET /defaults/written-out')).toEqual([
      ['text', 'a "b" 😀'],
      ['yes', true],
      ['small', -128],
      ['hex', 65_535],
      ['big', '18446744073709551615'],
      ['least', '-9223372036854775808'],
      ['safe', 9_007_199_254_740_991],
      ['real', -0.0015],
      ['whole', 16_777_216],
      ['float', 0.1],
      ['sort', 'Newest'],
      ['numbers', [1, -2]],
      ['sorts', ['Newest', 'Title']],
      ['author', 'anybody'],
      ['names', ['a', '']],
    ]);
    const computed = routes.find((route) => route.label === 'GET /defaults/computed')!.query!;
    expect(computed.filter((parameter) => 'default' in parameter)).toEqual([]);
    expect(computed.filter(({ required }) => required)).toEqual([]);
  });

  test('on a route with a body, what its type or its name makes of each parameter', () => {
    const bodies = routes.map(({ label, body, query }) => [
      label,
      body?.kind,
      body?.optional,
      query?.map(({ name }) => name),
    ]);
    expect(bodies.filter(([label]) => !String(label).startsWith('GET'))).toEqual([
      ['DELETE /books/{isbn}', undefined, undefined, ['force']],
      ['POST /books/{isbn}', 'json', undefined, ['notify', 'copies']],
      ['PUT /books/{isbn}/title', undefined, undefined, ['title']],
      ['PUT /books/{isbn}/note', 'text', undefined, ['sort']],
      ['PATCH /books/{isbn}', undefined, undefined, ['tags']],
      ['POST /books/tags', 'json', undefined, ['books']],
      ['POST /books/import', 'json', undefined, ['dates']],
      ['POST /books/cover', 'bytes', undefined, ['since']],
      ['POST /books/maybe', 'json', true, undefined],
      ['PUT /books/maybe', 'text', true, undefined],
      ['PATCH /books/maybe', 'bytes', true, undefined],
      ['POST /books/maybe/number', 'json', undefined, undefined],
    ]);
  });
});

describe('a handler is given', () => {
  test('integers of every width, at both bounds', () => {
    expect(
      answer(
        'GET /scalars/integers',
        'a=-128&b=0&c=-32768&d=0&e=-2147483648&f=0&g=-9223372036854775808&h=0',
      ),
    ).toEqual({
      a: -128,
      b: 0,
      c: -32_768,
      d: 0,
      e: -2_147_483_648,
      f: 0,
      g: '-9223372036854775808',
      h: 0,
    });
    expect(
      answer(
        'GET /scalars/integers',
        'h=18446744073709551615&g=9223372036854775807&f=4294967295&e=2147483647&d=65535&c=32767&b=255&a=127',
      ),
    ).toEqual({
      a: 127,
      b: 255,
      c: 32_767,
      d: 65_535,
      e: 2_147_483_647,
      f: 4_294_967_295,
      g: '9223372036854775807',
      h: '18446744073709551615',
    });
  });

  test.each([
    ['bool', 'true', true],
    ['bool', 'false', false],
    ['f32', '1.5', 1.5],
    ['f32', '1e3', 1000],
    ['f64', '-0.1', -0.1],
    ['f64', '5e-324', 5e-324],
    ['date', '2026-02-28T12:30:00Z', '2026-02-28T12:30:00.000Z'],
    ['date', '2026-02-28T12%3A30%3A00%2B01:00', '2026-02-28T11:30:00.000Z'],
    ['enum', 'Newest', 'Newest'],
  ] as const)('a %s of %s', (type, text, expected) => {
    expect(answer(`GET /scalars/${type}`, `value=${text}`)).toBe(expected);
  });

  test.each([
    ['', ''],
    ['a+b', 'a b'],
    ['a%20b', 'a b'],
    ['a%2Bb', 'a+b'],
    ['a%26b%3Dc', 'a&b=c'],
    ['a=b', 'a=b'],
    ['%C3%A9%F0%9F%98%80', 'é😀'],
    ['%e2%82%ac', '€'],
    ['%00', '\u0000'],
    ['%EF%BF%BD', '\uFFFD'],
    ['%F4%8F%BF%BF', '\u{10FFFF}'],
    ['"\\u0041"', '"\\u0041"'],
    ['null', 'null'],
  ])('text that was sent as %s', (sent, expected) => {
    expect(answer('GET /scalars/text', `value=${sent}`)).toEqual({ what: expected });
  });

  test('a name without a value as empty text, and a name in any encoding', () => {
    expect(answer('GET /scalars/text', 'value')).toEqual({ what: '' });
    expect(answer('GET /scalars/text', '%76al%75e=1')).toEqual({ what: '1' });
  });

  test('lists in the order of the query, whatever stands between', () => {
    expect(answer('GET /lists/text', 'value=b&x=1&value=a&&value=')).toEqual(['b', 'a', '']);
    expect(answer('GET /lists/text', 'value=a,b')).toEqual(['a,b']);
    expect(answer('GET /lists/numbers', 'value=1&value=255')).toEqual([1, 255]);
    expect(answer('GET /lists/sorts', 'value=Newest&value=Title')).toEqual(['Newest', 'Title']);
    expect(answer('GET /lists/dates', 'value=2026-02-28T12:30:00Z')).toEqual([
      '2026-02-28T12:30:00.000Z',
    ]);
  });

  test('what stands for a parameter that is left out: no item, null, or the default', () => {
    expect(answer('GET /lists/text', '')).toEqual([]);
    expect(answer('GET /lists/nullable', '')).toBe('null');
    expect(answer('GET /lists/nullable', 'value=1')).toBe('1');
    expect(answer('GET /lists/default', '')).toEqual([1, 2]);
    expect(answer('GET /lists/default', 'value=3')).toEqual([3]);
    expect(answer('GET /books/search', 'text=owl')).toEqual({
      text: 'owl',
      sort: 'Newest',
      limit: 70,
      since: null,
      author: 'anybody',
      tags: [],
    });
    expect(
      answer(
        'GET /books/search',
        'sort=Title&call=1&route=2&author=&tag=a&tag=b&since=2026-02-28T12:30:00Z&text=',
      ),
    ).toEqual({
      text: '',
      sort: 'Title',
      limit: 3,
      since: '2026-02-28T12:30:00.000Z',
      author: '',
      tags: ['a', 'b'],
    });
  });

  test('the defaults that the descriptor has', () => {
    expect(answer('GET /defaults/written-out', '')).toBe(
      'a "b" 😀|true|-128|65535|18446744073709551615|-9223372036854775808|9007199254740991|-0.0015|16777216.0|0.1|1|1,-2|1,0|anybody|a,',
    );
    expect(answer('GET /defaults/computed', '')).toBe(
      '20|50|2|1|4294967295|true|0|208|1|true|0|20|Infinity',
    );
  });

  test('a name that it does not ask for is left alone, also where its value is malformed', () => {
    expect(answer('GET /scalars/bool', 'utm_source=x&value=true&Value=2&x=%zz')).toBe(true);
  });

  test('what it asks for beside path and body', () => {
    const parameters = ['1'];
    const book = { json: '{"title":"Owls"}' };
    expect(answer('DELETE /books/{isbn}', '', { parameters })).toEqual({ what: '1 false' });
    expect(answer('DELETE /books/{isbn}', 'force=true', { parameters })).toEqual({
      what: '1 true',
    });
    expect(answer('POST /books/{isbn}', 'notify=true', { parameters, body: book })).toEqual({
      what: '1 true 1 Owls',
    });
    expect(answer('PUT /books/{isbn}/title', 'title=Owls', { parameters })).toEqual({
      what: '1 Owls',
    });
    expect(
      answer('PUT /books/{isbn}/note', 'sort=Newest', { parameters, body: { text: 'good' } }),
    ).toEqual({ what: 'good 1' });
    expect(answer('PATCH /books/{isbn}', 'tags=a&tags=b', { parameters })).toEqual({
      what: 'a b',
    });
    expect(answer('POST /books/tags', 'books=1&books=2', { body: { json: '["x","y"]' } })).toEqual({
      what: 'x y 2',
    });
    expect(
      answer('POST /books/import', 'dates=2026-02-28T12:30:00Z', { body: { json: '[]' } }),
    ).toEqual({ what: '0 1' });
    expect(
      answer('POST /books/cover', 'since=2026-02-28T12:30:00Z', {
        body: { bytes: new Uint8Array(2) },
      }),
    ).toEqual({ what: '2 2026-02-28T12:30:00.000Z' });
  });

  test('null for a body that may be null and was not sent', () => {
    expect(answer('POST /books/maybe', '')).toEqual({ what: 'nothing' });
    expect(answer('POST /books/maybe', '', { body: { json: 'null' } })).toEqual({
      what: 'nothing',
    });
    expect(answer('POST /books/maybe', '', { body: { json: '{"title":"a"}' } })).toEqual({
      what: 'a',
    });
    expect(answer('PUT /books/maybe', '')).toEqual({ what: 'nothing' });
    expect(answer('PUT /books/maybe', '', { body: { text: '' } })).toEqual({ what: '' });
    expect(answer('PATCH /books/maybe', '')).toEqual({ what: 'nothing' });
    expect(refusal('POST /books/maybe/number', '')).toBe('body: is missing');
  });

  test('a date in the path, which is a scalar as in the query string', () => {
    const parameters = ['2026-02-28T12:30:00Z'];
    expect(answer('GET /scalars/day/{day}', '', { parameters })).toBe('2026-02-28T12:30:00.000Z');
    expect(refusal('GET /scalars/day/{day}', '', { parameters: ['today'] })).toBe(
      'path parameter \'day\': must be a date and time like 2026-02-28T12:30:00.000Z, found "today"',
    );
  });
});

const MALFORMED = 'has a percent-encoding that is malformed or not UTF-8';

describe('refused as a bad request, with the place', () => {
  test.each([
    ['text', '', 'query.value: is missing'],
    ['text', 'values=1', 'query.value: is missing'],
    ['text', 'value=1&value=1', 'query.value: is given twice'],
    ['bool', '', 'query.value: is missing'],
    ['date', '', 'query.value: is missing'],
    ['enum', '', 'query.value: is missing'],
    ['bool', 'value=true&value=false', 'query.value: is given twice'],
    ['bool', 'value', 'query.value: must be true or false, found ""'],
    ['bool', 'value=1', 'query.value: must be true or false, found "1"'],
    ['bool', 'value=TRUE', 'query.value: must be true or false, found "TRUE"'],
    ['f64', 'value=NaN', 'query.value: must be a number, found "NaN"'],
    ['f64', 'value=', 'query.value: must be a number, found ""'],
    ['f64', 'value=+1', 'query.value: must be a number, found " 1"'],
    ['f64', 'value=1e999', 'query.value: must be a number, found "1e999"'],
    ['f32', 'value=1e39', 'query.value: must be a number, found "1e39"'],
    ['enum', 'value=title', 'query.value: must be "Title" or "Newest", found "title"'],
    ['enum', 'value=0', 'query.value: must be "Title" or "Newest", found "0"'],
    [
      'date',
      'value=2026-02-30T00:00:00Z',
      'query.value: must be a date and time like 2026-02-28T12:30:00.000Z, found "2026-02-30T00:00:00Z"',
    ],
    [
      'date',
      'value=2026-02-28T12:30:00+01:00',
      'query.value: must be a date and time like 2026-02-28T12:30:00.000Z, found "2026-02-28T12:30:00 01:00"',
    ],
    ['text', 'value=%', `query.value: ${MALFORMED}`],
    ['text', 'value=%4', `query.value: ${MALFORMED}`],
    ['text', 'value=%zz', `query.value: ${MALFORMED}`],
    ['text', 'value=%C3', `query.value: ${MALFORMED}`],
    ['text', 'value=%C3%28', `query.value: ${MALFORMED}`],
    ['text', 'value=%C0%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%E0%80%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%ED%A0%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%F0%80%80%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%F4%90%80%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%F5%80%80%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%80', `query.value: ${MALFORMED}`],
    ['text', 'value=%C3%A9%E2%82', `query.value: ${MALFORMED}`],
    ['text', 'value=1&%ff=2', `query: a name ${MALFORMED}`],
    ['text', '%=2&value=1', `query: a name ${MALFORMED}`],
  ])('%s %s', (type, query, expected) => {
    expect(refusal(`GET /scalars/${type}`, query)).toBe(expected);
  });

  test.each(['-1', '256', '1.0', '1e1', '01', ' 1', '0x1', '', 'null', '1 '].map((text) => [text]))(
    'an integer of 8 bits that is %j',
    (text) => {
      expect(refusal('GET /lists/numbers', `value=0&value=${encodeURIComponent(text)}`)).toBe(
        `query.value[1]: must be an integer from 0 to 255, found "${text}"`,
      );
    },
  );

  test.each(['9223372036854775808', '-0', '1"', '01', '1e3'])(
    'an integer of 64 bits that is %s',
    (text) => {
      expect(refusal('GET /scalars/integers', `a=0&b=0&c=0&d=0&e=0&f=0&g=${text}&h=0`)).toBe(
        `query.g: must be a 64-bit integer, found "${text}"`,
      );
    },
  );

  test('the first that does not fit, before the body is looked at', () => {
    const request = { parameters: ['1'], body: { json: '{' } };
    expect(refusal('POST /books/{isbn}', 'copies=300', request)).toBe('query.notify: is missing');
  });

  test('a malformed name where nothing has to be given', () => {
    expect(refusal('GET /lists/default', '%ff=1')).toBe(`query: a name ${MALFORMED}`);
    expect(refusal('GET /lists/nullable', '%ff=1')).toBe(`query: a name ${MALFORMED}`);
  });

  test('with no more of a long value than a person reads', () => {
    expect(refusal('GET /scalars/bool', `value=${'x'.repeat(10_000)}`).length).toBeLessThan(200);
  });
});
