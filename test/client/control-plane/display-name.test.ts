// The rule of names for people: what names in tokens are cleaned of is refused in bodies, and OpenAPI says so.
import { HARMFUL_CHARACTERS } from '@svc/contract/harmful-character';
import { expect, test } from 'vitest';
import { displayName } from '../../../client/control-plane/identifiers.ts';
import { schemaProblems } from '../../../client/control-plane/schema-problems.ts';

const isRefused = (name: string) => schemaProblems(displayName, name).length > 0;
const isHarmful = (character: string) => character.replaceAll(HARMFUL_CHARACTERS, '') === '';
const isBlank = (each: string) => /^\s$/u.test(each) || isHarmful(each);
const isSurrogate = (point: number) => point >= 0xd800 && point <= 0xdfff;

/** Returns the characters of the range for which the two say different things. */
function differences(
  range: readonly [number, number],
  one: (character: string) => boolean,
  other: (character: string) => boolean,
): string[] {
  const found: string[] = [];
  for (let point = range[0]; point <= range[1]; point++) {
    const character = String.fromCodePoint(point);
    // Halves of characters cannot arrive: bodies with them are no JSON for the control plane.
    if (!isSurrogate(point) && one(character) !== other(character)) found.push(point.toString(16));
  }
  return found;
}

test('no harmful character may be in a name', () => {
  expect(differences([0, 0x10ffff], (each) => isRefused(`a${each}b`), isHarmful)).toEqual([]);
});

test('the pattern says so for the basic plane', () => {
  const pattern = new RegExp(displayName['pattern'] as string, 'u');
  expect(differences([0, 0xffff], (each) => !pattern.test(`a${each}b`), isHarmful)).toEqual([]);
});

test('a name has more than blanks', () => {
  expect(differences([0, 0xffff], isRefused, isBlank)).toEqual([]);
  expect(['', ' ', '\u00a0\u3000', ' a'].map(isRefused)).toEqual([true, true, true, false]);
});
