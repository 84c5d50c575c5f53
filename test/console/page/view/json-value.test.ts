// JsonValue: JSON for display keeps every detail of the text.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  jsonGist,
  jsonText,
  pathWithin,
  readJson,
} from '../../../../console/page/view/json-value.ts';

function read(text: string) {
  const reading = readJson(text);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.value;
}

describe('JSON that is read', () => {
  test('keeps its numbers as they are written', () => {
    const text = '[12345678901234567890,1.10,-0,1e400,0.1000]';
    expect(jsonText(read(text))).toBe(text);
  });

  test('keeps the order of its keys, numbers and doubles among them', () => {
    const text = '{"b":1,"10":2,"2":3,"b":4,"__proto__":5}';
    expect(jsonText(read(text))).toBe(text);
  });

  test('means what JSON.parse says, whatever it is', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', '  '), (text, indent) => {
        expect(JSON.parse(jsonText(read(text), indent))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('is refused where JSON.parse refuses it', () => {
    const almost = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('', ',', '"', '}', '0', '\\', '\n'),
    );
    fc.assert(
      fc.property(almost, ([text, at, sign]) => {
        const place = at % (text.length + 1);
        const broken = text.slice(0, place) + sign + text.slice(place + 1);
        let isJson = true;
        try {
          JSON.parse(broken);
        } catch {
          isJson = false;
        }
        expect(readJson(broken).ok).toBe(isJson);
      }),
      { numRuns: 500 },
    );
  });

  test('of any depth ends in an answer', () => {
    expect(readJson('['.repeat(100_000)).ok).toBe(false);
  });

  test('with a long text is read', () => {
    const text = JSON.stringify('a\\n"'.repeat(300_000));
    expect(jsonText(read(text))).toBe(text);
  });
});

test('a value that is folded is one short line', () => {
  expect(jsonGist(read('{"a":1,"b":[1,2],"c":{"d":null}}'))).toBe('{a: 1, b: [2], c: {…}}');
  expect(jsonGist(read(JSON.stringify(Array.from({ length: 9999 }, () => 'x')))).length).toBe(61);
});

test('a path names its place as a history does', () => {
  expect(pathWithin(pathWithin(pathWithin('', 'items'), 0), 'a b')).toBe('items[0]["a b"]');
  expect(pathWithin('', 'a')).toBe('a');
});
