// ScalarValue: the JSON values of the scalar types of a descriptor.
import { dateTimeOf, durationOf, isBase64, isDecimal } from './text-form.ts';
import type { TypeSchema } from './type-schema.ts';

type Text = Extract<TypeSchema, { readonly type: 'string' }>;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;
const FLOAT_MAX = 3.4028234663852886e38;

/** Returns whether the value is one of a scalar type; false for every other type. */
export function isScalarValue(value: unknown, type: TypeSchema): boolean {
  if (!('type' in type)) return false;
  if (type.type === 'boolean') return typeof value === 'boolean';
  if (type.type === 'string') return isText(value, type);
  if ('minimum' in type)
    return (
      Number.isSafeInteger(value) &&
      (value as number) >= type.minimum &&
      (value as number) <= type.maximum
    );
  if (type.type === 'number') {
    const most = type.format === 'float' ? FLOAT_MAX : Number.MAX_VALUE;
    return typeof value === 'number' && Math.abs(value) <= most;
  }
  return 'format' in type && isBigInteger(value, type.format);
}

function isBigInteger(value: unknown, format: 'int64' | 'uint64'): boolean {
  const isNumber = Number.isSafeInteger(value);
  const isDigits = typeof value === 'string' && /^(?:0|-?[1-9]\d{0,19})$/.test(value);
  if (!isNumber && !isDigits) return false;
  const exact = BigInt(value as number | string);
  const [least, most] = format === 'uint64' ? [0n, UINT64_MAX] : [INT64_MIN, INT64_MAX];
  return exact >= least && exact <= most;
}

function isText(value: unknown, type: Text): boolean {
  if (typeof value !== 'string' || !value.isWellFormed()) return false;
  if (type.enum !== undefined && !type.enum.includes(value)) return false;
  if (type.contentEncoding === 'base64' && !isBase64(value)) return false;
  if (type.format === 'date-time') return dateTimeOf(value) !== undefined;
  if (type.format === 'decimal') return isDecimal(value);
  return type.format === undefined || durationOf(value) !== undefined;
}
