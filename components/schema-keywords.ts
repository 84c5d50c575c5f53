// The keywords of JSON Schema that SchemaReader knows: those that restrict values and that it supports, by the kind of
// the schema, and those that only annotate.

export type Node = Readonly<Record<string, unknown>>;

/** Keywords that do not restrict values. */
const NOTES = [
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
];
/** Keywords that name, annotate or define schemas. */
const IDENTITY = ['$id', '$schema', '$comment', '$defs'];
/** Type → its supported keywords besides those of NOTES and IDENTITY. */
export const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  string: ['format', 'contentEncoding', 'minLength', 'maxLength', 'pattern'],
  boolean: ['flag'],
  null: [],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  bigint: ['minimum', 'maximum', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'format'],
  array: ['items', 'minItems', 'maxItems'],
  object: ['properties', 'required', 'patternProperties', 'additionalProperties'],
};
/** Keywords that decide a schema's kind before its `type` does → the supported keywords beside them. */
export const SUPPORTED_BESIDE = {
  $ref: [],
  const: ['type'],
  enum: ['type'],
  anyOf: ['discriminator'],
  oneOf: ['discriminator'],
} as const;

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the keyword that decides the schema's kind; undefined if its `type` does. */
export function decidingKeyword(node: Node): keyof typeof SUPPORTED_BESIDE | undefined {
  if (typeof node['$ref'] === 'string') return '$ref';
  if (node['const'] !== undefined) return 'const';
  if (Array.isArray(node['enum'])) return 'enum';
  if (Array.isArray(node['anyOf'])) return 'anyOf';
  return Array.isArray(node['oneOf']) ? 'oneOf' : undefined;
}

/** Returns a keyword that is neither an annotation nor among the supported ones; undefined if there is none. */
export function unknownKeyword(node: Node, supported: readonly string[]): string | undefined {
  const known = new Set(['aliases', ...supported, ...NOTES, ...IDENTITY]);
  return Object.keys(node).find((name) => !known.has(name));
}
