// SchemaProblems: values that may be null, lists and maps.
import { expect, test } from 'vitest';
import { schemaProblems } from '../../../client/control-plane/schema-problems.ts';
import { body, list, map, nullable, text } from '../../../client/control-plane/schema.ts';

const change = body('Change', 'a change', {}, { name: nullable('name', text('name')) });

test.each([[{ name: null }], [{ name: 'web' }], [{}]])(
  '%j may be null, a value, or absent',
  (value) => {
    expect(schemaProblems(change, value)).toEqual([]);
  },
);

test('a value that may be null is judged by its schema otherwise', () => {
  expect(schemaProblems(change, { name: 1 })).toEqual([{ path: '/name', reason: 'is not a text' }]);
});

const tagged = body('Tagged', 'a thing with tags', {
  tags: list('tags', text('tag', { maxLength: 3 }), { maxItems: 2 }),
  labels: map('labels', text('label')),
});

test('each item of a list and each field of a map is judged', () => {
  expect(schemaProblems(tagged, { tags: ['a', 'b'], labels: { __proto__: null, x: 'y' } })).toEqual(
    [],
  );
  expect(schemaProblems(tagged, { tags: ['a', 'long'], labels: { x: 1 } })).toEqual([
    { path: '/labels/x', reason: 'is not a text' },
    { path: '/tags/1', reason: 'is longer than 3 characters' },
  ]);
  expect(schemaProblems(tagged, { tags: ['a', 'b', 'c'], labels: [] })).toEqual([
    { path: '/labels', reason: 'is not an object' },
    { path: '/tags', reason: 'has 3 items, and may have 2' },
  ]);
  expect(schemaProblems(tagged, { tags: 'a', labels: {} })).toEqual([
    { path: '/tags', reason: 'is not a list' },
  ]);
});
