// StandardSchema: what any schema library's schema has under `~standard` (Standard Schema, version 1), as far
// as it is asked here: it checks a value, and says its JSON Schema when the library can.

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** JSON Schema of what is checked; libraries that do not have it are described by `described`. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: 'draft-2020-12' }) => object }
      | undefined;
    /** For the compiler only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export function isStandardSchema(schema: object): schema is StandardSchema {
  return '~standard' in schema;
}

/** The issues in the words of a refusal: `items[2].sku: must not be empty; …`. */
export function issuesText(issues: readonly StandardIssue[], label: string): string {
  return issues.map(({ message, path = [] }) => `${placeOf(path) || label}: ${message}`).join('; ');
}

function placeOf(path: NonNullable<StandardIssue['path']>): string {
  let place = '';
  for (const part of path) {
    const key = typeof part === 'object' ? part.key : part;
    if (typeof key === 'number') place += `[${key}]`;
    else place += place === '' ? String(key) : `.${String(key)}`;
  }
  return place;
}
