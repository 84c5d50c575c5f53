// OpenApi: writes the routes of a module as an OpenAPI 3.1 document. It does not check the descriptor, and adds the
// responses that the runtime gives by itself.
import { declaredCors } from './declared-cors.ts';
import type {
  EndpointDescriptor,
  ModuleDescriptor,
  RouteDescriptor,
} from './module-descriptor-schema.ts';
import { parseRouteTemplate, routeTemplate, templateShape } from './route-template.ts';
import type { TypeSchema } from './type-schema.ts';

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  /** Address of the service; without one the document names no server. */
  readonly url?: string | undefined;
}

export type OpenApiDocument = Readonly<Record<string, unknown>>;
type Json = Readonly<Record<string, unknown>>;

const REFERENCE_PREFIX = '#/types/';
const MEDIA_TYPES = {
  json: 'application/json',
  text: 'text/plain',
  bytes: 'application/octet-stream',
} as const;
/** Failures that the runtime answers in place of a handler; `default` covers the handler's refusals too. */
const FAILURES: Readonly<Record<string, string>> = {
  400: 'The request does not fit',
  403: 'The caller is not admitted',
  413: 'The body is too large',
  415: 'The body is of another media type',
  422: 'The idempotency key was used for another request, or what would be stored is too large',
  500: 'The service failed to handle the request; the error id leads to its log',
  503: 'The service cannot serve it at present; nothing was done',
  504: 'The service took too long',
  default: 'The handler refuses the request, or any other failure',
};
/** The body of every failure. */
const ERROR_SCHEMA: Json = {
  type: 'object',
  properties: {
    status: { type: 'integer' },
    error: { type: 'string' },
    details: { description: 'Of a refusal, for programs' },
    errorId: { type: 'string', description: 'Of a failure, as in the log of the service' },
  },
  required: ['status', 'error'],
};
const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeat with the same key has the first answer, and does nothing again',
  schema: { type: 'string' },
};
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Descriptions of a handler's own responses, by status. */
const ANSWERS: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted, and not done yet',
  204: 'Done; there is nothing to say',
  301: 'Moved for good',
  302: 'Found elsewhere',
  303: 'See another address',
  304: 'Not modified',
  307: 'Moved for now',
  308: 'Moved for good',
};
const WITHOUT_CONTENT = new Set([204, 205, 304]);

export function openApi(
  descriptor: ModuleDescriptor,
  { title, version, url }: OpenApiInfo,
): OpenApiDocument {
  const writer = new SchemaWriter(descriptor);
  return {
    openapi: '3.1.0',
    info: { title, version },
    ...(url === undefined ? {} : { servers: [{ url }] }),
    paths: pathsOf(descriptor, writer),
    components: {
      schemas: writer.schemas(),
      responses: Object.fromEntries(
        Object.entries(FAILURES).map(([status, description]) => [
          responseName(status),
          { description, content: contentOf('json', { $ref: writer.errorReference }) },
        ]),
      ),
    },
  };
}

interface Path {
  readonly template: string;
  readonly parameterNames: readonly string[];
  readonly operations: Map<string, Json>;
}

/** Merges templates that differ only in the names of their parameters into one path, under the names of the first. */
function pathsOf({ endpoints }: ModuleDescriptor, writer: SchemaWriter): Json {
  const paths = new Map<string, Path>();
  const operationIds = new Names();
  for (const endpoint of endpoints)
    for (const route of endpoint.routes) {
      const template = routeTemplate(endpoint.prefix, route.path);
      const parsed = parseRouteTemplate(template);
      const shape = parsed.ok ? templateShape(parsed.segments) : template;
      let path = paths.get(shape);
      if (path === undefined) {
        const parameterNames = route.parameters.map(({ name }) => name);
        paths.set(shape, (path = { template, parameterNames, operations: new Map() }));
      }
      path.operations.set(route.method.toLowerCase(), {
        operationId: operationIds.unique(`${endpoint.name}_${route.handler}`),
        tags: [endpoint.name],
        summary: route.summary ?? wordsOf(route.handler),
        ...(route.description === undefined ? {} : { description: route.description }),
        ...operation(endpoint, route, path.parameterNames, writer),
        'x-svc-access': route.access ?? endpoint.access,
        ...corsOf(endpoint, route),
      });
    }
  return Object.fromEntries(
    [...paths.values()].map(({ template, operations }) => [
      template,
      Object.fromEntries(operations),
    ]),
  );
}

/** Returns the member for the origins whose pages may call if the operator allows it; an empty object if none may. */
function corsOf(endpoint: EndpointDescriptor, route: RouteDescriptor): Json {
  const cors = declaredCors(endpoint, route);
  return cors === undefined ? {} : { 'x-svc-cors': cors };
}

/** Returns the words of a handler's name: `addItem` → `Add item`. */
function wordsOf(handler: string): string {
  const words = handler
    .split(/[_$]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((word) => word !== '')
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()));
  const text = words.join(' ');
  return text === '' ? handler : text.charAt(0).toUpperCase() + text.slice(1);
}

function operation(
  endpoint: EndpointDescriptor,
  route: RouteDescriptor,
  names: readonly string[],
  writer: SchemaWriter,
): Json {
  const { method, parameters, query = [], body } = route;
  const all = [
    ...parameters.map(({ schema }, at) => ({
      name: names[at]!,
      in: 'path',
      required: true,
      schema: writer.schema(schema),
    })),
    ...query.map(({ name, schema, required, default: fallback }) => ({
      name,
      in: 'query',
      required,
      schema: {
        ...writer.schema(withoutNull(schema)),
        ...(fallback === undefined ? {} : { default: fallback }),
      },
    })),
    ...(WRITES.has(method) ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: isRequired(body), content: bodyContent(body, writer) } }),
    responses: {
      ...Object.fromEntries(
        failuresOf(endpoint, route).map((status) => [
          status,
          { $ref: `#/components/responses/${responseName(status)}` },
        ]),
      ),
      ...ownResponses(route, writer),
    },
  };
}

/** Returns the type without null, which a query string expresses by leaving the parameter out. */
function withoutNull(schema: TypeSchema): TypeSchema {
  if (!('anyOf' in schema)) return schema;
  const { description, anyOf } = schema;
  return description === undefined ? anyOf[0] : { ...anyOf[0], description };
}

/** Returns the statuses with which the runtime may answer a route. No descriptor lists a handler's own refusals. */
function failuresOf(endpoint: EndpointDescriptor, route: RouteDescriptor): readonly string[] {
  const { method, parameters, query = [], body, access = endpoint.access } = route;
  const isWrite = WRITES.has(method);
  const isGiven = parameters.length + query.length > 0 || body !== undefined;
  return [
    // A write may have an invalid idempotency key.
    ...(isGiven || isWrite ? ['400'] : []),
    ...(access.allow === 'internet' ? [] : ['403']),
    ...(body === undefined ? [] : ['413']),
    // Raw bytes are accepted with any media type.
    ...(body === undefined || body.kind === 'bytes' ? [] : ['415']),
    ...(isWrite ? ['422'] : []),
    '500',
    '503',
    '504',
    'default',
  ];
}

/** Returns whether the body is required: a text or bytes body that is left out is empty. */
function isRequired({ kind, optional }: NonNullable<RouteDescriptor['body']>): boolean {
  return kind === 'json' && optional !== true;
}

/** Returns the handler's responses. A failure that it declares may also be one of the runtime's. */
function ownResponses(
  { reply, answers = [reply === undefined ? 204 : 200] }: RouteDescriptor,
  writer: SchemaWriter,
): Json {
  return Object.fromEntries(
    answers.map((status) => [
      String(status),
      {
        description: ANSWERS[status] ?? FAILURES[status] ?? `Answered with ${status}`,
        ...ownContent(status, reply, writer),
      },
    ]),
  );
}

function ownContent(status: number, reply: RouteDescriptor['reply'], writer: SchemaWriter): Json {
  if (WITHOUT_CONTENT.has(status)) return {};
  if (status < 400) return reply === undefined ? {} : { content: bodyContent(reply, writer) };
  const error = { $ref: writer.errorReference };
  if (reply === undefined) return { content: contentOf('json', error) };
  if (reply.kind !== 'json' || reply.schema === undefined)
    return { content: { ...contentOf('json', error), ...bodyContent(reply, writer) } };
  return { content: contentOf('json', { anyOf: [writer.schema(reply.schema), error] }) };
}

function bodyContent(
  { kind, schema }: NonNullable<RouteDescriptor['body']>,
  writer: SchemaWriter,
): Json {
  return contentOf(kind, schema === undefined ? undefined : writer.schema(schema));
}

function contentOf(kind: keyof typeof MEDIA_TYPES, schema: Json | undefined): Json {
  return { [MEDIA_TYPES[kind]]: schema === undefined ? {} : { schema } };
}

function responseName(status: string): string {
  return status === 'default' ? 'Default' : `Status${status}`;
}

/** Writes the types that routes refer to as schemas of components. All other types of the descriptor are left out. */
class SchemaWriter {
  readonly errorReference: string;
  readonly #types: ModuleDescriptor['types'];
  /** Type → its key among the components. */
  readonly #keys: ReadonlyMap<string, string>;
  readonly #errorKey: string;
  /** Names of the types that were referred to so far. */
  readonly #referred = new Set<string>();

  constructor({ types }: ModuleDescriptor) {
    const names = new Names();
    this.#types = types;
    this.#keys = new Map(
      Object.keys(types).map((name) => [name, names.unique(componentKey(name))]),
    );
    this.#errorKey = names.unique('Error');
    this.errorReference = `#/components/schemas/${this.#errorKey}`;
  }

  /**
   * Returns the schemas of the types that were referred to, directly or not. Call it after everything else is
   * written.
   */
  schemas(): Json {
    const schemas: [key: string, schema: Json][] = [];
    // Iterating a set also visits the elements that are added meanwhile.
    for (const name of this.#referred) {
      const type = this.#types[name];
      if (type !== undefined)
        schemas.push([this.#keys.get(name)!, { title: name, ...this.schema(type) }]);
    }
    return Object.fromEntries([...schemas, [this.#errorKey, ERROR_SCHEMA]]);
  }

  schema(type: TypeSchema): Json {
    if ('$ref' in type) return { ...type, $ref: this.#reference(type.$ref) };
    if ('anyOf' in type) return { ...type, anyOf: type.anyOf.map((one) => this.schema(one)) };
    if ('oneOf' in type)
      return {
        ...type,
        oneOf: type.oneOf.map((one) => this.schema(one)),
        discriminator: { ...type.discriminator, mapping: this.#mapping(type.oneOf) },
      };
    if (type.type === 'array') return { ...type, items: this.schema(type.items) };
    if (type.type !== 'object') return type;
    if ('additionalProperties' in type)
      return { ...type, additionalProperties: this.schema(type.additionalProperties) };
    const properties = Object.entries(type.properties).map(([name, property]) => [
      name,
      'const' in property ? property : this.schema(property),
    ]);
    const { aliases, ...plain } = type;
    return {
      ...plain,
      properties: Object.fromEntries(properties) as Json,
      // JSON Schema has no keyword for aliases.
      ...(aliases === undefined ? {} : { 'x-svc-aliases': aliases }),
    };
  }

  /** Maps the tag of each case to a reference to the case's schema. */
  #mapping(cases: readonly { readonly $ref: string }[]): Json {
    const tagged = cases.flatMap(({ $ref }) => {
      const type = this.#types[nameIn($ref)];
      const tag = type !== undefined && 'properties' in type ? type.properties['type'] : undefined;
      return tag !== undefined && 'const' in tag ? [[tag.const, this.#reference($ref)]] : [];
    });
    return Object.fromEntries(tagged) as Json;
  }

  #reference(reference: string): string {
    const name = nameIn(reference);
    this.#referred.add(name);
    return `#/components/schemas/${this.#keys.get(name)!}`;
  }
}

/** Creates names that are unique. */
class Names {
  readonly #taken = new Set<string>();

  /** Returns the name itself, or the name with a number behind it. */
  unique(name: string): string {
    let unique = name;
    for (let count = 2; this.#taken.has(unique); count++) unique = `${name}_${count}`;
    this.#taken.add(unique);
    return unique;
  }
}

function nameIn(reference: string): string {
  return reference.slice(REFERENCE_PREFIX.length);
}

/** Replaces characters that the key of a component may not have: `Page<Entry>` becomes `Page_Entry`. */
function componentKey(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9._-]+/g, '_').replace(/(?<=.)_$/, '');
}
