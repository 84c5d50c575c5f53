// RepeatedTexts: a cached string is found by its units, and by nothing else.
import { expect, test } from 'vitest';
import {
  REPEATED_UNITS_MAX,
  RepeatedTexts,
} from '../../../../../host/hosting/wasm/binding/repeated-texts.ts';

function unitsOf(text: string): Uint16Array {
  return Uint16Array.from(text, (unit) => unit.charCodeAt(0));
}

test('a string is found again as the same, wherever its units stand', () => {
  const texts = new RepeatedTexts();
  const kept = 'content-type';
  expect(texts.find(unitsOf(kept), 0, kept.length)).toBeUndefined();
  texts.keep(kept);
  expect(texts.find(unitsOf(`xx${kept}yy`), 2, kept.length)).toBe(kept);
  expect(texts.find(new TextEncoder().encode(kept), 0, kept.length)).toBe(kept);
});

test('one that differs in any unit is not found', () => {
  const texts = new RepeatedTexts();
  const kept = 'a'.repeat(REPEATED_UNITS_MAX);
  texts.keep(kept);
  for (let at = 0; at < kept.length; at++) {
    const other = unitsOf(kept);
    other[at]! += 0x100;
    expect(texts.find(other, 0, other.length)).toBeUndefined();
  }
  expect(texts.find(unitsOf(kept), 0, kept.length - 1)).toBeUndefined();
});

test('whatever was kept before and between, what is found has the units', () => {
  const texts = new RepeatedTexts();
  for (let turn = 0; turn < 5000; turn++) {
    const text = String((turn * 7919) % 800).repeat(1 + (turn % 3));
    const found = texts.find(unitsOf(text), 0, text.length);
    expect(found ?? text).toBe(text);
    texts.keep(text);
    expect(texts.find(unitsOf(text), 0, text.length)).toBe(text);
  }
});
