// StateDifference: the path at which two states of an entity differ, for a message: `items[0].quantity`. A state may be
// confidential, so the path contains only indexes and the names of declared fields. The key of a map is `[…]`.
import type { ModuleDescriptor, TypeSchema } from '@svc/contract';

/** Maximum number of steps of a path in a message, and of steps from a schema to the object or list type behind it. */
const STEPS_MAX = 20;
/**
 * Maximum length of a state that is compared, in UTF-16 units. A comparison of megabytes would block the event loop for
 * seconds.
 */
const LENGTH_MAX = 250_000;
const HIDDEN = '[…]';

type Types = ModuleDescriptor['types'];
type Path = readonly string[];

/**
 * Returns the path at which two JSON texts of a type differ; undefined if their values are equal, differ as a whole, or
 * cannot be compared, because a text is not JSON, is too long or is nested too deeply.
 */
export function differencePath(
  before: string,
  after: string,
  schema: TypeSchema,
  types: Types,
): string | undefined {
  if (before.length > LENGTH_MAX || after.length > LENGTH_MAX) return undefined;
  let path: Path | undefined;
  try {
    path = difference(JSON.parse(before), JSON.parse(after), schema, types);
  } catch {
    // A hostile module may nest values deeper than the stack allows.
    return undefined;
  }
  if (path === undefined || path.length === 0) return undefined;
  const text = path.slice(0, STEPS_MAX).join('');
  return (text.startsWith('.') ? text.slice(1) : text) + (path.length > STEPS_MAX ? '…' : '');
}

/**
 * Returns the path, within the two values, at which they differ: undefined if they are equal, empty if they differ as a
 * whole.
 */
function difference(
  a: unknown,
  b: unknown,
  schema: TypeSchema | undefined,
  types: Types,
): Path | undefined {
  if (a === b) return undefined;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return [];
  const form = resolved(schema, b, types);
  for (const key of new Set([...Object.keys(b), ...Object.keys(a)])) {
    const [step, inner] = stepInto(form, key, Array.isArray(b));
    if (!Object.hasOwn(a, key) || !Object.hasOwn(b, key)) return [step];
    const found = difference(a[key], b[key], inner, types);
    if (found !== undefined) return [step, ...found];
  }
  return undefined;
}

function stepInto(
  form: TypeSchema | undefined,
  key: string,
  isList: boolean,
): readonly [step: string, inner: TypeSchema | undefined] {
  if (isList) return [`[${key}]`, form !== undefined && 'items' in form ? form.items : undefined];
  if (form !== undefined && 'properties' in form && Object.hasOwn(form.properties, key)) {
    const property = form.properties[key];
    const inner = property === undefined || 'const' in property ? undefined : property;
    return [`.${key}`, inner];
  }
  const inner =
    form !== undefined && 'additionalProperties' in form ? form.additionalProperties : undefined;
  return [HIDDEN, inner];
}

/** Returns the schema of `value` behind references, null and the cases of a sum type; undefined if it is not known. */
function resolved(
  schema: TypeSchema | undefined,
  value: Readonly<Record<string, unknown>>,
  types: Types,
): TypeSchema | undefined {
  let form = schema;
  // References may be circular.
  for (let step = 0; form !== undefined && step < STEPS_MAX; step++)
    if ('$ref' in form) form = types[form.$ref.slice('#/types/'.length)];
    else if ('anyOf' in form) form = form.anyOf[0];
    else if ('oneOf' in form) form = form.oneOf.find((one) => isCase(one.$ref, value, types));
    else return form;
  return undefined;
}

function isCase(
  reference: string,
  value: Readonly<Record<string, unknown>>,
  types: Types,
): boolean {
  const form = types[reference.slice('#/types/'.length)];
  if (form === undefined || !('properties' in form)) return false;
  const tag = form.properties['type'];
  return tag !== undefined && 'const' in tag && tag.const === value['type'];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
