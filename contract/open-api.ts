// OpenApi: writes the routes of a module as an OpenAPI 3.1 document. It does not check the descriptor, and adds the
// responses that the runtime gives by itself.
import { bearerOf } from './bearer-rule.ts';
import { declaredCors } from './declared-cors.ts';
import { limitsOf } from './limit-rule.ts';
import type {
  EndpointDescriptor,
  ModuleDescriptor,
  RouteDescriptor,
} from './module-descriptor-schema.ts';
import { OpenApiNames } from './open-api-names.ts';
import { bodyContent, isWrite, responsesOf, sharedFailures } from './open-api-responses.ts';
import { SchemaWriter } from './open-api-schemas.ts';
import { SecuritySchemes } from './open-api-security.ts';
import { parseRouteTemplate, routeTemplate, templateShape } from './route-template.ts';
import type { TypeSchema } from './type-schema.ts';

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  /** Address of the service; without one the document names no server. */
  readonly url?: string | undefined;
  /** With `plain`, the body of an error has `status` and `error` and nothing else. Default: `full`. */
  readonly errors?: 'full' | 'plain' | undefined;
}

export type OpenApiDocument = Readonly<Record<string, unknown>>;
type Json = Readonly<Record<string, unknown>>;

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeat with the same key has the first answer, and does nothing again',
  schema: { type: 'string' },
};

export function openApi(
  descriptor: ModuleDescriptor,
  { title, version, url, errors }: OpenApiInfo,
): OpenApiDocument {
  const writer = new SchemaWriter(descriptor, errors);
  const schemes = new SecuritySchemes();
  const paths = pathsOf(descriptor, writer, schemes);
  return {
    openapi: '3.1.0',
    info: { title, version },
    ...(url === undefined ? {} : { servers: [{ url }] }),
    paths,
    components: {
      schemas: writer.schemas(),
      responses: sharedFailures(writer, {
        hasSecurity: schemes.isUsed,
        hasLimits: hasLimits(descriptor),
      }),
      ...schemes.component(),
    },
  };
}

interface Path {
  readonly template: string;
  readonly parameterNames: readonly string[];
  readonly operations: Map<string, Json>;
}

/** Merges templates that differ only in the names of their parameters into one path, under the names of the first. */
function pathsOf(
  { endpoints }: ModuleDescriptor,
  writer: SchemaWriter,
  schemes: SecuritySchemes,
): Json {
  const paths = new Map<string, Path>();
  const operationIds = new OpenApiNames();
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
        ...securityOf(endpoint, route, schemes),
        'x-svc-access': route.access ?? endpoint.access,
        ...limitsMember(endpoint, route),
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

/** Returns the member that says how callers show who they are; an empty object if they need not. */
function securityOf(
  endpoint: EndpointDescriptor,
  route: RouteDescriptor,
  schemes: SecuritySchemes,
): Json {
  const bearer = bearerOf(endpoint, route);
  const required = schemes.required({ security: route.security, bearer });
  return {
    ...(required === undefined ? {} : { security: required }),
    // OpenAPI has no place for roles.
    ...(bearer === undefined ? {} : { 'x-svc-bearer': bearer }),
  };
}

function hasLimits({ endpoints }: ModuleDescriptor): boolean {
  return endpoints.some((endpoint) =>
    endpoint.routes.some((route) => limitsOf(endpoint, route).length > 0),
  );
}

/** Returns the member for the limits of requests, which OpenAPI cannot say; an empty object if there are none. */
function limitsMember(endpoint: EndpointDescriptor, route: RouteDescriptor): Json {
  const limits = limitsOf(endpoint, route);
  return limits.length === 0 ? {} : { 'x-svc-limits': limits };
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
    ...query.map(({ name, schema, required, default: fallback, flag }) => ({
      name,
      in: 'query',
      required,
      ...(flag === true ? { allowEmptyValue: true } : {}),
      schema: {
        ...writer.schema(withoutNull(schema)),
        ...(fallback === undefined ? {} : { default: fallback }),
      },
    })),
    ...(isWrite(method) ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    ...(all.length === 0 ? {} : { parameters: all }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: isRequired(body), content: bodyContent(body, writer) } }),
    responses: responsesOf(endpoint, route, writer),
  };
}

/** Returns the type without null, which a query string expresses by leaving the parameter out. */
function withoutNull(schema: TypeSchema): TypeSchema {
  if (!('anyOf' in schema)) return schema;
  const { description, anyOf } = schema;
  return description === undefined ? anyOf[0] : { ...anyOf[0], description };
}

/** Returns whether the body is required: one of text or of bytes without a type is empty if it is left out. */
function isRequired({ kind, schema, optional }: NonNullable<RouteDescriptor['body']>): boolean {
  return (kind === 'json' || schema !== undefined) && optional !== true;
}
