// SchemaCheck: checks a value against one of our own constant schemas. The schema is compiled to closures once:
// typebox's own check walks the schema anew at every value (a hundred milliseconds for a small
// descriptor), and its compiler generates code from strings, which a host of untrusted modules avoids.

/** Returns the first problem with its JSON pointer (`/endpoints/0/access: …`), or undefined. */
export type SchemaCheck = (value: unknown) => string | undefined;

type Check = (value: unknown, path: string) => string | undefined;

interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema | readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** Compiles a schema. `schema` comes from our own sources, never from a module. */
export function compileSchema(schema: object): SchemaCheck {
  const root = schema as Schema;
  const definitions = new Map<string, Check>();
  const check = compile(root, { ...root.$defs }, definitions);
  return (value) => check(value, '');
}

function compile(
  schema: Schema,
  defs: Readonly<Record<string, Schema>>,
  done: Map<string, Check>,
): Check {
  const inner = (child: Schema) => compile(child, defs, done);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice('#/$defs/'.length);
    if (!done.has(name)) {
      // The entry exists before the type is compiled, since types may refer to each other in cycles.
      done.set(name, () => undefined);
      done.set(name, inner(defs[name]!));
    }
    return (value, path) => done.get(name)!(value, path);
  }
  if (schema.anyOf !== undefined) return anyOf(schema.anyOf.map(inner));
  if (schema.const !== undefined) {
    const wanted = schema.const;
    return (value, path) =>
      value === wanted ? undefined : `${path}: must be ${JSON.stringify(wanted)}`;
  }
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'boolean':
      return (value, path) =>
        typeof value === 'boolean' ? undefined : `${path}: must be a boolean`;
    case 'integer':
      return integer(schema);
    case 'number':
      return (value, path) =>
        Number.isFinite(value) ? undefined : `${path}: must be a finite number`;
    case 'array':
      return list(schema, inner);
    case 'object':
      return object(schema, inner);
    case undefined:
    default:
      throw new Error(
        `a schema of ours has a form that is not known here: ${JSON.stringify(schema)}`,
      );
  }
}

/**
 * Reports the problem of the best matching alternative, which is the one that fails deepest in the value. If all
 * alternatives fail at the value itself, reports that none fits.
 */
function anyOf(alternatives: readonly Check[]): Check {
  return (value, path) => {
    let deepest: string | undefined;
    for (const check of alternatives) {
      const problem = check(value, path);
      if (problem === undefined) return undefined;
      if (deepest === undefined || depth(problem) > depth(deepest)) deepest = problem;
    }
    return depth(deepest!) > depth(`${path}:`)
      ? deepest
      : `${path}: is none of what may stand here`;
  };
}

function depth(problem: string): number {
  return problem.slice(0, problem.indexOf(':')).split('/').length;
}

function integer({ minimum, maximum }: Schema): Check {
  return (value, path) => {
    if (!Number.isSafeInteger(value)) return `${path}: must be an integer`;
    const number = value as number;
    if (minimum !== undefined && number < minimum) return `${path}: must be at least ${minimum}`;
    if (maximum !== undefined && number > maximum) return `${path}: must be at most ${maximum}`;
    return undefined;
  };
}

function text({ pattern, minLength = 0, maxLength = Infinity }: Schema): Check {
  const form = pattern === undefined ? undefined : new RegExp(pattern);
  return (value, path) => {
    if (typeof value !== 'string') return `${path}: must be a string`;
    if (value.length < minLength) return `${path}: must have at least ${minLength} characters`;
    if (value.length > maxLength) return `${path}: must have at most ${maxLength} characters`;
    if (form !== undefined && !form.test(value)) return `${path}: must match ${pattern}`;
    return undefined;
  };
}

function list(schema: Schema, inner: (child: Schema) => Check): Check {
  const { items, minItems = 0, maxItems = Infinity } = schema;
  const sole = Array.isArray(items) ? undefined : inner(items as Schema);
  const tuple = Array.isArray(items) ? (items as readonly Schema[]).map(inner) : [];
  const most = sole === undefined ? tuple.length : maxItems;
  const least = sole === undefined ? tuple.length : minItems;
  return (value, path) => {
    if (!Array.isArray(value)) return `${path}: must be a list`;
    if (value.length < least || value.length > most)
      return `${path}: must have ${least} to ${most} items`;
    for (const [index, item] of value.entries()) {
      const problem = (sole ?? tuple[index]!)(item, `${path}/${index}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

/** Objects are closed: a property that is neither declared nor matches the one pattern of a record is a problem. */
function object(schema: Schema, inner: (child: Schema) => Check): Check {
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([name, child]) => [name, inner(child)]),
  );
  const [record] = Object.entries(schema.patternProperties ?? {});
  const recordKey = record === undefined ? undefined : new RegExp(record[0]);
  const recordValue = record === undefined ? undefined : inner(record[1]);
  const required = schema.required ?? [];
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `${path}: must be an object`;
    for (const name of required)
      if (!Object.hasOwn(value, name)) return `${path}: must have '${name}'`;
    for (const [name, child] of Object.entries(value)) {
      const check =
        properties.get(name) ?? (recordKey?.test(name) === true ? recordValue : undefined);
      if (check === undefined)
        return `${path}: may not have this name: ${JSON.stringify(name).slice(0, 80)}`;
      const problem = check(child, `${path}/${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}
