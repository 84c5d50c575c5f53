// StandardSchema: the part of Standard Schema, version 1, that this hosting uses: a library's schema, under
// `~standard`, checks a value, and returns its JSON Schema if the library can.

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** JSON Schema of the input; `described` adds one to a library that has none. */
    readonly jsonSchema?:
      | { readonly input: (options: { readonly target: 'draft-2020-12' }) => object }
      | undefined;
    /** Carries the types for the compiler only. */
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

/** Returns the issues as the text of a refusal: `items[2].sku: must not be empty; …`. */
export function issuesText(issues: readonly StandardIssue[], label: string): string {
  return issues
    .map(({ message, path = [] }) => `${pathText(path) || label}: ${message}`)
    .join('; ');
}

function pathText(path: NonNullable<StandardIssue['path']>): string {
  let text = '';
  for (const part of path) {
    const key = typeof part === 'object' ? part.key : part;
    if (typeof key === 'number') text += `[${key}]`;
    else text += text === '' ? String(key) : `.${String(key)}`;
  }
  return text;
}
