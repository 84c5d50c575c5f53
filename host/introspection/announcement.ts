// Announcement is the text that `svc run` prints once a service listens: its address, its routes, and requests to
// try. Everything but the address comes from the module, and this code runs on the main thread: the text is bounded,
// whatever the module describes, and every line can safely be pasted into a shell.
import type { ModuleDescriptor, RouteDescriptor, TypeSchema } from '@svc/contract';
import { printable } from '@svc/kit/printable';
import { followerCounts } from './follower-counts.ts';

interface Announced {
  readonly name: string;
  readonly url: string;
  /** Where the journal is, for a person. */
  readonly journal: string;
  readonly pid: number;
  readonly descriptor: ModuleDescriptor;
}

interface ServedRoute extends RouteDescriptor {
  /** Prefix of the endpoint, followed by the path of the route. */
  readonly template: string;
}

const ROUTES_SHOWN_MAX = 100;
/** Maximum length of an example in UTF-16 code units; longer examples are left out. */
const LINE_LENGTH_MAX = 1000;

export function announcement({ name, url, journal, pid, descriptor }: Announced): string {
  const routes: ServedRoute[] = descriptor.endpoints.flatMap((endpoint) =>
    endpoint.routes.map((route) => ({ ...route, template: endpoint.prefix + route.path || '/' })),
  );
  const shown = routes.slice(0, ROUTES_SHOWN_MAX);
  const more = routes.length - shown.length;
  const examples = chooseExamples(routes)
    .map((route) => `  ${curlLine(url, route, descriptor)}`)
    .filter((line) => line.length <= LINE_LENGTH_MAX);
  const counts = Object.entries(followerCounts(descriptor)).map(
    ([what, count]) => `${count} ${count === 1 ? what.slice(0, -1) : what}`,
  );
  const lines = [
    `${name} is served at ${url} (journal: ${journal}, process: ${pid})`,
    '',
    ...shown.map((route) => `  ${route.method.padEnd(7)} ${route.template}`),
    ...(more === 0 ? [] : [`  and ${more} more (svc inspect lists them)`]),
    ...(counts.length === 0 ? [] : ['', `  with ${counts.join(', ')} (svc inspect lists them)`]),
    ...(examples.length === 0 ? [] : ['', 'Try:', ...examples]),
    '',
    'npx svc console shows what it does, in a browser.',
    '',
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

/** Chooses at most three routes: one that takes a body, one that reads, and another one. */
function chooseExamples(routes: readonly ServedRoute[]): ServedRoute[] {
  const first = [
    routes.find((route) => route.body !== undefined),
    routes.find((route) => route.method === 'GET'),
  ].filter((route) => route !== undefined);
  const next = routes.find((route) => !first.includes(route));
  const third = routes.find((route) => route !== next && !first.includes(route));
  return [...first, next, third].filter((route) => route !== undefined).slice(0, 3);
}

function curlLine(url: string, route: ServedRoute, descriptor: ModuleDescriptor): string {
  let path = route.template;
  for (const { name, schema } of route.parameters) {
    const text = sampleText(schema, name, descriptor);
    path = path.replace(`{${name}}`, () => encodeURIComponent(text));
  }
  const given = new URLSearchParams();
  for (const { name, schema, required } of route.query ?? [])
    if (required) given.append(name, sampleText(schema, name, descriptor));
  if (given.size > 0) path += `?${given.toString()}`;
  const words = ['curl'];
  if (route.method !== 'GET') words.push('-X', route.method);
  if (route.body?.kind === 'json' && route.body.schema !== undefined) {
    const body = JSON.stringify(new Sampler(descriptor).sample(route.body.schema, 'value'));
    words.push('-H', quoted('content-type: application/json'), '-d', quoted(body));
  } else if (route.body?.kind === 'text')
    words.push('-H', quoted('content-type: text/plain'), '-d', quoted('some text'));
  const address = url + path;
  words.push(/^[A-Za-z0-9/:.,_~%@+=-]+$/.test(address) ? address : quoted(address));
  return words.join(' ');
}

/** Returns a sample of the type as text for a path or a query string. */
function sampleText(schema: TypeSchema, name: string, descriptor: ModuleDescriptor): string {
  const value = new Sampler(descriptor).sample(schema, name);
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
  const text = isPlain ? `${value as string | number | boolean}` : name;
  return text.toWellFormed();
}

const SAMPLE_DEPTH_MAX = 8;
/**
 * Maximum number of values in one sample: a recursive type may contain itself several times, which multiplies the
 * values at each level.
 */
const SAMPLE_VALUES_MAX = 50;

const SAMPLE_TEXTS = {
  'date-time': '2030-01-01T00:00:00.000Z',
  decimal: '12.50',
  duration: 'PT1H30M',
} as const;

/** Makes one small value of a type. */
class Sampler {
  readonly #descriptor: ModuleDescriptor;
  #values = 0;

  constructor(descriptor: ModuleDescriptor) {
    this.#descriptor = descriptor;
  }

  /**
   * Returns a value of the type; null beyond the maximum depth or number of values. A string without a format and an
   * enum is `name`, the name of the field that holds it.
   */
  sample(schema: TypeSchema, name: string, depth = 0): unknown {
    if (depth > SAMPLE_DEPTH_MAX || ++this.#values > SAMPLE_VALUES_MAX) return null;
    const inner = (type: TypeSchema, field: string) => this.sample(type, field, depth + 1);
    if ('$ref' in schema) {
      const { types } = this.#descriptor;
      const target = schema.$ref.slice('#/types/'.length);
      return Object.hasOwn(types, target) ? inner(types[target]!, name) : null;
    }
    if ('anyOf' in schema) return inner(schema.anyOf[0], name);
    if ('oneOf' in schema) return inner(schema.oneOf[0]!, name);
    switch (schema.type) {
      case 'string':
        if (schema.format !== undefined) return SAMPLE_TEXTS[schema.format];
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
        return this.#record(schema.properties, inner);
      default:
        return 1;
    }
  }

  #record(
    properties: Extract<TypeSchema, { readonly properties: unknown }>['properties'],
    inner: (type: TypeSchema, field: string) => unknown,
  ): object {
    const fields = new Map<string, unknown>();
    for (const [field, type] of Object.entries(properties)) {
      if (this.#values >= SAMPLE_VALUES_MAX) break;
      fields.set(field, 'const' in type ? type.const : inner(type, field));
    }
    return Object.fromEntries(fields);
  }
}

/** Quotes a text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
