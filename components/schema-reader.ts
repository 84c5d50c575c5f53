// SchemaReader reads a schema of typebox, or the JSON Schema of another library, into a Shape. This hosting checks
// values against typebox's schemas, so each rule of a schema is either supported or refused by name; annotations are
// allowed everywhere. Other libraries check values themselves, and their schemas only need a description.
import {
  type Field,
  type RecordShape,
  type Shape,
  type TextForm,
  invalidDefinition,
} from './shape.ts';
import {
  decidingKeyword,
  isNode,
  type Node,
  SUPPORTED,
  SUPPORTED_BESIDE,
  unknownKeyword,
} from './schema-keywords.ts';

const SAFE = Number.MAX_SAFE_INTEGER;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
const REMEDY = 'docs/reference/embedding.md lists the types.';

/**
 * Returns the shape of a schema. `location`: names the schema in a problem. `checksItself`: whether the schema's
 * library checks values itself. Throws SVC_DEFINITION_INVALID.
 */
export function shapeOfSchema(schema: object, location: string, checksItself: boolean): Shape {
  return new SchemaReader(checksItself).shape(schema, location, []);
}

class SchemaReader {
  readonly #checksItself: boolean;
  /** Shapes of the `$defs` read so far; undefined while a shape is being read, since a type may contain itself. */
  readonly #defined = new Map<object, Shape | undefined>();

  constructor(checksItself: boolean) {
    this.#checksItself = checksItself;
  }

  /** `scopes`: the `$defs` around the schema, innermost last. */
  shape(schema: unknown, location: string, scopes: readonly Node[], isField = false): Shape {
    if (typeof schema !== 'object' || schema === null)
      throw invalidDefinition(location, 'there is no schema', REMEDY);
    const node = schema as Node;
    if (!isField && !this.#checksItself && node['aliases'] !== undefined)
      throw unmapped(location, 'an alias of what is no field of an Object');
    const around = isNode(node['$defs']) ? [...scopes, node['$defs']] : scopes;
    const found = this.#plain(node, location, around);
    const { description } = node;
    const shape =
      typeof description === 'string' && found.description === undefined
        ? { ...found, description }
        : found;
    if (node['~refine'] !== undefined) throw unmapped(location, 'Refine');
    const codec = node['~codec'] as { decode: Converter; encode: Converter } | undefined;
    if (codec === undefined) return shape;
    // The conversion functions are looked up at each use, as typebox does.
    return {
      kind: 'converted',
      inner: shape,
      decode: (value) => codec.decode(value),
      encode: (value) => codec.encode(value),
    };
  }

  #plain(node: Node, location: string, scopes: readonly Node[]): Shape {
    const deciding = decidingKeyword(node);
    if (deciding !== undefined) {
      this.#checkKeywords(node, [deciding, ...SUPPORTED_BESIDE[deciding]], location);
      const rule = node[deciding];
      if (deciding === '$ref') return this.#reference(rule as string, location, scopes);
      if (deciding === 'const') return this.#texts(node, [rule], location);
      if (deciding === 'enum') return this.#texts(node, rule as readonly unknown[], location);
      return this.#union(rule as readonly unknown[], location, scopes);
    }
    if (Array.isArray(node['type'])) {
      const types = node['type'].map((type) =>
        type === 'null' ? { type } : { ...node, type: type as string },
      );
      return this.#union(types, location, scopes);
    }
    const type = node['type'];
    const supported = typeof type === 'string' ? SUPPORTED[type] : undefined;
    if (supported === undefined) throw unmapped(location, kindOf(node));
    if (Array.isArray(node['items']) || node['prefixItems'] !== undefined)
      throw unmapped(location, 'Tuple');
    this.#checkKeywords(node, ['type', ...supported], location);
    switch (type) {
      case 'string':
        return this.#text(node, location);
      case 'boolean':
        return { kind: 'boolean', isFlag: node['flag'] === true };
      case 'null':
        return { kind: 'null' };
      case 'integer':
        return integer(node, location);
      case 'bigint':
        return bigInteger(node);
      case 'number':
        return number(node, location, this.#checksItself);
      case 'array':
        return this.#list(node, location, scopes);
      default:
        return this.#object(node, location, scopes);
    }
  }

  /** Refuses unknown keywords, which would not be checked. */
  #checkKeywords(node: Node, supported: readonly string[], location: string): void {
    if (this.#checksItself) return;
    const unknown = unknownKeyword(node, supported);
    if (unknown !== undefined) throw unmapped(location, `the rule '${unknown}'`);
  }

  #reference(text: string, location: string, scopes: readonly Node[]): Shape {
    const name = decodeURIComponent(text.replace(/^#\/(\$defs|definitions)\//, ''));
    const level = scopes.findLastIndex((scope) => Object.hasOwn(scope, name));
    const target = scopes[level]?.[name];
    if (!isNode(target))
      throw invalidDefinition(location, `it refers to '${text}', which is not there`, REMEDY);
    if (!this.#defined.has(target)) {
      this.#defined.set(target, undefined);
      this.#defined.set(
        target,
        this.shape(target, `${location} (${name})`, scopes.slice(0, level + 1)),
      );
    }
    return { kind: 'reference', name, target: () => this.#defined.get(target)! };
  }

  #union(branches: readonly unknown[], location: string, scopes: readonly Node[]): Shape {
    const others = branches.filter((branch) => !this.#isNull(branch, location, scopes));
    if (others.length < branches.length && others.length > 0) {
      const inner =
        others.length === 1
          ? this.shape(others[0], location, scopes)
          : this.#union(others, location, scopes);
      return { kind: 'nullable', inner };
    }
    if (others.length === 1) return this.shape(others[0], location, scopes);
    if (others.length > 0 && others.every(isLiteral)) {
      const shapes = others.map((branch) => this.shape(branch, location, scopes));
      return { kind: 'text', values: new Set(shapes.flatMap((one) => valuesOf(one, location))) };
    }
    return { kind: 'union', cases: this.#cases(others, location, scopes) };
  }

  #isNull(branch: unknown, location: string, scopes: readonly Node[]): boolean {
    if (!isNode(branch) || branch['type'] !== 'null') return false;
    if (this.shape(branch, location, scopes).kind === 'null') return true;
    throw unmapped(location, 'a Codec of Null in a Union');
  }

  /** Reads a schema that lists the texts it accepts. */
  #texts(node: Node, values: readonly unknown[], location: string): Shape {
    for (const value of values)
      if (typeof value !== 'string')
        throw unmapped(location, `the Literal ${JSON.stringify(value)}`);
    if (!this.#checksItself && !['string', undefined].includes(node['type'] as string | undefined))
      throw unmapped(location, `a text of the type ${JSON.stringify(node['type'])}`);
    return { kind: 'text', values: new Set(values as string[]) };
  }

  #cases(
    branches: readonly unknown[],
    location: string,
    scopes: readonly Node[],
  ): ReadonlyMap<string, RecordShape> {
    const cases = new Map<string, RecordShape>();
    for (const branch of branches) {
      const shape = this.shape(branch, location, scopes);
      const one = shape.kind === 'reference' ? shape.target() : shape;
      if (one?.kind !== 'record' || one.tag === undefined)
        throw unmapped(
          location,
          "a Union of anything but texts, or objects whose field 'type' is a Literal",
        );
      if (cases.has(one.tag))
        throw invalidDefinition(location, `two cases have the type '${one.tag}'`, 'Rename one.');
      cases.set(one.tag, one);
    }
    if (cases.size === 0) throw unmapped(location, 'a Union of nothing');
    return cases;
  }

  #text(node: Node, location: string): Shape {
    const { format, contentEncoding, minLength, maxLength, pattern } = node as TextRules;
    if (this.#checksItself) {
      const form = formOf(format, contentEncoding);
      return { kind: 'text', form };
    }
    if (format !== undefined && !isFormat(format))
      throw unmapped(location, `the format '${format}'`);
    if (contentEncoding !== undefined && contentEncoding !== 'base64')
      throw unmapped(location, `the contentEncoding '${contentEncoding}'`);
    if (format !== undefined && contentEncoding !== undefined)
      throw unmapped(location, 'a format beside a contentEncoding');
    return {
      kind: 'text',
      form: formOf(format, contentEncoding),
      lengthMin: minLength,
      lengthMax: maxLength,
      pattern: pattern === undefined ? undefined : new RegExp(pattern, 'u'),
    };
  }

  #list(node: Node, location: string, scopes: readonly Node[]): Shape {
    return {
      kind: 'list',
      items: this.shape(node['items'], `${location}[]`, scopes),
      itemsMin: node['minItems'] as number | undefined,
      itemsMax: node['maxItems'] as number | undefined,
    };
  }

  #object(node: Node, location: string, scopes: readonly Node[]): Shape {
    const { properties, patternProperties, additionalProperties } = node;
    const required = new Set((node['required'] as readonly string[] | undefined) ?? []);
    for (const name of this.#checksItself ? [] : required)
      if (!isNode(properties) || !Object.hasOwn(properties, name))
        throw unmapped(location, `the rule 'required' for '${name}', which is no field,`);
    if (isNode(patternProperties)) {
      const [[pattern, values] = ['', undefined], ...more] = Object.entries(patternProperties);
      if (more.length > 0 || !['^.*$', '^(.*)$'].includes(pattern) || isNode(properties))
        throw unmapped(location, 'a Record whose keys are not any text');
      return { kind: 'map', values: this.shape(values, `${location}{}`, scopes) };
    }
    if (isNode(additionalProperties)) {
      if (isNode(properties) && Object.keys(properties).length > 0)
        throw unmapped(location, 'an Object with additionalProperties of a type');
      return { kind: 'map', values: this.shape(additionalProperties, `${location}{}`, scopes) };
    }
    const fields = Object.entries(isNode(properties) ? properties : {}).map(([name, schema]) =>
      this.#field(name, schema, required.has(name), `${location}.${name}`, scopes),
    );
    const tag = tagOf(fields.find(({ name }) => name === 'type')?.shape);
    // The tag comes first, as in every other hosting.
    const rest = tag === undefined ? fields : fields.filter(({ name }) => name !== 'type');
    checkAliases(fields, tag !== undefined, location);
    return { kind: 'record', fields: rest, isClosed: additionalProperties === false, tag };
  }

  #field(
    name: string,
    schema: unknown,
    isRequired: boolean,
    location: string,
    scopes: readonly Node[],
  ): Field {
    const shape = this.shape(schema, location, scopes, true);
    const hasDefault = isNode(schema) && schema['default'] !== undefined;
    return {
      name,
      shape,
      aliases: this.#checksItself ? [] : aliasesOf(schema, location),
      isOptional: !isRequired || hasDefault,
      hasDefault,
      ...(hasDefault ? { default: schema['default'] } : {}),
    };
  }
}

/** Reads the aliases of typebox's schemas; a library that checks values itself has none. */
function aliasesOf(schema: unknown, location: string): readonly string[] {
  const aliases = isNode(schema) ? (schema['aliases'] ?? []) : [];
  if (Array.isArray(aliases) && aliases.every((name) => typeof name === 'string' && name !== ''))
    return aliases as readonly string[];
  throw invalidDefinition(
    location,
    'its aliases are no list of names',
    "Write aliases: ['oldName'].",
  );
}

function checkAliases(fields: readonly Field[], isCase: boolean, location: string): void {
  const taken = new Set(fields.map(({ name }) => name));
  for (const { name, aliases } of fields)
    for (const alias of aliases) {
      if (isCase && name === 'type') throw unmapped(location, "an alias of a case's field 'type'");
      if (taken.has(alias))
        throw invalidDefinition(
          `${location}.${name}`,
          `its alias '${alias}' is another field's name or alias`,
          'A name is read as one field: remove it here or there.',
        );
      taken.add(alias);
    }
}

interface TextRules {
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string | RegExp;
}

type Converter = (value: unknown) => unknown;

function unmapped(location: string, what: string): Error {
  return invalidDefinition(location, `${what} has no form in a descriptor`, REMEDY);
}

/** Returns the name of the schema's kind for a message. */
function kindOf(node: Node): string {
  if (typeof node['~kind'] === 'string') return node['~kind'];
  if (Array.isArray(node['allOf'])) return 'Intersect';
  return typeof node['type'] === 'string' ? node['type'] : 'a schema without a type';
}

function isLiteral(branch: unknown): boolean {
  return isNode(branch) && (branch['const'] !== undefined || Array.isArray(branch['enum']));
}

function valuesOf(shape: Shape, location: string): readonly string[] {
  if (shape.kind === 'text' && shape.values !== undefined) return [...shape.values];
  throw unmapped(location, 'a Codec of a Literal in a Union');
}

/** Returns the only text that a field `type` may hold; undefined if it may hold anything else. */
function tagOf(shape: Shape | undefined): string | undefined {
  if (shape?.kind !== 'text' || shape.values?.size !== 1) return undefined;
  return [...shape.values][0];
}

type Format = Exclude<TextForm, 'base64'>;

function isFormat(format: unknown): format is Format {
  return format === 'date-time' || format === 'decimal' || format === 'duration';
}

function formOf(format: unknown, contentEncoding: unknown): TextForm | undefined {
  if (isFormat(format)) return format;
  return contentEncoding === 'base64' ? 'base64' : undefined;
}

function integer(node: Node, location: string): Shape {
  const min = Math.max(
    -SAFE,
    numberOr(node['minimum'], -SAFE),
    numberOr(node['exclusiveMinimum'], -Infinity) + 1,
  );
  const max = Math.min(
    SAFE,
    numberOr(node['maximum'], SAFE),
    numberOr(node['exclusiveMaximum'], Infinity) - 1,
  );
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min > max)
    throw invalidDefinition(location, 'the range holds no integer', 'Give it whole bounds.');
  return { kind: 'integer', min, max };
}

function bigInteger(node: Node): Shape {
  const least = bigOr(node['minimum'], INT64_MIN);
  const most = bigOr(node['maximum'], least >= 0n ? UINT64_MAX : INT64_MAX);
  const [low, high] = least >= 0n ? [0n, UINT64_MAX] : [INT64_MIN, INT64_MAX];
  return { kind: 'big-integer', min: least > low ? least : low, max: most < high ? most : high };
}

function number(node: Node, location: string, checksItself: boolean): Shape {
  const { format } = node;
  if (!checksItself && format !== undefined && format !== 'double')
    throw unmapped(location, `the format '${format as string}'`);
  return {
    kind: 'number',
    range: {
      min: node['minimum'] as number | undefined,
      above: node['exclusiveMinimum'] as number | undefined,
      max: node['maximum'] as number | undefined,
      below: node['exclusiveMaximum'] as number | undefined,
    },
  };
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

function bigOr(value: unknown, fallback: bigint): bigint {
  return typeof value === 'bigint' || typeof value === 'number' ? BigInt(value) : fallback;
}
