// ConfigurationDefinition: the values that the operator of a program sets, by their schema. Handlers of routes and consumers read them.
import { type Codec, codecOf, type Schema, type ValueOf } from './codec.ts';
import { invalidDefinition, recordOf } from './shape.ts';

/** `Values`: the type of all values together. */
export interface ConfigurationDefinition<Values = unknown> {
  readonly codec: Codec;
  /** Names of the values that nothing prints. */
  readonly secrets: readonly string[];
  /** The type alone; the property is never there. */
  readonly values?: Values;
}

const LOCATION = 'the configuration';

/**
 * Defines the configuration of a service: `defineConfiguration(Type.Object({ fee: Type.String() }), { secrets: ['key'] })`.
 * Throws SVC_DEFINITION_INVALID.
 */
export function defineConfiguration<const Described extends Schema>(
  schema: Described,
  { secrets = [] }: { readonly secrets?: readonly (keyof ValueOf<Described> & string)[] } = {},
): ConfigurationDefinition<ValueOf<Described>> {
  const codec = codecOf(schema, LOCATION);
  const record = recordOf(codec.shape);
  if (record === undefined)
    throw invalidDefinition(LOCATION, 'it is no object', 'Write Type.Object({ … }).');
  const names: ReadonlySet<string> = new Set(record.fields.map(({ name }) => name));
  const unknown = secrets.find((name) => !names.has(name));
  if (unknown !== undefined)
    throw invalidDefinition(
      LOCATION,
      `it has no value '${unknown}', which is to be a secret`,
      'Name a text of the schema.',
    );
  return { codec, secrets: [...secrets] };
}
