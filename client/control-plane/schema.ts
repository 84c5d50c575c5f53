// Schema: JSON Schema 2020-12 of the values of a TypeScript type. The builders write the few keywords that the platform's
// bodies need, with a description each; types, documentation, OpenAPI and validation follow from one schema.

declare const valueType: unique symbol;

/** Keywords of a JSON Schema. The type of the values exists for the compiler alone. */
export type Schema<Value> = Readonly<Record<string, unknown>> & {
  readonly [valueType]?: Value;
};
/** Type of the values of a schema. */
export type ValueOf<Of> = Of extends Schema<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Schema<unknown>>>;
/** The same type, shown by its fields. */
export type Shown<Type> = { readonly [Key in keyof Type]: Type[Key] };
export type ObjectOf<Required extends Fields, Optional extends Fields> = Shown<
  { readonly [Key in keyof Required]: ValueOf<Required[Key]> } & {
    readonly [Key in keyof Optional]?: ValueOf<Optional[Key]>;
  }
>;

/** A word of a vocabulary, or another one that a later version of the platform adds. */
export type Open<Word extends string> = Word | (string & {});

/**
 * Key of what a text must not contain. OpenAPI does not have it: it is for rules that the regular expressions of other languages
 * cannot express.
 */
export const REFUSED = Symbol('refused');

/** Rules of a text. Lengths are in characters (code points); `pattern` is a regular expression with the flag u. */
export interface TextRules {
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: 'date-time';
  readonly [REFUSED]?: RegExp;
}

export function text(description: string, rules: TextRules = {}): Schema<string> {
  return { type: 'string', description, ...rules };
}

/** Returns the schema of one of a few words, of which there will be no others. */
export function word<const Word extends string>(
  description: string,
  words: readonly Word[],
): Schema<Word> {
  return { type: 'string', description, enum: words };
}

/** Returns the schema of a word whose vocabulary grows: clients take words that they do not know. */
export function openWord<const Word extends string>(
  description: string,
  words: readonly Word[],
): Schema<Open<Word>> {
  return { type: 'string', description, examples: words };
}

export function integer(
  description: string,
  rules: { readonly minimum: number; readonly maximum?: number },
): Schema<number> {
  return { type: 'integer', description, ...rules };
}

export function boolean(description: string): Schema<boolean> {
  return { type: 'boolean', description };
}

export function nullable<Value>(description: string, schema: Schema<Value>): Schema<Value | null> {
  return { description, anyOf: [schema, { type: 'null' }] };
}

export function list<Value>(
  description: string,
  items: Schema<Value>,
  rules: { readonly maxItems?: number } = {},
): Schema<readonly Value[]> {
  return { type: 'array', description, items, ...rules };
}

/** Returns the schema of an object whose fields have any names. */
export function map<Value>(
  description: string,
  values: Schema<Value>,
): Schema<Readonly<Record<string, Value>>> {
  return {
    type: 'object',
    description,
    properties: {},
    required: [],
    additionalProperties: values,
  };
}

/** Returns the schema of an object of an answer, which may have further fields in a later version. */
export function object<const Required extends Fields, const Optional extends Fields = {}>(
  title: string,
  description: string,
  required: Required,
  optional?: Optional,
): Schema<ObjectOf<Required, Optional>> {
  return {
    type: 'object',
    title,
    description,
    properties: { ...required, ...optional },
    required: Object.keys(required),
  };
}

/** Returns the schema of an object of a request, in which an unknown field is a mistake. */
export function body<const Required extends Fields, const Optional extends Fields = {}>(
  title: string,
  description: string,
  required: Required,
  optional?: Optional,
): Schema<ObjectOf<Required, Optional>> {
  return { ...object(title, description, required, optional), additionalProperties: false };
}
