// A setting is read by its name from the command line, the environment or its default; what it cannot be is refused by
// both its names.
import { describe, expect, test } from 'vitest';
import { dottedName, variableName } from '../../kit/setting-name.ts';
import {
  type Range,
  readAssignments,
  sectionNames,
  SettingsReader,
} from '../../kit/settings-reader.ts';

const NAME = 'svc.http.body-bytes-max';
const VARIABLE = 'SVC_HTTP_BODY_BYTES_MAX';
const RANGE: Range = [1, 100];

function reader(
  given: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): SettingsReader {
  return new SettingsReader(new Map(Object.entries(given)), env);
}

const refused = (wanted: string, found: string) =>
  expect.objectContaining({
    code: 'SVC_SETTING_INVALID',
    message: `The setting ${NAME} (environment: ${VARIABLE}) takes ${wanted}, and found '${found}'.`,
  });

test('the names of a setting follow from its section and key', () => {
  expect(dottedName('http', 'bodyBytesMax')).toBe(NAME);
  expect(variableName(NAME)).toBe(VARIABLE);
  expect(variableName('svc.http.cors.origins')).toBe('SVC_HTTP_CORS_ORIGINS');
});

describe('a value', () => {
  test('of the command line comes before that of the environment, and both before the default', () => {
    expect(reader({ [NAME]: '7' }, { [VARIABLE]: '8' }).number(NAME, 9, RANGE)).toBe(7);
    expect(reader({}, { [VARIABLE]: '8' }).number(NAME, 9, RANGE)).toBe(8);
    expect(reader().number(NAME, 9, RANGE)).toBe(9);
  });

  test('that is empty is refused, whatever its type', () => {
    const problem = refused('a value that is not empty', '');
    const empty = reader({}, { [VARIABLE]: '' });
    expect(() => empty.text(NAME)).toThrow(problem);
    expect(() => empty.number(NAME, 9, RANGE)).toThrow(problem);
    expect(() => empty.boolean(NAME, true)).toThrow(problem);
    expect(() => empty.list(NAME, [], RANGE)).toThrow(problem);
  });
});

describe('a number', () => {
  test.each([
    ['1', 1],
    ['100', 100],
    ['007', 7],
  ])('%s is in its range', (text, value) => {
    expect(reader({ [NAME]: text }).number(NAME, 9, RANGE)).toBe(value);
  });

  test.each(['0', '101', '-1', '+1', '1.5', '1e1', '0x10', ' 1', '1 ', 'ten', '٣', '1'.repeat(17)])(
    '%j is refused',
    (text) => {
      expect(() => reader({ [NAME]: text }).number(NAME, 9, RANGE)).toThrow(
        refused('a whole number from 1 to 100', text),
      );
    },
  );

  test('of a port is from 0 to 65535', () => {
    expect(reader({ [NAME]: '0' }).port(NAME, 9000)).toBe(0);
    expect(reader({ [NAME]: '65535' }).port(NAME, 9000)).toBe(65_535);
    expect(() => reader({ [NAME]: '65536' }).port(NAME, 9000)).toThrow(
      refused('a whole number from 0 to 65535', '65536'),
    );
  });
});

describe('true or false', () => {
  test('is one of the two', () => {
    expect(reader({ [NAME]: 'true' }).boolean(NAME, false)).toBe(true);
    expect(reader({ [NAME]: 'false' }).boolean(NAME, true)).toBe(false);
    expect(reader().boolean(NAME, true)).toBe(true);
  });

  test.each(['TRUE', 'yes', '1', 'true '])('is not %j', (text) => {
    expect(() => reader({ [NAME]: text }).boolean(NAME, false)).toThrow(
      refused("'true' or 'false'", text),
    );
  });
});

describe('a list', () => {
  test.each([
    ['a', ['a']],
    ['a, b ,c', ['a', 'b', 'c']],
    ['none', []],
  ])('%j is read', (text, entries) => {
    expect(reader({ [NAME]: text }).list(NAME, ['x'], [0, 3])).toEqual(entries);
  });

  test.each([
    ['a,,b', [0, 3]],
    ['a,', [0, 3]],
    ['a,b,c,d', [0, 3]],
    ['none', [1, 3]],
  ] as const)('%j is refused with a range of %j', (text, range) => {
    expect(() => reader({ [NAME]: text }).list(NAME, ['x'], range)).toThrow(
      refused("'none', or up to 3 entries with commas between", text),
    );
  });

  test('that is not given is its default', () => {
    expect(reader().list(NAME, ['x'], RANGE)).toEqual(['x']);
  });
});

describe('sections', () => {
  const defaults = {
    http: { bodyBytesMax: 10, isStrict: false },
    'http.cors': { origins: [] as readonly string[] },
  };
  const ranges = { http: { bodyBytesMax: RANGE }, 'http.cors': { origins: [0, 2] as const } };

  test('have a name for each setting', () => {
    expect(sectionNames(defaults)).toEqual([NAME, 'svc.http.is-strict', 'svc.http.cors.origins']);
  });

  test('are read with their types, ranges and defaults', () => {
    const read = reader({ [NAME]: '5' }, { SVC_HTTP_CORS_ORIGINS: 'a,b' }).sections(
      defaults,
      ranges,
    );
    expect(read).toEqual({
      http: { bodyBytesMax: 5, isStrict: false },
      'http.cors': { origins: ['a', 'b'] },
    });
    expect(() => reader({ [NAME]: '101' }).sections(defaults, ranges)).toThrow(
      refused('a whole number from 1 to 100', '101'),
    );
    expect(() => reader({}, { SVC_HTTP_CORS_ORIGINS: 'a,b,c' }).sections(defaults, ranges)).toThrow(
      /svc\.http\.cors\.origins \(environment: SVC_HTTP_CORS_ORIGINS\) takes .* up to 2/,
    );
  });
});

describe('a name on the command line', () => {
  test('that is unknown is refused, and a variable of the environment is not looked at', () => {
    const known = new Set([NAME]);
    expect(() => reader({ 'svc.htp.port': '1' }).checkNames(known)).toThrow(
      expect.objectContaining({
        code: 'SVC_USAGE',
        message: "There is no setting 'svc.htp.port'. docs/reference/settings.md lists them.",
      }),
    );
    reader({ [NAME]: '1' }, { SVC_HTP_PORT: '1' }).checkNames(known);
  });

  test('and its value are one assignment, in which the value may hold an equals sign', () => {
    expect([...readAssignments(['a=1', 'b=x=y', 'c='])]).toEqual([
      ['a', '1'],
      ['b', 'x=y'],
      ['c', ''],
    ]);
    expect(() => readAssignments(['a'])).toThrow(
      expect.objectContaining({
        code: 'SVC_USAGE',
        message: "--set takes NAME=VALUE, and found 'a'.",
      }),
    );
  });
});
