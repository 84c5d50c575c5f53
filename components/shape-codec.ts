// ShapeCodec converts what JSON.parse returns into a program's value, and back, as a shape describes:
// strictly, with the path of a mismatch, and always into fresh objects. The closures of a shape are created
// once.
//
// Invariants: an encoded value decodes to the same value, with its texts, dates and durations in their normal form.
// Unknown fields are skipped, those of a closed record are refused. Recursion is limited to `depth` levels.
import { dateTimeOf, durationOf, isBase64, isDecimal } from '@svc/contract';
import type { Field, NumberRange, RecordShape, Shape } from './shape.ts';
import { atOnce } from './at-once.ts';
import { gathered, mismatch, problem, ShapeProblem } from './shape-problem.ts';
import { textOf } from './thrown-text.ts';

/**
 * Decodes or encodes a value. `depth`: number of levels of nesting that are still allowed. Throws ShapeProblem if the
 * value does not fit.
 */
export type Convert = (value: unknown, depth: number) => unknown;

export interface ShapeCodec {
  readonly decode: Convert;
  readonly encode: Convert;
}

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const same = (convert: Convert): ShapeCodec => ({ decode: convert, encode: convert });

export function codecOfShape(shape: Shape): ShapeCodec {
  return new Codecs().of(shape);
}

class Codecs {
  /** Codecs by the shapes of named types, which may contain themselves. */
  readonly #references = new Map<Shape, ShapeCodec>();

  of(shape: Shape): ShapeCodec {
    switch (shape.kind) {
      case 'text':
        return text(shape);
      case 'boolean':
        return same((value) =>
          typeof value === 'boolean' ? value : mismatch('true or false', value),
        );
      case 'integer':
        return same(integer(shape.min, shape.max));
      case 'big-integer':
        return bigInteger(shape.min, shape.max);
      case 'number':
        return same(number(shape.range));
      case 'null':
        return {
          decode: (value) => (value === null ? null : mismatch('null', value)),
          encode: (value) =>
            value === null || value === undefined ? null : mismatch('null', value),
        };
      case 'list':
        return this.#list(shape);
      case 'map':
        return this.#map(this.of(shape.values));
      case 'record':
        return this.#record(shape);
      case 'nullable': {
        const inner = this.of(shape.inner);
        return {
          decode: (value, depth) => (value === null ? null : inner.decode(value, depth)),
          encode: (value, depth) => (value === null ? null : inner.encode(value, depth)),
        };
      }
      case 'union':
        return this.#union(shape.cases);
      case 'reference':
        return this.#reference(shape.target);
      case 'converted': {
        const inner = this.of(shape.inner);
        return {
          decode: (value, depth) => converted(shape.decode, inner.decode(value, depth)),
          encode: (value, depth) => inner.encode(converted(shape.encode, value), depth),
        };
      }
    }
  }

  #reference(target: () => Shape): ShapeCodec {
    let found: ShapeCodec | undefined;
    const codec = (): ShapeCodec => {
      const shape = target();
      found = this.#references.get(shape);
      if (found === undefined) {
        found = this.of(shape);
        this.#references.set(shape, found);
      }
      return found;
    };
    return {
      decode: (value, depth) => (found ?? codec()).decode(value, depth),
      encode: (value, depth) => (found ?? codec()).encode(value, depth),
    };
  }

  #list({
    items,
    itemsMin = 0,
    itemsMax = Infinity,
  }: Shape & { readonly kind: 'list' }): ShapeCodec {
    const item = this.of(items);
    const each =
      (convert: Convert): Convert =>
      (value, depth) => {
        if (!Array.isArray(value)) return mismatch('a list', value);
        if (value.length < itemsMin || value.length > itemsMax)
          throw new ShapeProblem(
            `must have ${rangeText(itemsMin, itemsMax)} items, found ${value.length}`,
          );
        const inner = deeper(depth);
        let problems: ShapeProblem | undefined;
        const list: unknown[] = [];
        for (let index = 0; index < value.length; index++)
          try {
            list.push(at(index, convert, value[index], inner));
          } catch (error) {
            problems = gathered(problems, error);
          }
        if (problems !== undefined) throw problems;
        return list;
      };
    return { decode: each(item.decode), encode: each(item.encode) };
  }

  #map({ decode, encode }: ShapeCodec): ShapeCodec {
    return {
      decode: mapped(decode, (key) => {
        if (!key.isWellFormed()) throw new ShapeProblem('has a key that is not Unicode text');
        return key;
      }),
      encode: mapped(encode, (key) => key.toWellFormed()),
    };
  }

  #union(cases: ReadonlyMap<string, RecordShape>): ShapeCodec {
    const codecs = new Map([...cases].map(([tag, shape]) => [tag, this.#record(shape)]));
    const known = [...cases.keys()].map((tag) => JSON.stringify(tag)).join(' or ');
    const chosen =
      (direction: 'decode' | 'encode'): Convert =>
      (value, depth) => {
        if (!isObject(value)) return mismatch('an object', value);
        const tag = Object.hasOwn(value, 'type') ? value['type'] : undefined;
        if (tag === undefined) throw new ShapeProblem('is missing').within('type');
        const codec = typeof tag === 'string' ? codecs.get(tag) : undefined;
        if (codec === undefined) throw problem(known, tag).within('type');
        return codec[direction](value, depth);
      };
    return { decode: chosen('decode'), encode: chosen('encode') };
  }

  #record({ fields, isClosed, tag }: RecordShape): ShapeCodec {
    const parts = fields.map((field) => ({ ...field, codec: this.of(field.shape) }));
    for (const { name, hasDefault, default: fallback, codec } of parts)
      if (hasDefault) at(name, codec.decode, fallback, Infinity);
    const written = new Set(parts.map(({ name }) => name));
    if (tag !== undefined) written.add('type');
    const read = new Set([...written, ...parts.flatMap(({ aliases }) => aliases)]);
    const checked = (value: unknown): Record<string, unknown> => {
      if (!isObject(value)) return mismatch('an object', value);
      if (tag !== undefined && value['type'] !== tag) {
        if (value['type'] === undefined) throw new ShapeProblem('is missing').within('type');
        throw problem(JSON.stringify(tag), value['type']).within('type');
      }
      return value;
    };
    const decode: Convert = (value, depth) => {
      const from = checked(value);
      const inner = deeper(depth);
      const record: Record<string, unknown> = {};
      if (tag !== undefined) record['type'] = tag;
      let problems = isClosed ? unknownNames(from, read) : undefined;
      for (const part of parts)
        try {
          decodeField(part, from, record, inner);
        } catch (error) {
          problems = gathered(problems, error);
        }
      if (problems !== undefined) throw problems;
      return record;
    };
    const encode: Convert = (value, depth) => {
      const from = checked(value);
      const unknown = isClosed ? unknownNames(from, written) : undefined;
      if (unknown !== undefined) throw unknown;
      const inner = deeper(depth);
      const record: Record<string, unknown> = {};
      if (tag !== undefined) record['type'] = tag;
      for (const { name, shape, isOptional, hasDefault, default: fallback, codec } of parts) {
        const given = Object.hasOwn(from, name) ? from[name] : undefined;
        if (given !== undefined) put(record, name, at(name, codec.encode, given, inner));
        else if (hasDefault) put(record, name, fallback);
        else if (isOptional) continue;
        else if (shape.kind === 'null') put(record, name, null);
        else throw new ShapeProblem('is missing').within(name);
      }
      return record;
    };
    return { decode, encode };
  }
}

type RecordPart = Field & { readonly codec: ShapeCodec };

/** Sets the field of `record` that `from` has, or its default. */
function decodeField(
  { name, aliases, shape, isOptional, hasDefault, default: fallback, codec }: RecordPart,
  from: Readonly<Record<string, unknown>>,
  record: Record<string, unknown>,
  depth: number,
): void {
  const given = aliases.length === 0 ? name : givenName(from, name, aliases);
  if (Object.hasOwn(from, given)) put(record, name, at(given, codec.decode, from[given], depth));
  else if (hasDefault) put(record, name, codec.decode(fallback, depth));
  else if (isOptional) return;
  else if (shape.kind === 'nullable') put(record, name, null);
  else throw new ShapeProblem('is missing').within(name);
}

/** Returns the problems of names that are not known; undefined if there are none. */
function unknownNames(value: object, known: ReadonlySet<string>): ShapeProblem | undefined {
  let problems: ShapeProblem | undefined;
  for (const name of Object.keys(value))
    if (!known.has(name))
      problems = gathered(problems, new ShapeProblem('is not known').within(name));
  return problems;
}

/** Returns the name or alias under which `from` has the field, else the name. Throws if `from` has it twice. */
function givenName(from: object, name: string, aliases: readonly string[]): string {
  const [given = name, other] = [name, ...aliases].filter((one) => Object.hasOwn(from, one));
  if (other === undefined) return given;
  const names = [name, ...aliases].join("' and '");
  throw new ShapeProblem(`is given twice: '${names}' are names of one field`).within(other);
}

function mapped(convert: Convert, keyOf: (key: string) => string): Convert {
  return (value, depth) => {
    if (!isObject(value)) return mismatch('an object', value);
    const inner = deeper(depth);
    // Any text may be a key, so the map has no prototype, whose keys it would inherit.
    const map = Object.create(null) as Record<string, unknown>;
    let problems: ShapeProblem | undefined;
    for (const key of Object.keys(value))
      try {
        map[keyOf(key)] = at(key, convert, value[key], inner);
      } catch (error) {
        problems = gathered(problems, error);
      }
    if (problems !== undefined) throw problems;
    return map;
  };
}

function text(shape: Shape & { readonly kind: 'text' }): ShapeCodec {
  const { values, form, lengthMin = 0, lengthMax = Infinity, pattern } = shape;
  const known = values && [...values].map((value) => JSON.stringify(value)).join(' or ');
  const measures = lengthMin > 0 || lengthMax < Infinity;
  const check = (value: string): string => {
    if (values !== undefined && !values.has(value)) return mismatch(known!, value);
    if (measures) {
      const { length } = Array.from(value);
      if (length < lengthMin || length > lengthMax)
        throw new ShapeProblem(
          `must have ${rangeText(lengthMin, lengthMax)} characters, found ${length}`,
        );
    }
    if (pattern !== undefined && !pattern.test(value))
      return mismatch(`text like ${pattern.source}`, value);
    if (form === 'date-time')
      return dateTimeOf(value) ?? mismatch('a date and time like 2026-02-28T12:30:00.000Z', value);
    if (form === 'decimal' && !isDecimal(value))
      return mismatch('a decimal like 12.50, of at most 100 digits', value);
    if (form === 'duration')
      return (
        durationOf(value) ?? mismatch('a duration like PT1H30M, of at most 100000000 days', value)
      );
    if (form === 'base64' && !isBase64(value)) return mismatch('bytes as base64 text', value);
    return value;
  };
  return {
    decode: (value) => {
      if (typeof value !== 'string') return mismatch(known ?? 'a string', value);
      if (!value.isWellFormed())
        throw new ShapeProblem('is not Unicode text: it has half of a surrogate pair');
      return check(value);
    },
    encode: (value) =>
      typeof value === 'string'
        ? check(value.toWellFormed())
        : mismatch(known ?? 'a string', value),
  };
}

function integer(min: number, max: number): Convert {
  const words = `an integer from ${min} to ${max}`;
  return (value) => {
    if (!Number.isSafeInteger(value)) return mismatch(words, value);
    const found = value as number;
    // Adding 0 turns -0 into 0.
    return found >= min && found <= max ? found + 0 : mismatch(words, value);
  };
}

function bigInteger(min: bigint, max: bigint): ShapeCodec {
  const words = `an integer up to ${SAFE} in magnitude or a string of one, from ${min} to ${max}`;
  const check = (value: bigint): bigint =>
    value >= min && value <= max ? value : mismatch(words, value);
  return {
    decode: (value) => {
      if (Number.isSafeInteger(value)) return check(BigInt(value as number));
      if (typeof value === 'string' && /^-?(0|[1-9][0-9]{0,19})$/.test(value))
        return check(BigInt(value));
      return mismatch(words, value);
    },
    encode: (value) => {
      if (typeof value !== 'bigint') return mismatch('a bigint', value);
      check(value);
      return value >= -SAFE && value <= SAFE ? Number(value) : String(value);
    },
  };
}

function number({ min, above, max, below }: NumberRange): Convert {
  const bounds = [
    ...(min === undefined ? [] : [`from ${min}`]),
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(max === undefined ? [] : [`up to ${max}`]),
    ...(below === undefined ? [] : [`below ${below}`]),
  ];
  const words = ['a number', ...bounds].join(' ');
  return (value) => {
    const isNumber =
      typeof value === 'number' &&
      Number.isFinite(value) &&
      value >= (min ?? value) &&
      value > (above ?? -Infinity) &&
      value <= (max ?? value) &&
      value < (below ?? Infinity);
    return isNumber ? value : mismatch(words, value);
  };
}

function at(part: string | number, convert: Convert, value: unknown, depth: number): unknown {
  try {
    return convert(value, depth);
  } catch (error) {
    throw error instanceof ShapeProblem ? error.within(part) : error;
  }
}

function converted(convert: (value: unknown) => unknown, value: unknown): unknown {
  let result: unknown;
  try {
    result = convert(value);
  } catch (error) {
    throw new ShapeProblem(error instanceof Error ? error.message : textOf(error));
  }
  return atOnce(result, 'a codec answered a promise');
}

/** Sets `record[name] = value`, even if the name is `__proto__`. */
function put(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  else record[name] = value;
}

function deeper(depth: number): number {
  if (depth <= 0) throw new ShapeProblem('is nested too deep');
  return depth - 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function rangeText(min: number, max: number): string {
  if (max === Infinity) return `at least ${min}`;
  return min === max ? String(min) : `${min} to ${max}`;
}
