// SchemaProblems: values that may be null.
import { expect, test } from 'vitest';
import { schemaProblems } from '../../../client/control-plane/schema-problems.ts';
import { body, nullable, text } from '../../../client/control-plane/schema.ts';

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
