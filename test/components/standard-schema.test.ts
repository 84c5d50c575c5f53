// Schemas of libraries that implement Standard Schema: they check values themselves, and need a description.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { codecOf, described } from '../../components/codec.ts';
import { createEmbeddedGuest } from '../../components/embedded-guest.ts';
import { defineEntity } from '../../components/entity-definition.ts';
import type { StandardSchema } from '../../components/standard-schema.ts';

interface Point {
  readonly x: number;
  readonly at: Date;
}

/** A schema as a library would offer it: a date is a text in JSON and a Date in the program. */
const point: StandardSchema<{ x: number; at: string }, Point> = {
  '~standard': {
    version: 1,
    vendor: 'a-library',
    validate(value) {
      const { x, at } = value as { x: unknown; at: string };
      if (typeof x === 'number') return { value: { x, at: new Date(at) } };
      return { issues: [{ message: 'is no number', path: ['points', 2, { key: 'x' }] }] };
    },
  },
};
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const shape = Type.Object({ x: Type.Number(), at: Type.String() });

describe('a Standard Schema', () => {
  test('decodes and encodes by itself', () => {
    const codec = codecOf(described(point, shape), 'it');
    const value = codec.decode('{"x":1,"at":"2026-01-01T00:00:00.000Z"}', 'input');
    expect(value).toEqual({ x: 1, at: new Date('2026-01-01T00:00:00.000Z') });
    expect(codec.encode(value, 'reply')).toBe('{"x":1,"at":"2026-01-01T00:00:00.000Z"}');
  });

  test('names what does not fit by its path', () => {
    const codec = codecOf(described(point, shape), 'it');
    expect(() => codec.decode('{"x":"1"}', 'input')).toThrow('points[2].x: is no number');
  });

  test('describes itself where it can, in the form of what is sent', () => {
    const self = {
      '~standard': {
        ...point['~standard'],
        jsonSchema: {
          input: ({ target }: { readonly target: string }) => ({
            $schema: target,
            type: 'object',
            properties: {
              x: { type: 'number', multipleOf: 2 },
              at: { anyOf: [{ type: 'string', format: 'email' }, { type: 'null' }] },
              kind: { oneOf: [{ type: 'string', const: 'a' }, { enum: ['b'] }] },
            },
            required: ['x'],
          }),
        },
      },
    };
    expect(codecOf(self, 'it').shape).toMatchObject({
      kind: 'record',
      fields: [
        { name: 'x', shape: { kind: 'number' }, isOptional: false },
        { name: 'at', shape: { kind: 'nullable', inner: { kind: 'text' } } },
        { name: 'kind', shape: { kind: 'text', values: new Set(['a', 'b']) } },
      ],
    });
  });

  test('that cannot read what it has answered is found before it is stored', () => {
    const length: StandardSchema<string, number> = {
      '~standard': {
        version: 1,
        vendor: 'transforms',
        validate: (value) =>
          typeof value === 'string'
            ? { value: value.length }
            : { issues: [{ message: 'is no text' }] },
      },
    };
    const codec = codecOf(described(length, Type.String()), 'it');
    expect(() => codec.encode(codec.decode('"four"', 'input'), 'event')).toThrow(
      'event: is no text (its schema does not read what is written)',
    );
  });

  test('is not asked for what is nested deeper than it may be', () => {
    let asked = 0;
    const list: StandardSchema = {
      '~standard': {
        version: 1,
        vendor: 'deep',
        validate: (value) => {
          asked++;
          return { value };
        },
      },
    };
    const codec = codecOf(described(list, Type.Array(Type.String())), 'it');
    expect(codec.decode(nested(100), 'input')).toHaveLength(1);
    expect(() => codec.decode(nested(101), 'input')).toThrow('input: is nested too deep');
    expect(() => codec.decode(nested(100_000), 'input')).toThrow('input: is nested too deep');
    expect(asked).toBe(1);
  });

  test('that is not described is refused with what to do', () => {
    expect(() => codecOf(point, "component 'x', state")).toThrow(
      "component 'x', state: the schema of 'a-library' does not say its JSON Schema. Say it with described(",
    );
  });

  test('that checks later is a fault of the program', async () => {
    const later: StandardSchema<number> = {
      '~standard': {
        version: 1,
        vendor: 'later',
        // The result of this promise is ignored, even if it rejects.
        validate: () => Promise.reject(new Error('unhandled')),
      },
    };
    const entity = defineEntity({
      component: 'late',
      state: { manifest: 'state', schema: Type.Null() },
      event: { manifest: 'event', schema: Type.Object({ type: Type.Literal('happened') }) },
      empty: () => null,
      apply: (state) => state,
      commands: {
        take: {
          input: described(later, Type.Integer()),
          handle: (_state, _input, context) => context.reply(),
        },
      },
    });
    const guest = createEmbeddedGuest({ entities: [entity] });
    const opened = guest.entities.open({ component: 'late', id: 'a' }, undefined);
    const context = { nowMs: 1, seed: 1n, metadata: [] };
    expect(() => opened.command(context, 'take', '1')).toThrow(
      expect.objectContaining({
        name: 'GuestFault',
        guestMessage: expect.stringContaining("the schema of 'later' for input checks later"),
      }),
    );
  });
});
