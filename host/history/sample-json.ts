// SampleJson generates small values of the types that a module describes, as JSON texts, where no real data is
// available.
import type { EntityDescriptor, ModuleDescriptor, TypeSchema } from '@svc/contract';

/** Maximum depth of a sample; deeper values are null. */
const DEPTH_MAX = 6;
const SAMPLE_TEXTS = {
  'date-time': '2030-01-01T00:00:00.000Z',
  decimal: '12.50',
  duration: 'PT1H30M',
} as const;

/** Returns a sample of the type as JSON text; `null` if there is no type. */
export function sampleJson(descriptor: ModuleDescriptor, schema: TypeSchema | undefined): string {
  return JSON.stringify(schema === undefined ? null : sample(descriptor, schema, 0));
}

/** Returns one sample for each case of an entity's event type, as JSON texts. */
export function sampleEvents(
  descriptor: ModuleDescriptor,
  { event: { schema } }: EntityDescriptor,
): readonly string[] {
  const own = '$ref' in schema ? descriptor.types[schema.$ref.slice('#/types/'.length)] : schema;
  const cases = own !== undefined && 'oneOf' in own ? own.oneOf : [schema];
  return cases.map((one) => sampleJson(descriptor, one));
}

function sample(descriptor: ModuleDescriptor, schema: TypeSchema, depth: number): unknown {
  if (depth > DEPTH_MAX) return null;
  const inner = (type: TypeSchema) => sample(descriptor, type, depth + 1);
  if ('$ref' in schema) {
    const target = descriptor.types[schema.$ref.slice('#/types/'.length)];
    return target === undefined ? null : inner(target);
  }
  if ('anyOf' in schema) return inner(schema.anyOf[0]);
  if ('oneOf' in schema) return inner(schema.oneOf[0]!);
  switch (schema.type) {
    case 'string':
      if (schema.format !== undefined) return SAMPLE_TEXTS[schema.format];
      return 'contentEncoding' in schema ? 'AQID' : (schema.enum?.[0] ?? 'some text');
    case 'boolean':
      return true;
    case 'integer':
      return Math.min(Math.max(schema.minimum, 3), schema.maximum);
    case 'number':
      return 1.25e-7;
    case 'null':
      return null;
    case 'array':
      return [inner(schema.items), inner(schema.items)];
    case 'object':
      if (!('properties' in schema)) return { some: inner(schema.additionalProperties) };
      return Object.fromEntries(
        Object.entries(schema.properties).map(([name, type]) => [
          name,
          'const' in type ? type.const : inner(type),
        ]),
      );
    default:
      return 7;
  }
}
