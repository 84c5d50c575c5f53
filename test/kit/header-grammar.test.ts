import { validateHeaderName, validateHeaderValue } from 'node:http';
import { describe, expect, test } from 'vitest';
import { isFieldName, isFieldValue } from '../../kit/header-grammar.ts';

const everyUnit = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
const isAllowed = (validate: () => void): boolean => {
  try {
    validate();
    return true;
  } catch {
    return false;
  }
};

describe('the grammar of headers, compared with that of Node', () => {
  test('a name may have the same characters', () => {
    const ours = everyUnit.filter((unit) => isFieldName(`x${unit}y`));
    const nodes = everyUnit.filter((unit) => isAllowed(() => validateHeaderName(`x${unit}y`)));
    expect(ours).toEqual(nodes);
    expect(ours).toHaveLength(77);
  });

  test('a value may have the same characters, but for controls that terminals act on', () => {
    const ours = everyUnit.filter((unit) => isFieldValue(`x${unit}y`));
    const nodes = everyUnit.filter((unit) =>
      isAllowed(() => validateHeaderValue('x', `x${unit}y`)),
    );
    expect(ours).toEqual(nodes.filter((unit) => unit < '\u0080' || unit >= '\u00a0'));
    expect(ours).toHaveLength(95 + 96 + 1);
  });

  test('a name is not empty, a value may be', () => {
    expect(isFieldName('')).toBe(false);
    expect(isFieldValue('')).toBe(true);
  });

  test.each([' ', '\t', ' a', 'a ', '\ta', 'a\t'])(
    'the value %j has a blank at its end',
    (value) => {
      expect(isFieldValue(value)).toBe(false);
    },
  );
});
