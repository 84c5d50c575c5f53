// ConfigurationDescriptor: describes the @configuration class: its type, the defaults that the source spells out, and the names of
// its secrets.
import type { Program } from 'assemblyscript';
import { isQueryDefault, recordOf, type ConfigurationDescriptor } from '@svc/contract';
import type { Declarations } from './declarations.ts';
import { literalDefault } from './literal-default.ts';
import { classOf, resolve } from './resolved-types.ts';
import type { SchemaBuilder } from './schema-of-type.ts';
import { SWALLOW } from './syntax.ts';

type Defaults = NonNullable<ConfigurationDescriptor['defaults']>;

/** Returns undefined if the module has no configuration. */
export function configurationDescriptor(
  program: Program,
  { configuration, data }: Declarations,
  schemas: SchemaBuilder,
): ConfigurationDescriptor | undefined {
  const reference = configuration && classOf(program, configuration.declaration);
  if (configuration === undefined || reference === undefined) return undefined;
  const schema = schemas.schema(reference.type, configuration.declaration.name.range);
  const record = recordOf(schema, schemas.types);
  const defaults = Object.create(null) as Defaults;
  for (const { name, node } of data.get(configuration.declaration)!.fields) {
    const type = node.type && resolve(program, node.type, reference, SWALLOW);
    const property = record?.properties[name];
    if (!node.initializer || !type || property === undefined || 'const' in property) continue;
    const fallback = literalDefault(node.initializer, type, reference);
    if (isQueryDefault(fallback, property, schemas.types)) defaults[name] = fallback;
  }
  return {
    schema,
    ...(Object.keys(defaults).length === 0 ? {} : { defaults }),
    ...(configuration.secrets.length === 0 ? {} : { secrets: [...configuration.secrets] }),
  };
}
