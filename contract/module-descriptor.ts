// ModuleDescriptor: what a module says of itself, as JSON in the custom section `svc:descriptor`.
// It comes from the module and is as untrusted as the rest of it: parse it with
// `parseModuleDescriptor`, which refuses whatever the schema does not know.
import schema from './generated/module-descriptor.schema.json' with { type: 'json' };
import type { ModuleDescriptor } from './module-descriptor-schema.ts';
import { compileSchema, type SchemaCheck } from './schema-check.ts';

/** The custom section of the component that holds the descriptor. */
export const DESCRIPTOR_SECTION = 'svc:descriptor';
/** The largest descriptor that is read, in bytes. */
export const DESCRIPTOR_BYTES_MAX = 1024 * 1024;
/** How deep objects and lists may nest, so that no descriptor can exhaust a reader's stack. */
const DESCRIPTOR_DEPTH_MAX = 64;
/** Version of the WIT package `svc:runtime` that this build speaks. */
export const PROTOCOL_VERSION = '0.1.0';

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
  const problem = (check ??= compileSchema(schema))(value);
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
