// OpenApiResponses: the responses of a route in an OpenAPI document: those of its handler, its refusals, and those that the
// runtime gives in its place.
import { bearerOf } from './bearer-rule.ts';
import { limitsOf } from './limit-rule.ts';
import type { EndpointDescriptor, RouteDescriptor } from './module-descriptor-schema.ts';
import type { SchemaWriter } from './open-api-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

const MEDIA_TYPES = {
  json: 'application/json',
  text: 'text/plain',
  bytes: 'application/octet-stream',
} as const;
/** Failures that the runtime answers in place of a handler; `default` covers the handler's refusals too. */
const FAILURES: Readonly<Record<string, string>> = {
  400: 'The request does not fit',
  401: 'The caller does not show who it is',
  403: 'The caller is not admitted, or lacks a role or a scope',
  413: 'The body is too large',
  415: 'The body is of another media type',
  422: 'The idempotency key was used for another request, or what would be stored is too large',
  429: 'More requests than a limit of the route lets through',
  500: 'The service failed to handle the request; the error id leads to its log',
  503: 'The service cannot serve it at present; nothing was done',
  504: 'The service took too long',
  default: 'The handler refuses the request, or any other failure',
};
const RETRY_AFTER: Json = {
  'Retry-After': {
    description: 'Seconds after which the request may be sent again',
    schema: { type: 'integer', minimum: 0 },
  },
};
const RATE_LIMIT: Json = {
  'RateLimit-Limit': {
    description: 'Requests that the limit lets through at once',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Remaining': {
    description: 'Requests that it lets through now',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': {
    description: 'Seconds until it lets through more',
    schema: { type: 'integer', minimum: 1 },
  },
};
/** Headers of failures, by status. */
const FAILURE_HEADERS: Readonly<Record<number, Json>> = {
  401: {
    'WWW-Authenticate': {
      description: 'How the caller shows who it is',
      schema: { type: 'string' },
    },
  },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};
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
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Returns whether requests with the method may have an idempotency key. */
export function isWrite(method: RouteDescriptor['method']): boolean {
  return WRITES.has(method);
}

export interface SharedFailureUse {
  /** Whether a route has a security scheme. */
  readonly hasSecurity: boolean;
  /** Whether a route has a limit of requests. */
  readonly hasLimits: boolean;
}

/** Returns the responses that routes refer to by name. */
export function sharedFailures(
  writer: SchemaWriter,
  { hasSecurity, hasLimits }: SharedFailureUse,
): Json {
  const shared = Object.entries(FAILURES)
    .filter(([status]) => hasSecurity || status !== '401')
    .filter(([status]) => hasLimits || status !== '429');
  return Object.fromEntries(
    shared.map(([status, description]) => [
      responseName(status),
      failureOf(status, description, writer, status === '429' ? RATE_LIMIT : {}),
    ]),
  );
}

export function responsesOf(
  endpoint: EndpointDescriptor,
  route: RouteDescriptor,
  writer: SchemaWriter,
): Json {
  const failures = failuresOf(endpoint, route).map((status) => [
    status,
    { $ref: `#/components/responses/${responseName(status)}` },
  ]);
  return {
    ...Object.fromEntries(failures),
    ...ownResponses(route, writer),
    ...declaredRefusals(route, writer),
  };
}

/** Returns the statuses with which the runtime may answer a route. */
function failuresOf(endpoint: EndpointDescriptor, route: RouteDescriptor): readonly string[] {
  const { method, parameters, query = [], body, security } = route;
  const { access = endpoint.access } = route;
  const bearer = bearerOf(endpoint, route);
  const mayLack = bearer?.roles !== undefined || bearer?.scopes !== undefined;
  const canHaveKey = isWrite(method);
  const isGiven = parameters.length + query.length > 0 || body !== undefined;
  return [
    // A write may have an invalid idempotency key.
    ...(isGiven || canHaveKey ? ['400'] : []),
    ...(security === undefined && bearer === undefined ? [] : ['401']),
    ...(access.allow === 'internet' && !mayLack ? [] : ['403']),
    ...(body === undefined ? [] : ['413']),
    // Raw bytes are accepted with any media type.
    ...(body === undefined || body.kind === 'bytes' ? [] : ['415']),
    ...(canHaveKey ? ['422'] : []),
    ...(limitsOf(endpoint, route).length === 0 ? [] : ['429']),
    '500',
    '503',
    '504',
    'default',
  ];
}

/** Returns the refusals that the route declares. For the same status, its own words replace those about the runtime. */
function declaredRefusals({ refusals = [] }: RouteDescriptor, writer: SchemaWriter): Json {
  return Object.fromEntries(
    refusals.map(({ status, reason }) => [status, failureOf(String(status), reason, writer)]),
  );
}

function failureOf(
  status: string,
  description: string,
  writer: SchemaWriter,
  more: Json = {},
): Json {
  const headers = { ...FAILURE_HEADERS[Number(status)], ...more };
  return {
    description,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: contentOf('json', { $ref: writer.errorReference }),
  };
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

export function bodyContent(
  { kind, schema }: NonNullable<RouteDescriptor['body']>,
  writer: SchemaWriter,
): Json {
  // The handler reads the bytes as JSON by itself.
  if (schema !== undefined) return contentOf('json', writer.schema(schema));
  return contentOf(kind, undefined);
}

function contentOf(kind: keyof typeof MEDIA_TYPES, schema: Json | undefined): Json {
  return { [MEDIA_TYPES[kind]]: schema === undefined ? {} : { schema } };
}

function responseName(status: string): string {
  return status === 'default' ? 'Default' : `Status${status}`;
}
