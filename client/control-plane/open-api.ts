// OpenApi: the document of OpenAPI 3.1 that describes the routes, made from their table.
import { BODY_BYTES_MAX } from './vocabularies.ts';
import { failure } from './bodies.ts';
import { PARAMETERS } from './identifiers.ts';
import { parametersOf, refusalsOf, successOf, type Caller, type Route } from './route.ts';
import { ROUTES } from './routes.ts';

type Json = Readonly<Record<string, unknown>>;

/** Words for the callers of a route. */
export const CALLERS: Readonly<Record<Caller, string>> = {
  anyone: 'anyone, without a token',
  caller: 'every caller with a valid token',
  reader: 'members of the organization, and platform administrators',
  member: "members of the project's organization",
  owner: 'owners of the organization',
  administrator: 'platform administrators',
};

/** Groups of routes, by the first segment of their paths, with what they are about. */
const TAGS: Readonly<Record<string, string>> = {
  auth: 'Who the caller is, and how to get a token.',
  organizations: 'Organizations, their members and their invitations.',
  projects: 'Projects of organizations.',
  services: 'Services of projects: what is desired of each, and what runs.',
};
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Key of the write, of visible ASCII characters and new for each write. A request that is sent again with the same key changes nothing twice. The key counts for one caller, method and path.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};
const RETRY_AFTER = {
  'Retry-After': {
    required: true,
    description: 'Seconds after which the request may be sent again.',
    schema: { type: 'integer', minimum: 0 },
  },
};
const RATE_LIMIT = {
  'RateLimit-Limit': {
    description: 'Requests that the caller may send in a minute, where this limit is exceeded.',
    schema: { type: 'integer', minimum: 1 },
  },
  'RateLimit-Remaining': {
    description: 'Requests that the caller may send now.',
    schema: { type: 'integer', minimum: 0 },
  },
  'RateLimit-Reset': {
    description: 'Seconds after which the caller may send one request.',
    schema: { type: 'integer', minimum: 0 },
  },
};
/** Headers of refusals, by status. */
const REFUSAL_HEADERS: Readonly<Record<number, Json>> = {
  401: {
    'WWW-Authenticate': {
      required: true,
      description: 'Begins with `Bearer`; it has `error` if a token was sent.',
      schema: { type: 'string' },
    },
  },
  429: { ...RETRY_AFTER, ...RATE_LIMIT },
  503: RETRY_AFTER,
};

/** Statuses that refuse for the same reason on every route that has them. */
export const COMMON_REFUSALS: ReadonlySet<number> = new Set([401, 413, 422, 429, 500, 503, 504]);

/** Refusals that are of no route: of the syntax of a request, of its headers, or of a large body where none belongs. */
const OTHER_REFUSAL = 'OtherRefusal';
const OTHER_REASON =
  'any other refusal, such as 431 for headers that are too large; from 400 to 499 nothing was done';

/** Returns the document. `version`: version of the control plane; `serverUrl`: its base URL, if it is known. */
export function openApiDocument(version: string, serverUrl?: string): Json {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, route] of Object.entries<Route>(ROUTES)) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(name, route, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc control plane',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: `Organizations, projects and services. Bodies are JSON of at most ${BODY_BYTES_MAX} bytes. Answers may have further fields in a later version.`,
    },
    servers: [{ url: serverUrl ?? '/' }],
    security: [{ token: [] }],
    tags: Object.entries(TAGS).map(([tag, words]) => ({ name: tag, description: words })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Access token of the identity provider that `GET /auth` names.',
        },
      },
      responses: commonRefusals(schemas),
      schemas: schemas.all(),
    },
  };
}

function operationOf(name: string, route: Route, schemas: Schemas): Json {
  const { summary, description, who, path, body, query = {}, method } = route;
  const words = [`For ${CALLERS[who]}.`, ...(description === undefined ? [] : [description])];
  const parameters = [
    ...parametersOf(route).map((parameter) => ({
      name: parameter,
      in: 'path',
      required: true,
      ...parameterOf(PARAMETERS[parameter]),
    })),
    ...Object.entries(query).map(([parameter, schema]) => ({
      name: parameter,
      in: 'query',
      required: false,
      ...(schema['type'] === 'boolean' ? { allowEmptyValue: true } : {}),
      ...parameterOf(schema),
    })),
    ...(method === 'GET' ? [] : [IDEMPOTENCY_KEY]),
  ];
  return {
    operationId: name,
    tags: [path.split('/')[1]],
    summary,
    description: words.join(' '),
    ...(who === 'anyone' ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: route.isBodyOptional !== true,
            content: contentOf(body, schemas),
          },
        }),
    responses: responsesOf(route, schemas),
  };
}

function responsesOf(route: Route, schemas: Schemas): Json {
  const { answer } = route;
  const success =
    answer === undefined
      ? { description: 'It is done.' }
      : { description: sentence(answer['description']), content: contentOf(answer, schemas) };
  const refusals = [...refusalsOf(route)].map(([status, reason]) => [
    status,
    COMMON_REFUSALS.has(status)
      ? { $ref: `#/components/responses/Refusal${status}` }
      : refusalOf(reason, schemas, REFUSAL_HEADERS[status]),
  ]);
  return {
    [successOf(route)]: success,
    ...(Object.fromEntries(refusals) as Json),
    default: { $ref: `#/components/responses/${OTHER_REFUSAL}` },
  };
}

/** Returns the refusals that are the same for all routes that have them, by their names. */
function commonRefusals(schemas: Schemas): Json {
  const all = new Map<number, string>();
  for (const route of Object.values<Route>(ROUTES))
    for (const [status, reason] of refusalsOf(route)) all.set(status, reason);
  const common = Object.fromEntries(
    [...COMMON_REFUSALS].map((status) => [
      `Refusal${status}`,
      refusalOf(all.get(status)!, schemas, REFUSAL_HEADERS[status]),
    ]),
  );
  return { ...common, [OTHER_REFUSAL]: refusalOf(OTHER_REASON, schemas) };
}

function refusalOf(reason: string, schemas: Schemas, headers?: Json): Json {
  return {
    description: sentence(reason),
    ...(headers === undefined ? {} : { headers }),
    content: contentOf(failure, schemas),
  };
}

/** Returns description and schema of a parameter, whose description is not repeated in the schema. */
function parameterOf({ description, ...schema }: Json): Json {
  return { description: sentence(description), schema };
}

function contentOf(schema: Json, schemas: Schemas): Json {
  return { 'application/json': { schema: schemas.reference(schema) } };
}

function sentence(fragment: unknown): string {
  const text = String(fragment);
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
}

/** The schemas with a title, which the document has once, by their titles. */
class Schemas {
  readonly #byTitle = new Map<string, Json>();

  all(): Json {
    return Object.fromEntries([...this.#byTitle].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns a schema in which each schema with a title is a reference. */
  reference(schema: Json): Json {
    const { title, ...untitled } = schema;
    if (typeof title !== 'string') return this.#inner(schema);
    if (!this.#byTitle.has(title)) {
      // The title is taken before the parts are read, so that its order does not depend on them.
      this.#byTitle.set(title, {});
      this.#byTitle.set(title, this.#inner(untitled));
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #inner(schema: Json): Json {
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => {
        if (keyword === 'items') return [keyword, this.reference(value as Json)];
        if (keyword === 'anyOf')
          return [keyword, (value as readonly Json[]).map((each) => this.reference(each))];
        if (keyword !== 'properties') return [keyword, value];
        const properties = Object.entries(value as Readonly<Record<string, Json>>);
        return [
          keyword,
          Object.fromEntries(properties.map(([name, each]) => [name, this.reference(each)])),
        ];
      }),
    );
  }
}
