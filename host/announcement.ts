// What a person reads once a service listens: where it is, its routes, and requests to try.
import type { ModuleDescriptor, RouteDescriptor, TypeSchema } from '@svc/contract';
import { escapeControls } from './log.ts';

interface Announced {
  readonly name: string;
  readonly url: string;
  readonly dataFolder: string;
  readonly pid: number;
  readonly descriptor: ModuleDescriptor;
}

interface ServedRoute extends RouteDescriptor {
  /** The endpoint's prefix and the route's path. */
  readonly template: string;
}

export function announcement({ name, url, dataFolder, pid, descriptor }: Announced): string {
  const routes: ServedRoute[] = descriptor.endpoints.flatMap((endpoint) =>
    endpoint.routes.map((route) => ({ ...route, template: endpoint.prefix + route.path || '/' })),
  );
  const examples = chooseExamples(routes).map((route) => `  ${curlLine(url, route, descriptor)}`);
  return escapeEachLine([
    `${name} is served at ${url} (journal: ${dataFolder}, process: ${pid})`,
    '',
    ...routes.map((route) => `  ${route.method.padEnd(7)} ${route.template}`),
    ...(examples.length === 0 ? [] : ['', 'Try:', ...examples]),
    '',
  ]);
}

/** Three at most: something to send, something to read, and whatever comes next. */
function chooseExamples(routes: readonly ServedRoute[]): ServedRoute[] {
  const first = [
    routes.find((route) => route.body !== undefined),
    routes.find((route) => route.method === 'GET'),
  ].filter((route) => route !== undefined);
  return [...first, ...routes.filter((route) => !first.includes(route))].slice(0, 3);
}

function curlLine(url: string, route: ServedRoute, descriptor: ModuleDescriptor): string {
  let path = route.template;
  for (const { name, schema } of route.parameters)
    path = path.replace(
      `{${name}}`,
      encodeURIComponent(String(sample(schema, name, descriptor, 0))),
    );
  const words = ['curl'];
  if (route.method !== 'GET') words.push('-X', route.method);
  if (route.body?.kind === 'json' && route.body.schema !== undefined) {
    const body = JSON.stringify(sample(route.body.schema, 'value', descriptor, 0));
    words.push('-H', quoted('content-type: application/json'), '-d', quoted(body));
  } else if (route.body?.kind === 'text')
    words.push('-H', quoted('content-type: text/plain'), '-d', quoted('some text'));
  const address = url + path;
  words.push(/[?&{}[\]*!$;'()]/.test(address) ? quoted(address) : address);
  return words.join(' ');
}

const SAMPLE_DEPTH_MAX = 8;

/** A small value of the type; a string is the name of the field that holds it. */
function sample(
  schema: TypeSchema,
  name: string,
  descriptor: ModuleDescriptor,
  depth: number,
): unknown {
  if (depth > SAMPLE_DEPTH_MAX) return null;
  const inner = (type: TypeSchema, field: string) => sample(type, field, descriptor, depth + 1);
  if ('$ref' in schema) {
    const target = descriptor.types[schema.$ref.slice('#/types/'.length)];
    return target === undefined ? null : inner(target, name);
  }
  if ('anyOf' in schema) return inner(schema.anyOf[0], name);
  if ('oneOf' in schema) return inner(schema.oneOf[0]!, name);
  switch (schema.type) {
    case 'string':
      if ('format' in schema && schema.format === 'date-time') return '2030-01-01T00:00:00.000Z';
      if ('contentEncoding' in schema) return 'AQID';
      return schema.enum?.[0] ?? name;
    case 'boolean':
      return true;
    case 'integer':
      return Math.min(Math.max(schema.minimum, 1), schema.maximum);
    case 'number':
      return 1.5;
    case 'null':
      return null;
    case 'array':
      return [inner(schema.items, name)];
    case 'object':
      if (!('properties' in schema)) return {};
      return Object.fromEntries(
        Object.entries(schema.properties).map(([field, type]) => [
          field,
          'const' in type ? type.const : inner(type, field),
        ]),
      );
    default:
      return 1;
  }
}

/** One word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function escapeEachLine(lines: readonly string[]): string {
  return lines.map((line) => `${escapeControls(line)}\n`).join('');
}
