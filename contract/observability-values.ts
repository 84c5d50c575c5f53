// The values of which the schemas of the observability endpoint are made (observability-schema.ts).
import { Type, type TSchema } from 'typebox';

export const closed = { additionalProperties: false } as const;
export const Count = Type.Integer({ minimum: 0 });
export const Amount = Type.Number({ minimum: 0 });
export const Text = Type.String();
export const Time = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
});
export const TraceId = Type.String({ pattern: '^[0-9a-f]{32}$' });
export const SpanId = Type.String({ pattern: '^[0-9a-f]{16}$' });
export const OrNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const Word = Type.Literal;
/** Type as in the module's descriptor (generated/module-descriptor.schema.json); its references are '#/types/NAME'. */
export const DescribedType = Type.Unknown();
