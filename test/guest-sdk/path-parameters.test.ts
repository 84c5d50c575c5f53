// Path parameters of every type, at their bounds. The handler passes its arguments to the entity, so the input of
// that call shows what was read.
import { describe, expect, test } from 'vitest';
import { parseModuleDescriptor } from '@svc/contract';
import { compileFixture, compileFixtureCore } from '../support/compile-fixture.ts';
import { CoreGuest } from '../support/core-guest.ts';
import { descriptorText } from '../support/descriptor-text.ts';

const parsed = parseModuleDescriptor(descriptorText(await compileFixture('user-directory')));
if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
const routes = parsed.descriptor.endpoints[0]!.routes.map(
  (route) => `${route.method} ${route.path}`,
);
const inputs: string[] = [];
const guest = new CoreGuest(new WebAssembly.Module(await compileFixtureCore('user-directory')), {
  call: ({ id, input }) => {
    inputs.push(`${id} ${input}`);
    return { denied: 'the test has seen enough' };
  },
});

const ROUTE_OF = {
  string: 'POST /users',
  bool: 'GET /active/{active}',
  i32: 'GET /floors/{floor}',
  i64: 'GET /users/{number}',
  f64: 'GET /above/{score}',
  enum: 'GET /roles/{role}',
} as const;

/** Returns the JSON that the entity received, or the refusal. */
function given(type: keyof typeof ROUTE_OF, text: string): string {
  inputs.length = 0;
  const result = guest.handle({ route: routes.indexOf(ROUTE_OF[type]), parameters: ['d', text] });
  if (inputs.length > 0) return inputs[0]!.slice('d '.length);
  if (!('refused' in result)) throw new Error('neither called nor refused');
  expect(result.refused.code).toBe(0);
  return result.refused.message;
}

describe('taken', () => {
  test.each([
    ['bool', 'true', 'true'],
    ['bool', 'false', 'false'],
    ['i32', '0', '0'],
    ['i32', '-0', '0'],
    ['i32', '2147483647', '2147483647'],
    ['i32', '-2147483648', '-2147483648'],
    ['i64', '9007199254740991', '9007199254740991'],
    ['i64', '9007199254740993', '"9007199254740993"'],
    ['i64', '9223372036854775807', '"9223372036854775807"'],
    ['i64', '-9223372036854775808', '"-9223372036854775808"'],
    ['f64', '-0', '-0'],
    ['f64', '1e3', '1000'],
    ['f64', '1E+3', '1000'],
    ['f64', '5e-324', '5e-324'],
    ['f64', '1e-400', '0'],
    ['f64', '9007199254740993', '9007199254740992'],
    ['enum', 'Admin', '"Admin"'],
  ] as const)('%s %s', (type, text, expected) => {
    expect(given(type, text)).toBe(expected);
  });

  test.each(['', ' ', 'a/b', '%2e', 'é😀', '__proto__', 'x'.repeat(10_000)])(
    'a string is what the path holds: %.20j',
    (text) => {
      inputs.length = 0;
      guest.handle({ route: routes.indexOf(ROUTE_OF.bool), parameters: [text, 'true'] });
      expect(inputs).toEqual([`${text} true`]);
    },
  );
});

const I32 = 'must be an integer from -2147483648 to 2147483647';
const I64 = 'must be a 64-bit integer';
const NOTHING = ['', ' ', '+1', '1_000', '0x10', '１', 'null', '"1"', '1 ', ' 1', '1\u0000', 'NaN'];

describe('refused as a bad request, with the name of the parameter', () => {
  test.each([
    ...NOTHING.map((text) => ['i32', text, `'floor': ${I32}`] as const),
    ...['1e3', '1.0', '01', '2147483648', '-2147483649', '1e999', 'Infinity'].map(
      (text) => ['i32', text, `'floor': ${I32}`] as const,
    ),
    ...NOTHING.map((text) => ['i64', text, `'number': ${I64}`] as const),
    ...[
      '-0',
      '1e3',
      '01',
      '9223372036854775808',
      '-9223372036854775809',
      '1"',
      String.raw`1\u0030`,
    ].map((text) => ['i64', text, `'number': ${I64}`] as const),
    ...NOTHING.map((text) => ['f64', text, `'score': must be a number`] as const),
    ...['Infinity', '-Infinity', '1e999', '.5', '1.', '1,5', '-', 'true'].map(
      (text) => ['f64', text, `'score': must be a number`] as const,
    ),
    ...['', 'TRUE', '1', 'yes', 'true '].map(
      (text) => ['bool', text, `'active': must be true or false`] as const,
    ),
    ...['', 'admin', 'Admin ', '2', String.raw`\u0041dmin`, '"Admin"'].map(
      (text) =>
        ['enum', text, `'role': must be "Guest" or "Member" or "Admin", found "${text}"`] as const,
    ),
  ])('%s %j', (type, text, expected) => {
    expect(given(type, text)).toBe(`path parameter ${expected}`);
  });
});
