// RefusedDescriptor: reports the parts of a module's descriptor that a host would refuse, at their declarations, so
// that a host accepts the descriptor of every module that is built. The checks of declarations and types find most
// mistakes earlier; this check finds names and counts beyond the limits of a descriptor.
import type { Range } from 'assemblyscript';
import {
  DESCRIPTOR_BYTES_MAX,
  parseModuleDescriptor,
  routeTemplate,
  type ModuleDescriptor,
} from '@svc/contract';
import type { Problem } from './build-error.ts';
import type { Declarations } from './declarations.ts';
import type { EndpointClass } from './endpoint-declaration.ts';
import { problemAt } from './syntax.ts';

const HELP =
  'a name has at most 100 ASCII letters, digits, _ and $; a path 1,000 characters and 64 segments, none of them empty, . or ..; a module 1,000 routes';

/** Returns the problems. `endpoints`: in the order of the descriptor. */
export function descriptorProblems(
  descriptor: ModuleDescriptor,
  endpoints: readonly EndpointClass[],
  { data, enums }: Declarations,
): Problem[] {
  const text = JSON.stringify(descriptor);
  const bytes = Buffer.byteLength(text);
  if (bytes > DESCRIPTOR_BYTES_MAX)
    return [
      {
        message: `the descriptor of the module has ${bytes} bytes, and a host reads ${DESCRIPTOR_BYTES_MAX}`,
        help: 'divide the module into several, each with a part of the components and routes',
      },
    ];
  const result = parseModuleDescriptor(text);
  if (result.ok) return [];
  const types = new Map<string, Range>(
    [...data.values(), ...enums.values()].map(({ name, declaration }) => [
      name,
      declaration.name.range,
    ]),
  );
  return result.problems.map((problem) => {
    const message = `a host would refuse the module: ${problem}`;
    const range = routeRange(problem, endpoints) ?? types.get(typeName(problem));
    return range === undefined ? { message, help: HELP } : problemAt(range, message, HELP);
  });
}

/**
 * Returns the location of the endpoint or route that a problem begins with: `/endpoints/0/routes/1/path: …` or
 * `route GET /carts: …`; undefined for other problems.
 */
function routeRange(problem: string, endpoints: readonly EndpointClass[]): Range | undefined {
  const [, endpointAt, routeAt] = /^\/endpoints\/(\d+)(?:\/routes\/(\d+))?/.exec(problem) ?? [];
  const endpoint = endpointAt === undefined ? undefined : endpoints[Number(endpointAt)];
  if (endpoint !== undefined)
    return (endpoint.routes[Number(routeAt)]?.method ?? endpoint.declaration).name.range;
  const label = /^route (\S+ [^ ]+): /.exec(problem)?.[1];
  for (const { prefix, routes } of endpoints)
    for (const { httpMethod, path, method } of routes)
      if (`${httpMethod} ${routeTemplate(prefix, path)}` === label) return method.name.range;
  return undefined;
}

/** Returns `Name` of `/types: may not have this name: "Name"`; '' for other problems. */
function typeName(problem: string): string {
  return /^\/types: .*"(.*)"$/.exec(problem)?.[1] ?? '';
}
