// ShapeDescription: describes a shape as a type of a module descriptor. Cases of unions, and types that schemas refer
// to by name, become named types of the descriptor. The name of a case is derived from where the union was first used.
import type { ModuleDescriptor, TypeSchema } from '@svc/contract';
import { type RecordShape, type Shape, type TextForm, isRequired } from './shape.ts';

const SAFE = Number.MAX_SAFE_INTEGER;
/** Maximum length of a description, and of a name, in UTF-16 units. */
const DESCRIPTION_MAX = 2000;
const NAME_MAX = 200;

function formOf(form: TextForm | undefined) {
  if (form === undefined) return {};
  return form === 'base64' ? { contentEncoding: form } : { format: form };
}

export class ShapeDescription {
  readonly types: ModuleDescriptor['types'] = {};
  readonly #names = new Map<Shape, string>();

  /** Returns the type of a shape. `name`: prefix of the names of the types that are created for the shape. */
  of(shape: Shape, name: string): TypeSchema {
    const schema = this.#plain(shape, name);
    const { description } = shape;
    if (description === undefined) return schema;
    return { ...schema, description: description.slice(0, DESCRIPTION_MAX) };
  }

  #plain(shape: Shape, name: string): TypeSchema {
    switch (shape.kind) {
      case 'text':
        return {
          type: 'string',
          ...formOf(shape.form),
          ...(shape.values === undefined ? {} : { enum: [...shape.values] }),
        };
      case 'boolean':
        return { type: 'boolean' };
      case 'integer':
        return { type: 'integer', minimum: shape.min, maximum: shape.max };
      case 'big-integer':
        if (shape.min >= -SAFE && shape.max <= SAFE)
          return { type: 'integer', minimum: Number(shape.min), maximum: Number(shape.max) };
        return { type: ['integer', 'string'], format: shape.min >= 0n ? 'uint64' : 'int64' };
      case 'number':
        return { type: 'number', format: 'double' };
      case 'null':
        return { type: 'null' };
      case 'list':
        return { type: 'array', items: this.of(shape.items, name) };
      case 'map':
        return { type: 'object', additionalProperties: this.of(shape.values, name) };
      case 'record':
        return this.#record(shape, name);
      case 'nullable':
        return { anyOf: [this.of(shape.inner, name), { type: 'null' }] };
      case 'union':
        return {
          oneOf: [...shape.cases].map(([tag, one]) => this.#reference(one, `${name}.${tag}`)),
          discriminator: { propertyName: 'type' },
        };
      case 'reference':
        return this.#reference(shape.target(), shape.name);
      case 'converted':
        return this.of(shape.inner, name);
    }
  }

  #record({ fields, tag }: RecordShape, name: string): TypeSchema {
    const properties = fields.map(
      (field) => [field.name, this.of(field.shape, `${name}.${field.name}`)] as const,
    );
    const aliased = fields.filter(({ aliases }) => aliases.length > 0);
    const required = fields.filter(isRequired);
    return {
      type: 'object',
      properties: {
        ...(tag === undefined ? {} : { type: { const: tag } }),
        ...Object.fromEntries(properties),
      },
      required: [...(tag === undefined ? [] : ['type']), ...required.map((field) => field.name)],
      ...(aliased.length === 0
        ? {}
        : { aliases: Object.fromEntries(aliased.map((one) => [one.name, [...one.aliases]])) }),
    };
  }

  #reference(shape: Shape, wish: string): TypeSchema & { readonly $ref: string } {
    let name = this.#names.get(shape);
    if (name === undefined) {
      name = this.#freeName(wish);
      this.#names.set(shape, name);
      // The name is reserved before the type is described, since the type may contain itself.
      this.types[name] = { type: 'null' };
      this.types[name] = this.of(shape, name);
    }
    return { $ref: `#/types/${name}` };
  }

  #freeName(wish: string): string {
    const plain = wish.replaceAll(/[^A-Za-z0-9_$.<>, -]/g, '_').slice(0, NAME_MAX - 5);
    const name = /^[A-Za-z_$]/.test(plain) ? plain : `_${plain}`;
    if (!Object.hasOwn(this.types, name)) return name;
    for (let number = 2; ; number++)
      if (!Object.hasOwn(this.types, `${name}-${number}`)) return `${name}-${number}`;
  }
}
