// queryFlag: the schema of a query parameter whose name alone stands for true.
import type { TBoolean } from 'typebox';

/**
 * Declares a flag of a query: `query: Type.Object({ previous: queryFlag() })`. `?previous`, `?previous=` and `?previous=true` are
 * true, `?previous=false` and a query without the name are false.
 */
export function queryFlag({ description }: { readonly description?: string } = {}): TBoolean {
  const schema = { type: 'boolean', default: false, flag: true };
  // The package has only the types of typebox: its functions belong to the program.
  return (description === undefined ? schema : { ...schema, description }) as unknown as TBoolean;
}
