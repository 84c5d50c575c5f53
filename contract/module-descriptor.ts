// ModuleDescriptor: what a module says of itself, as JSON in the custom section `svc:descriptor`.
// It comes from the module and is as untrusted as the rest of it: parse it with
// `parseModuleDescriptor`, which refuses whatever this schema does not know.
import { Type, type Static } from 'typebox';
import { compileSchema, type SchemaCheck } from './schema-check.ts';
import { typeSchemaShapes } from './type-schema.ts';

/** The custom section of the component that holds the descriptor. */
export const DESCRIPTOR_SECTION = 'svc:descriptor';
/** The largest descriptor that is read, in bytes. */
export const DESCRIPTOR_BYTES_MAX = 1024 * 1024;
/** How deep objects and lists may nest, so that no descriptor can exhaust a reader's stack. */
const DESCRIPTOR_DEPTH_MAX = 64;
/** Version of the WIT package `svc:runtime` that this build speaks. */
export const PROTOCOL_VERSION = '0.1.0';

const closed = { additionalProperties: false } as const;
/** Component ids and wire names: they are stored and appear in addresses. */
const WireName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9._-]{0,99}$' });
const ManifestName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9._<>, -]{0,199}$' });
const ParameterName = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' });
const Path = Type.String({ pattern: "^(/[A-Za-z0-9_.~!$&'()*+,;=:@{}%-]*)*$", maxLength: 1000 });

const shapes = {
  ...typeSchemaShapes,
  /** Who may call. `services` without a list: any service of the project. */
  AccessRule: Type.Union([
    Type.Object({ allow: Type.Literal('internet') }, closed),
    Type.Object(
      {
        allow: Type.Literal('services'),
        services: Type.Optional(
          Type.Array(
            Type.String({
              pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)?$',
              maxLength: 127,
            }),
            { minItems: 1, maxItems: 100 },
          ),
        ),
      },
      closed,
    ),
    Type.Object({ allow: Type.Literal('local') }, closed),
    Type.Object({ allow: Type.Literal('nobody') }, closed),
  ]),
  Handler: Type.Object(
    {
      name: WireName,
      /** Absent: the handler takes no input. */
      input: Type.Optional(Type.Ref('TypeSchema')),
      reply: Type.Ref('TypeSchema'),
    },
    closed,
  ),
  StoredType: Type.Object({ manifest: ManifestName, schema: Type.Ref('TypeSchema') }, closed),
  Entity: Type.Object(
    {
      component: WireName,
      state: Type.Ref('StoredType'),
      event: Type.Ref('StoredType'),
      commands: Type.Array(Type.Ref('Handler'), { maxItems: 1000 }),
      queries: Type.Array(Type.Ref('Handler'), { maxItems: 1000 }),
    },
    closed,
  ),
  Body: Type.Object(
    {
      /** How the bytes are read: JSON of `schema`, text, or bytes as they are. */
      kind: Type.Union([Type.Literal('json'), Type.Literal('text'), Type.Literal('bytes')]),
      schema: Type.Optional(Type.Ref('TypeSchema')),
    },
    closed,
  ),
  Route: Type.Object(
    {
      method: Type.Union([
        Type.Literal('GET'),
        Type.Literal('POST'),
        Type.Literal('PUT'),
        Type.Literal('PATCH'),
        Type.Literal('DELETE'),
      ]),
      /** Relative to the endpoint's prefix, with `{name}` parameters that are whole segments. */
      path: Path,
      /** For people: the handler's name in the source. */
      handler: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]{0,99}$' }),
      /** In the order of the template. */
      parameters: Type.Array(
        Type.Object({ name: ParameterName, schema: Type.Ref('TypeSchema') }, closed),
        { maxItems: 32 },
      ),
      body: Type.Optional(Type.Ref('Body')),
      /** Absent: no content (204). */
      reply: Type.Optional(Type.Ref('Body')),
      /** Overrides the endpoint's. */
      access: Type.Optional(Type.Ref('AccessRule')),
    },
    closed,
  ),
  Endpoint: Type.Object(
    {
      name: Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$]{0,99}$' }),
      prefix: Path,
      access: Type.Ref('AccessRule'),
      routes: Type.Array(Type.Ref('Route'), { maxItems: 1000 }),
    },
    closed,
  ),
  ModuleDescriptor: Type.Object(
    {
      /** The WIT package version the module was built for. */
      protocol: Type.String({ pattern: '^[0-9]{1,5}\\.[0-9]{1,5}\\.[0-9]{1,5}$' }),
      sdk: Type.Object(
        {
          name: Type.String({ pattern: '^[A-Za-z0-9@/._-]{1,100}$' }),
          version: Type.String({ pattern: '^[A-Za-z0-9.+-]{1,50}$' }),
        },
        closed,
      ),
      /** Named types, for `$ref: "#/types/NAME"`. */
      types: Type.Record(
        Type.String({ pattern: '^[A-Za-z_$][A-Za-z0-9_$.<>, -]{0,199}$' }),
        Type.Ref('TypeSchema'),
      ),
      entities: Type.Array(Type.Ref('Entity'), { maxItems: 1000 }),
      endpoints: Type.Array(Type.Ref('Endpoint'), { maxItems: 1000 }),
    },
    closed,
  ),
};

const module = Type.Module(shapes);
export const ModuleDescriptor = module.ModuleDescriptor;
export type ModuleDescriptor = Static<typeof ModuleDescriptor>;
export type AccessRule = Static<typeof module.AccessRule>;
export type EntityDescriptor = ModuleDescriptor['entities'][number];
export type EndpointDescriptor = ModuleDescriptor['endpoints'][number];
export type RouteDescriptor = EndpointDescriptor['routes'][number];

export type DescriptorResult =
  | { readonly ok: true; readonly descriptor: ModuleDescriptor }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads the text of the custom section. A problem is named with its place; at most ten are. */
export function parseModuleDescriptor(text: string): DescriptorResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problems: ['it is not JSON'] };
  }
  if (depthOf(value) > DESCRIPTOR_DEPTH_MAX)
    return { ok: false, problems: [`it nests deeper than ${DESCRIPTOR_DEPTH_MAX} levels`] };
  const problem = (check ??= compileSchema(ModuleDescriptor))(value);
  if (problem !== undefined) return { ok: false, problems: [problem] };
  const descriptor = value as ModuleDescriptor;
  const problems = consistencyProblems(descriptor);
  return problems.length === 0 ? { ok: true, descriptor } : { ok: false, problems };
}

/** Made at the first use: most programs that import this never check a descriptor. */
let check: SchemaCheck | undefined;

/** What a schema cannot say: names that must be unique, references and templates that must fit. */
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
  for (const endpoint of descriptor.endpoints)
    for (const route of endpoint.routes) {
      const template = endpoint.prefix + route.path;
      const inTemplate = [...template.matchAll(/\{([^/{}]*)\}/g)].map((match) => match[1]);
      const declared = route.parameters.map((parameter) => parameter.name);
      if (inTemplate.join('/') !== declared.join('/'))
        problems.push(
          `route ${route.method} ${template}: the template has the parameters ` +
            `[${inTemplate.join(', ')}], the route declares [${declared.join(', ')}]`,
        );
    }
  problems.push(...danglingReferences(descriptor));
  return problems.slice(0, 10);
}

/** Without recursion, since the depth is what is in doubt. */
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

function danglingReferences(descriptor: ModuleDescriptor): string[] {
  const missing = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('$ref' in node && typeof node.$ref === 'string') {
      const name = node.$ref.slice('#/types/'.length);
      if (!Object.hasOwn(descriptor.types, name)) missing.add(name);
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(descriptor);
  return [...missing].map((name) => `type '${name}' is referred to and not declared`);
}
