// Configuration: the values that a module reads as its configuration, checked against the schema that its descriptor declares.
// The host, the command line and the test kit judge values by this file alone. No problem contains a value, since a value may
// be a secret.
import {
  type NamedTypes,
  type RecordType,
  bareType,
  bareTypeName,
  isPlainText,
  recordOf,
} from './column-type.ts';
import { jsonMismatch } from './json-mismatch.ts';
import type { ConfigurationDescriptor, ModuleDescriptor } from './module-descriptor-schema.ts';
import { isQueryDefault } from './query-default.ts';
import { closest } from './suggestion.ts';
import type { TypeSchema } from './type-schema.ts';

/**
 * Component that answers with the configuration. No entity can have this id, because ids of components have no colon.
 */
export const CONFIGURATION_COMPONENT = 'svc:configuration';
/** Maximum size of all values of a module, as JSON, in bytes. */
export const CONFIGURATION_BYTES_MAX = 256 * 1024;
/** Maximum number of values that a module can declare. */
export const CONFIGURATION_VALUES_MAX = 200;
/** Minimum length of a secret. The log replaces secrets, and a shorter text would occur in other words. */
export const SECRET_LENGTH_MIN = 8;

/** A declared value, in the order of the declaration. */
export interface DeclaredValue {
  readonly name: string;
  readonly schema: TypeSchema;
  /** Whether the module has no value of its own. */
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** JSON form of the default, if the source spells it out. */
  readonly fallback: unknown;
}

type Described = Pick<ModuleDescriptor, 'configuration' | 'types'>;

/** Returns the values that a module declares; none if it has no configuration. */
export function declaredValues({ configuration, types }: Described): readonly DeclaredValue[] {
  if (configuration === undefined) return [];
  const { schema, defaults = {}, secrets = [] } = configuration;
  const { properties, required } = recordOf(schema, types)!;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    schema: property as TypeSchema,
    isRequired: required.includes(name),
    isSecret: secrets.includes(name),
    fallback: Object.hasOwn(defaults, name) ? defaults[name] : undefined,
  }));
}

/** Returns the type of a declared value in a few words: `a text`, `a decimal number or null`. */
export function declaredTypeName(schema: TypeSchema, types: NamedTypes): string {
  const bare = bareType(schema, types);
  if (bare === undefined) return 'a value';
  return `${bareTypeName(bare.type)}${bare.isNullable ? ' or null' : ''}`;
}

/** Facts about values beside themselves. */
interface GivenValues {
  /** Name → where the value comes from. */
  readonly origins?: ReadonlyMap<string, string>;
  /** Names whose values could not be read, which was reported. They are not missing. */
  readonly unread?: ReadonlySet<string>;
}

/** Returns all problems of the values: names that are missing or not declared, and values of another type. */
export function configurationProblems(
  values: ReadonlyMap<string, unknown>,
  described: Described,
  { origins = new Map(), unread = new Set() }: GivenValues = {},
): readonly string[] {
  const { types } = described;
  const declared = declaredValues(described);
  const names = declared.map(({ name }) => name);
  const problems: string[] = [];
  const report = (name: string, problem: string): void => {
    const origin = origins.get(name);
    problems.push(origin === undefined ? problem : `${problem} (${origin})`);
  };
  for (const name of values.keys())
    if (!names.includes(name)) report(name, unknownName(name, names));
  for (const one of declared) {
    const { name } = one;
    if (values.has(name)) {
      const problem = valueProblem(values.get(name), one, types);
      if (problem !== undefined) report(name, problem);
    } else if (one.isRequired && !unread.has(name))
      problems.push(`'${name}' is missing: ${declaredTypeName(one.schema, types)}`);
  }
  if (problems.length > 0) return problems;
  const bytes = new TextEncoder().encode(configurationJson(values)).length;
  return bytes <= CONFIGURATION_BYTES_MAX
    ? []
    : [`the values have ${bytes} bytes as JSON, and may have ${CONFIGURATION_BYTES_MAX}`];
}

/** Returns the JSON text that the module decodes. */
export function configurationJson(values: ReadonlyMap<string, unknown>): string {
  return JSON.stringify(Object.fromEntries(values));
}

/**
 * Returns the value that a plain text stands for: a text as it is, any other type by its JSON form. A text that is not of the
 * type is returned as it is, and `configurationProblems` reports it.
 */
export function valueOfText(text: string, schema: TypeSchema, types: NamedTypes): unknown {
  const type = bareType(schema, types)?.type;
  if (type === undefined || !('type' in type)) return parsedOr(text);
  if (type.type === 'string') return text;
  // A 64-bit integer that a JSON number cannot hold stays a text of digits.
  if (Array.isArray(type.type) && !Number.isSafeInteger(Number(text))) return text;
  return parsedOr(text);
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Finds the problems of a descriptor's configuration that a schema cannot find. */
export function* configurationDescriptorProblems({
  configuration,
  types,
}: Described): Iterable<string> {
  if (configuration === undefined) return;
  const record = recordOf(configuration.schema, types);
  if (record === undefined) return yield 'the configuration is no record';
  const count = Object.keys(record.properties).length;
  if (count > CONFIGURATION_VALUES_MAX)
    yield `the configuration has ${count} values, and may have ${CONFIGURATION_VALUES_MAX}`;
  if (record.aliases !== undefined) yield 'the configuration has aliases';
  for (const [name, property] of Object.entries(record.properties))
    if ('const' in property) yield `the configuration has the tag '${name}'`;
  yield* secretProblems(configuration, record, types);
  for (const [name, fallback] of Object.entries(configuration.defaults ?? {})) {
    const property = propertyOf(record, name);
    if (property === undefined || record.required.includes(name))
      yield `the configuration has a default for '${name}', which is no value that may be left out`;
    else if (!isQueryDefault(fallback, property, types))
      yield `the default of '${name}' in the configuration does not fit its type`;
  }
}

function* secretProblems(
  { secrets = [], defaults = {} }: ConfigurationDescriptor,
  record: RecordType,
  types: NamedTypes,
): Iterable<string> {
  for (const name of secrets) {
    const property = propertyOf(record, name);
    const type = property && bareType(property, types)?.type;
    if (type === undefined || !isPlainText(type))
      yield `the secret '${name}' is no text of the configuration`;
    if (Object.hasOwn(defaults, name)) yield `the secret '${name}' has a default`;
  }
}

function propertyOf(record: RecordType, name: string): TypeSchema | undefined {
  if (!Object.hasOwn(record.properties, name)) return undefined;
  const property = record.properties[name]!;
  return 'const' in property ? undefined : property;
}

function unknownName(name: string, names: readonly string[]): string {
  const suggestion = closest(name, names);
  const shown = JSON.stringify(name.slice(0, 100));
  return `${shown} is not declared${suggestion === undefined ? '' : `: did you mean '${suggestion}'?`}`;
}

function valueProblem(
  value: unknown,
  { name, schema, isSecret }: DeclaredValue,
  types: NamedTypes,
): string | undefined {
  const mismatch = jsonMismatch(value, schema, types);
  if (mismatch === undefined) {
    const isShort = isSecret && typeof value === 'string' && value.length < SECRET_LENGTH_MIN;
    return isShort
      ? `the secret '${name}' has fewer than ${SECRET_LENGTH_MIN} characters`
      : undefined;
  }
  const type = bareType(schema, types)?.type;
  const isText = type !== undefined && 'type' in type && type.type === 'string';
  const help = isText && typeof value !== 'string' ? ': write it in quotes' : '';
  return mismatch.startsWith('it ')
    ? `'${name}' ${mismatch.slice('it '.length)}${help}`
    : `'${name}': ${mismatch}`;
}
