// JsonValue: converts the values of a test to JSON values, and these to and from the JSON text of a module.

/** Largest integer that JSON represents as a number. The SDK writes larger 64-bit integers as strings of digits. */
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Returns the JSON value of a test's value: a bigint as the SDK writes 64-bit integers, a Date as text, a Map as an
 * object. Matchers of `expect` stay unchanged.
 */
export function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value <= SAFE_MAX && value >= -SAFE_MAX ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Map) return mapped([...value] as [string, unknown][]);
  if (Array.isArray(value)) return value.map((item) => jsonValue(item));
  return isPlain(value) ? mapped(Object.entries(value)) : value;
}

export function jsonText(value: unknown): string {
  return JSON.stringify(jsonValue(value) ?? null);
}

export function parsed(json: string): unknown {
  return JSON.parse(json) as unknown;
}

function mapped(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(
    entries
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, jsonValue(value)]),
  );
}

/** Returns whether the value is an object without its own JSON form; matchers are not. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !('asymmetricMatch' in value) &&
    !('toJSON' in value)
  );
}
