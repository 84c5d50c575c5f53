import { expect, test } from 'vitest';
import { FieldList, NO_FIELDS } from '../../http1/index.ts';

const fields = new FieldList(['Set-Cookie', 'a', 'X-A', '1', 'sET-cOOKIE', 'b', 'x_a', '2']);

test('fields are found in any case, the first one or all', () => {
  expect(fields.count).toBe(4);
  expect([fields.name(2), fields.value(2)]).toEqual(['sET-cOOKIE', 'b']);
  expect(fields.first('set-cookie')).toBe('a');
  expect(fields.all('set-cookie')).toEqual(['a', 'b']);
  expect(fields.has('x-a')).toBe(true);
  expect(fields.isNamed(2, 'set-cookie')).toBe(true);
});

test('no other name is taken for the name', () => {
  expect(fields.all('x-a')).toEqual(['1']);
  expect(fields.all('x_a')).toEqual(['2']);
  expect(fields.first('cookie')).toBeUndefined();
  expect(fields.has('set-cookies')).toBe(false);
  expect(fields.isNamed(0, 'x-a')).toBe(false);
  expect(NO_FIELDS.count).toBe(0);
  expect(NO_FIELDS.first('x-a')).toBeUndefined();
});

test('characters that differ from others in the bit of the case are not mixed up', () => {
  const marks = ['^', '~', '_', '`', '|', "'", '-', '.', '0', '!'];
  const list = new FieldList(marks.flatMap((mark) => [`A${mark}`, mark]));
  for (const mark of marks) expect(list.all(`a${mark}`)).toEqual([mark]);
});
