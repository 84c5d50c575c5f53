// SchemaBuilder: the descriptor's schema of a resolved type, and the problems of types that have none. A named type
// is collected once, under the name by which other schemas refer to it.
import {
  Class,
  Enum,
  Interface,
  PropertyPrototype,
  Type,
  type DeclarationStatement,
  type ClassDeclaration,
  type EnumDeclaration,
  type Program,
  type Range,
} from 'assemblyscript';
import type { TypeSchema } from '@svc/contract';
import { EnumType } from './data-enum.ts';
import type { DataClass, Declarations, Field } from './declarations.ts';
import { endlessFields } from './endless-types.ts';
import { SDK_PATH, decoratorOf } from './syntax.ts';

type Report = (range: Range, message: string) => void;

const STRING = '~lib/string/String';
const INTEGERS = new Map<Type, readonly [minimum: number, maximum: number]>([
  [Type.i8, [-128, 127]],
  [Type.u8, [0, 255]],
  [Type.i16, [-32_768, 32_767]],
  [Type.u16, [0, 65_535]],
  [Type.i32, [-2_147_483_648, 2_147_483_647]],
  [Type.u32, [0, 4_294_967_295]],
]);

/**
 * Placeholder that never gets into a descriptor: for a type that has no schema, which was reported as a problem, and
 * for a named type until its schema is created.
 */
const NONE: TypeSchema = { type: 'null' };

export class SchemaBuilder {
  readonly types: Record<string, TypeSchema> = Object.create(null) as Record<string, TypeSchema>;
  readonly #program: Program;
  readonly #declarations: Declarations;
  readonly #report: Report;
  readonly #names = new Map<Class | Enum, string>();
  /** Data classes by their names in `types`. */
  readonly #classes = new Map<string, DataClass>();
  /** Schemas of patch fields, which may be absent. `#patch` creates an object of its own for each field. */
  readonly #absentable = new Set<unknown>();

  constructor(program: Program, declarations: Declarations, report: Report) {
    this.#program = program;
    this.#declarations = declarations;
    this.#report = report;
  }

  /** Returns the schema of a type. `site`: where the type is written, for problems. */
  schema(type: Type, site: Range): TypeSchema {
    if (type.isNullableReference)
      return { anyOf: [this.schema(type.nonNullableType, site), { type: 'null' }] };
    if (type instanceof EnumType) return this.#enumSchema(type, site);
    if (type === Type.bool) return { type: 'boolean' };
    if (type === Type.f32) return { type: 'number', format: 'float' };
    if (type === Type.f64) return { type: 'number', format: 'double' };
    if (type === Type.i64) return { type: ['integer', 'string'], format: 'int64' };
    if (type === Type.u64) return { type: ['integer', 'string'], format: 'uint64' };
    const range = INTEGERS.get(type);
    if (range !== undefined) return { type: 'integer', minimum: range[0], maximum: range[1] };
    const reference = type.getClass();
    return reference === null ? this.#unsupported(type, site) : this.#classSchema(reference, site);
  }

  #classSchema(reference: Class, site: Range): TypeSchema {
    const data = this.dataOf(reference);
    if (data !== undefined) return { $ref: `#/types/${this.#named(reference, data)}` };
    const [first, second] = reference.typeArguments ?? [];
    switch (reference.prototype.internalName) {
      case '~lib/string/String':
        return { type: 'string' };
      case '~lib/array/Array':
        return { type: 'array', items: this.schema(first!, site) };
      case '~lib/date/Date':
        return { type: 'string', format: 'date-time' };
      case '~lib/typedarray/Uint8Array':
        return { type: 'string', contentEncoding: 'base64' };
      case '~lib/map/Map':
        if (first!.getClass()?.prototype.internalName !== STRING)
          this.#report(site, 'the keys of a Map must be strings: the names of fields in JSON are');
        return { type: 'object', additionalProperties: this.schema(second!, site) };
      case `${SDK_PATH}decimal/Decimal`:
        return { type: 'string', format: 'decimal' };
      case `${SDK_PATH}duration/Duration`:
        return { type: 'string', format: 'duration' };
      case RECORDED_EVENT:
        return { $ref: `#/types/${this.#recordedEvent(reference, first!, site)}` };
      case PAGE:
        return { $ref: `#/types/${this.#page(reference, first!, site)}` };
      case `${SDK_PATH}done/Done`:
        return { type: 'null' };
      default:
        return this.#unsupported(reference.type, site);
    }
  }

  #enumSchema(type: EnumType, site: Range): TypeSchema {
    const { name } = type.element;
    const data = this.#declarations.enums.get(type.element.declaration as EnumDeclaration);
    if (data === undefined) {
      this.#report(
        site,
        `enum '${name}' has no JSON form: write @data before it, and its members are stored by their names`,
      );
      return NONE;
    }
    const known = this.#names.get(type.element);
    if (known !== undefined) return { $ref: `#/types/${known}` };
    const free = this.#freeName(name, data.declaration);
    this.#names.set(type.element, free);
    this.types[free] = { type: 'string', enum: [...data.members] };
    return { $ref: `#/types/${free}` };
  }

  #unsupported(type: Type, site: Range): TypeSchema {
    const name = displayName(type);
    const instead = insteadOf(type);
    this.#report(site, `type '${name}' has no JSON form: ${instead}`);
    return NONE;
  }

  /** Reports types that have no finite value. Call this method when all types are known. */
  reportEndless(): void {
    const reported = new Set<Field>();
    for (const { type, field: name } of endlessFields(this.types, this.#absentable)) {
      const field = this.#classes.get(type)?.fields.find((one) => one.name === name);
      if (field === undefined || reported.has(field)) continue;
      reported.add(field);
      this.#report(
        field.node.range,
        `field '${name}' makes every '${type}' hold another '${type}', without end: make it '${field.type} | null' or '${field.type}[]'`,
      );
    }
  }

  dataOf(reference: Class): DataClass | undefined {
    return this.#declarations.data.get(reference.prototype.declaration as ClassDeclaration);
  }

  /** Returns the name of a data class in `types`; its schema is created at the first use. */
  #named(reference: Class, data: DataClass): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const name = this.#freeName(nameInDescriptor(reference.type), data.declaration);
    this.#names.set(reference, name);
    this.#classes.set(name, data);
    // Takes the name before the schemas of the fields take theirs.
    this.types[name] = NONE;
    this.types[name] = data.kind === 'sum' ? this.#sum(data) : this.#record(reference, data);
    return name;
  }

  /** Returns the schema of the value that a patch field has when it is not absent. */
  #patch(type: Type, site: Range): TypeSchema {
    const reference = type.getClass();
    const [inner] = reference?.typeArguments ?? [];
    if (inner === undefined) return this.schema(type, site);
    const value = this.schema(inner, site);
    const isNullable = reference?.prototype.internalName === NULLABLE_PATCH;
    const schema: TypeSchema = isNullable ? { anyOf: [value, { type: 'null' }] } : { ...value };
    this.#absentable.add(schema);
    return schema;
  }

  #recordedEvent(reference: Class, event: Type, site: Range): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const { declaration } = reference.prototype;
    const name = this.#freeName(nameInDescriptor(reference.type), declaration);
    this.#names.set(reference, name);
    const integer: TypeSchema = { type: ['integer', 'string'], format: 'uint64' };
    const properties = { seq: integer, timeMs: integer, event: this.schema(event, site) };
    this.types[name] = { type: 'object', properties, required: Object.keys(properties) };
    return name;
  }

  #page(reference: Class, row: Type, site: Range): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    const name = this.#freeName(nameInDescriptor(reference.type), reference.prototype.declaration);
    this.#names.set(reference, name);
    const properties = {
      rows: { type: 'array' as const, items: this.schema(row, site) },
      cursor: orNull({ type: 'string' }),
      asOf: orNull({ type: 'string', format: 'date-time' }),
    };
    this.types[name] = { type: 'object', properties, required: ['rows'] };
    return name;
  }

  #freeName(wanted: string, declaration: DeclarationStatement): string {
    if (!(wanted in this.types)) return wanted;
    const file = declaration.range.source.simplePath.replaceAll(/[^A-Za-z0-9_]/g, '_');
    let name = `${file}.${wanted}`;
    for (let count = 2; name in this.types; count++) name = `${file}.${wanted}-${count}`;
    return name;
  }

  #sum(data: DataClass): TypeSchema {
    const cases = data.cases.map((one) => {
      const prototype = this.#program.elementsByDeclaration.get(one.declaration);
      const reference = this.#program.resolver.resolveClass(prototype as never, null);
      if (reference === null) throw new Error(`case '${one.name}' does not resolve`);
      return { $ref: `#/types/${this.#named(reference, this.dataOf(reference) ?? one)}` };
    });
    return { oneOf: cases, discriminator: { propertyName: 'type' } };
  }

  #record(reference: Class, data: DataClass): TypeSchema {
    const properties = Object.create(null) as Record<string, TypeSchema | { const: string }>;
    const required: string[] = [];
    const aliases = Object.create(null) as Record<string, string[]>;
    if (data.tag !== undefined) {
      properties['type'] = { const: data.tag };
      required.push('type');
    }
    for (const field of data.fields) {
      const type = fieldType(reference, field);
      if (type === undefined) continue;
      properties[field.name] = field.isPatch
        ? this.#patch(type, field.node.range)
        : this.schema(type, field.node.range);
      if (!field.optional && !field.isPatch && !type.isNullableReference) required.push(field.name);
      if (field.aliases.length > 0) aliases[field.name] = [...field.aliases];
    }
    const hasAliases = Object.keys(aliases).length > 0;
    return { type: 'object', properties, required, ...(hasAliases ? { aliases } : {}) };
  }
}

const PAGE = `${SDK_PATH}view-client/Page`;
const RECORDED_EVENT = `${SDK_PATH}client/RecordedEvent`;
const PATCH = `${SDK_PATH}patch/Patch`;
const NULLABLE_PATCH = `${SDK_PATH}patch/NullablePatch`;

function fieldType(reference: Class, field: Field): Type | undefined {
  const member = reference.getMember(field.name);
  if (!(member instanceof PropertyPrototype)) return undefined;
  return reference.program.resolver.resolveProperty(member)?.type;
}

/** Suggests a replacement for a type that has no JSON form. */
function insteadOf(type: Type): string {
  const reference = type.getClass();
  if (type === Type.void) return 'return Done when there is nothing to say';
  if (reference instanceof Interface) return 'write a @data class in the place of the interface';
  const item = reference?.typeArguments?.[0];
  if (reference && decoratorOf(reference.prototype.declaration, 'data'))
    return 'its file is part of a package, where @data is not read: declare the class in a file of the component';
  switch (reference?.prototype.internalName) {
    case PATCH:
    case NULLABLE_PATCH:
      return 'it stands as the type of a field, written out under the name of the SDK';
    case '~lib/set/Set':
      return `use an array, ${displayName(item!)}[]`;
    case '~lib/staticarray/StaticArray':
      return `use ${displayName(item!)}[]`;
    case '~lib/arraybuffer/ArrayBuffer':
    case '~lib/typedarray/Uint8ClampedArray':
    case '~lib/typedarray/Int8Array':
      return 'use Uint8Array, which is base64 text in JSON';
    case undefined:
    default:
  }
  if (
    reference !== undefined &&
    reference !== null &&
    !reference.prototype.internalName.startsWith('~lib/')
  )
    return 'write @data before the class';
  return 'use bool, the integers of 8 to 64 bits, f32, f64, string, Date, Decimal, Duration, Uint8Array, arrays, Map<string, T>, and @data classes and enums';
}

/** Returns the type as the author writes it, without the paths of the files that declare its classes. */
export function displayName(type: Type): string {
  if (type instanceof EnumType) return type.element.name;
  const reference = type.getClass();
  if (reference === null) return type.toString();
  const name = reference.prototype.internalName === STRING ? 'string' : reference.prototype.name;
  return nameWithArguments(type, reference, name, displayName);
}

/** Returns the name of a type in `types` of the descriptor, where a string has the name of its class, `String`. */
function nameInDescriptor(type: Type): string {
  const reference = type instanceof EnumType ? null : type.getClass();
  if (reference === null) return displayName(type);
  return nameWithArguments(type, reference, reference.prototype.name, nameInDescriptor);
}

function nameWithArguments(
  type: Type,
  { typeArguments }: Class,
  name: string,
  nameOf: (argument: Type) => string,
): string {
  const args = (typeArguments ?? []).map((argument) => nameOf(argument));
  const nullable = type.isNullableReference ? ' | null' : '';
  return name + (args.length > 0 ? `<${args.join(', ')}>` : '') + nullable;
}

function orNull(schema: Extract<TypeSchema, { readonly type: 'string' }>): TypeSchema {
  return { anyOf: [schema, { type: 'null' }] };
}
