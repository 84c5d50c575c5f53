// ModuleDescriptor: a module's description of itself, as JSON in the custom section `svc:descriptor`. It
// comes from the module and is as untrusted as the module's code: parse it with `parseModuleDescriptor`, which
// refuses everything that the schema does not know.
import schema from './generated/module-descriptor.schema.json' with { type: 'json' };
import type {
  CorsDescriptor,
  ModuleDescriptor,
  RouteDescriptor,
} from './module-descriptor-schema.ts';
import { limitProblems } from './limit-rule.ts';
import { originProblem } from './origin.ts';
import { isQueryDefault } from './query-default.ts';
import { parseRouteTemplate, routeTemplate, templateShape } from './route-template.ts';
import { compileSchema, type SchemaCheck } from './schema-check.ts';
import { scheduleProblems } from './schedule-problems.ts';
import type { TypeSchema } from './type-schema.ts';
import { followerProblems } from './view-problems.ts';
import { configurationDescriptorProblems } from './configuration.ts';

/** The custom section of the component that holds the descriptor. */
export const DESCRIPTOR_SECTION = 'svc:descriptor';
/** The largest descriptor that is read, in bytes. */
export const DESCRIPTOR_BYTES_MAX = 1024 * 1024;
/** Maximum number of levels of nested values, so that no descriptor can exhaust a reader's stack. */
const DESCRIPTOR_DEPTH_MAX = 64;
/** Maximum number of problems that are reported. */
const PROBLEMS_MAX = 10;
/** Maximum number of routes of all endpoints together. */
const ROUTES_MAX = 1000;
const REFERENCE_PREFIX = '#/types/';
/** The versions of the WIT package `svc:runtime` whose modules this build runs, oldest first. */
export const PROTOCOL_VERSIONS = ['0.1.0', '0.2.0'] as const;
export type ProtocolVersion = (typeof PROTOCOL_VERSIONS)[number];
/** The newest version. */
export const PROTOCOL_VERSION: ProtocolVersion = '0.2.0';

export type DescriptorResult =
  | { readonly ok: true; readonly descriptor: ModuleDescriptor }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Parses the text of the custom section. Reports the first violation of the schema, with its path in the JSON, or at
 * most ten problems that a schema cannot find.
 */
export function parseModuleDescriptor(text: string): DescriptorResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problems: ['it is not JSON'] };
  }
  if (depthOf(value) > DESCRIPTOR_DEPTH_MAX)
    return { ok: false, problems: [`it nests deeper than ${DESCRIPTOR_DEPTH_MAX} levels`] };
  const unfit = textProblem(value);
  if (unfit !== undefined) return { ok: false, problems: [unfit] };
  const problem = (check ??= compileSchema(schema))(value);
  if (problem !== undefined) return { ok: false, problems: [problem] };
  const descriptor = value as ModuleDescriptor;
  const problems = consistencyProblems(descriptor);
  return problems.length === 0 ? { ok: true, descriptor } : { ok: false, problems };
}

/** Created at the first use: most programs that import this file never check a descriptor. */
let check: SchemaCheck | undefined;

/**
 * Returns at most ten problems that a schema cannot find, such as duplicate names, and references, templates and
 * defaults that do not fit.
 */
function consistencyProblems(descriptor: ModuleDescriptor): string[] {
  const problems: string[] = [];
  const components = new Set<string>();
  for (const entity of descriptor.entities) {
    if (components.has(entity.component))
      problems.push(`component '${entity.component}' is declared twice`);
    components.add(entity.component);
    const names = new Set<string>();
    for (const handler of [...entity.commands, ...entity.queries]) {
      if (names.has(handler.name))
        problems.push(`'${handler.name}' of component '${entity.component}' is declared twice`);
      names.add(handler.name);
    }
  }
  problems.push(...routeProblems(descriptor));
  problems.push(...danglingReferences(descriptor), ...circularReferences(descriptor));
  problems.push(...fieldProblems(descriptor));
  for (const found of [
    followerProblems(descriptor),
    scheduleProblems(descriptor),
    configurationDescriptorProblems(descriptor),
  ])
    for (const problem of found) {
      if (problems.length >= PROBLEMS_MAX) break;
      problems.push(problem);
    }
  return problems.slice(0, PROBLEMS_MAX);
}

/** Checks that each route can be served, and that no two take the same requests. */
function routeProblems({ endpoints, types }: ModuleDescriptor): string[] {
  const problems: string[] = [];
  const taken = new Map<string, string>();
  let count = 0;
  for (const endpoint of endpoints) {
    const { name, prefix, access, cors: endpointCors, routes } = endpoint;
    problems.push(...corsProblems(`endpoint '${name}'`, endpointCors), ...limitProblems(endpoint));
    for (const route of routes) {
      const { method, path, parameters, access: own, cors } = route;
      const template = routeTemplate(prefix, path);
      const label = `${method} ${template}`;
      problems.push(...corsProblems(`route ${label}`, cors));
      if (cors !== undefined && (own ?? access).allow !== 'internet')
        problems.push(`route ${label}: CORS is for routes that the internet may call`);
      if (++count === ROUTES_MAX + 1) problems.push(`it has more than ${ROUTES_MAX} routes`);
      problems.push(
        ...contentProblems(route, types).map((problem) => `route ${label}: ${problem}`),
      );
      const parsed = parseRouteTemplate(template);
      if (!parsed.ok) {
        problems.push(`route ${label}: the path ${parsed.problem}`);
        continue;
      }
      const inTemplate = parsed.segments.flatMap((segment) =>
        segment.kind === 'parameter' ? [segment.name] : [],
      );
      const declared = parameters.map((parameter) => parameter.name);
      if (inTemplate.join('/') !== declared.join('/'))
        problems.push(
          `route ${label}: the template has the parameters ` +
            `[${inTemplate.join(', ')}], the route declares [${declared.join(', ')}]`,
        );
      const shape = `${method} ${templateShape(parsed.segments)}`;
      const other = taken.get(shape);
      if (other !== undefined)
        problems.push(`the routes '${other}' and '${label}' match the same requests`);
      taken.set(shape, label);
    }
  }
  return problems;
}

/** Returns problems of a route's parameters and replies, apart from its path. */
function contentProblems(
  { query = [], body, reply, answers = [], refusals = [] }: RouteDescriptor,
  types: ModuleDescriptor['types'],
): string[] {
  const problems: string[] = [];
  for (const part of [body, reply]) {
    const canHaveSchema = part?.kind === 'json' || (part === body && part?.kind === 'bytes');
    if (part?.schema !== undefined && !canHaveSchema) problems.push('only JSON has a schema');
  }
  if (reply?.optional === true) problems.push('only the body of a request can be optional');
  for (const name of repeated(query.map((parameter) => parameter.name)))
    problems.push(`the query parameter '${name}' is declared twice`);
  for (const parameter of query) {
    const { name, required, default: fallback, flag } = parameter;
    if (flag === true && !isBoolean(parameter.schema))
      problems.push(`the query parameter '${name}' is a flag and no boolean`);
    if (fallback === undefined) continue;
    if (required) problems.push(`the query parameter '${name}' is required and has a default`);
    if (!isQueryDefault(fallback, parameter.schema, types))
      problems.push(`the default of the query parameter '${name}' does not fit its type`);
  }
  for (const status of repeated(refusals.map((refusal) => refusal.status)))
    problems.push(`the refusal ${status} is declared twice`);
  for (const status of repeated(answers)) problems.push(`status ${status} is declared twice`);
  return problems;
}

function isBoolean(type: TypeSchema): boolean {
  return 'type' in type && type.type === 'boolean';
}

function repeated<Item>(items: readonly Item[]): readonly Item[] {
  const seen = new Set<Item>();
  return items.filter((item) => seen.size === seen.add(item).size);
}

function corsProblems(path: string, cors: CorsDescriptor | undefined): string[] {
  return (cors?.origins ?? []).flatMap((origin) => {
    const problem = originProblem(origin);
    return problem === undefined ? [] : [`${path}: the origin '${origin}' ${problem}`];
  });
}

/**
 * Returns the first problem of the texts and member names of a value; undefined if there is none: half of a surrogate
 * pair has no encoding, and `__proto__` is a special member name in JavaScript.
 */
function textProblem(value: unknown): string | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : 'it holds text that is not Unicode';
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, child] of Object.entries(value)) {
    const problem =
      name === '__proto__'
        ? "it uses the name '__proto__'"
        : (textProblem(name) ?? textProblem(child));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Finds types that consist of references alone: a chain of references has to end at another kind of type. */
function circularReferences({ types }: ModuleDescriptor): string[] {
  /** Types whose references were followed for another type. */
  const followed = new Set<string>();
  const circular: string[] = [];
  for (const name of Object.keys(types)) {
    const path = new Set<string>();
    let at: string | undefined = name;
    while (at !== undefined && !followed.has(at) && !path.has(at)) {
      path.add(at);
      at = referenceOf(types[at]);
    }
    if (at !== undefined && path.has(at)) circular.push(name);
    for (const passed of path) followed.add(passed);
  }
  return circular.map((name) => `type '${name}' refers to itself and is nothing else`);
}

function referenceOf(type: TypeSchema | undefined): string | undefined {
  if (type === undefined || !('$ref' in type)) return undefined;
  return type.$ref.slice(REFERENCE_PREFIX.length);
}

/**
 * Returns the number of levels of nested values, or DESCRIPTOR_DEPTH_MAX + 1 if there are more. There is no recursion,
 * because the depth may be excessive.
 */
function depthOf(value: unknown): number {
  let depth = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= DESCRIPTOR_DEPTH_MAX) {
    level = level.flatMap((node) =>
      typeof node === 'object' && node !== null ? (Object.values(node) as unknown[]) : [],
    );
    depth++;
  }
  return depth;
}

/** Checks that each name is read as one field only, that no field is required twice, and that aliases have a field. */
function fieldProblems(descriptor: ModuleDescriptor): string[] {
  const problems: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (isRecord(node)) {
      for (const name of repeated(node.required)) problems.push(`'${name}' is required twice`);
      const taken = new Set(Object.keys(node.properties));
      for (const [name, aliases] of Object.entries(node.aliases ?? {})) {
        if (!Object.hasOwn(node.properties, name))
          problems.push(`'${name}' has aliases and is not a property`);
        for (const alias of aliases) {
          if (taken.has(alias)) problems.push(`the alias '${alias}' of '${name}' is taken`);
          taken.add(alias);
        }
      }
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(descriptor);
  return problems;
}

/** Recognises the schema of a record by the value of `type`: a record may have fields named `type` and `properties`. */
function isRecord(node: object): node is RecordSchema {
  return 'type' in node && node.type === 'object' && 'properties' in node;
}

type RecordSchema = Extract<TypeSchema, { readonly properties: unknown }>;

function danglingReferences(descriptor: ModuleDescriptor): string[] {
  const missing = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('$ref' in node && typeof node.$ref === 'string') {
      const name = node.$ref.slice(REFERENCE_PREFIX.length);
      if (!Object.hasOwn(descriptor.types, name)) missing.add(name);
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(descriptor);
  return [...missing].map((name) => `type '${name}' is referred to and not declared`);
}

export function isProtocolVersion(text: string): text is ProtocolVersion {
  return (PROTOCOL_VERSIONS as readonly string[]).includes(text);
}
