// Request: what is sent for a call of a route. Nothing is sent for invalid input.
import { descriptorProblems, type DescriptorContext } from '../descriptor/descriptor-problems.ts';
import { sortedProblems, type Problem } from '../descriptor/problem.ts';
import { InvalidRequestError } from './api-error.ts';
import { parametersIn, type Route } from './route.ts';
import { ROUTES, type RouteName } from './routes.ts';
import { schemaProblems } from './schema-problems.ts';

export interface ApiRequest {
  readonly method: Route['method'];
  /** Path and query, below the base URL. */
  readonly target: string;
  /** Undefined: no body. */
  readonly body: string | undefined;
}

/** Input of a call: path parameters and query parameters by their names, and the body. */
export type RouteInput = Readonly<Record<string, unknown>>;

/** The problem of a body that is sent to a route without one. */
export const UNTAKEN_BODY: Problem = { path: '', reason: 'may not be sent: the route takes none' };

/**
 * Returns the request of a call. Throws InvalidRequestError with every problem of the input. `judge`: by default, the schema of
 * the route.
 */
export function requestOf(
  name: string,
  route: Route<string>,
  input: RouteInput,
  judge?: BodyJudge,
): ApiRequest {
  const { body } = input;
  const problems = [
    ...parametersIn(route.path).flatMap((parameter) =>
      segmentProblems(parameter, input[parameter]),
    ),
    ...queryProblems(route, input),
    ...bodyProblems(route, body, judge),
  ];
  if (problems.length > 0) throw new InvalidRequestError(name, sortedProblems(problems));
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    encodeURIComponent(input[parameter] as string),
  );
  return {
    method: route.method,
    target: `${path}${queryOf(route, input)}`,
    body: route.body === undefined || body === undefined ? undefined : JSON.stringify(body),
  };
}

/** Finds the problems of a body that is there. */
export type BodyJudge = (body: unknown) => readonly Problem[];

/**
 * Returns the problems of the body of a request, as both client and server report them. `judge`: by default, the schema of the
 * route.
 */
export function bodyProblems(
  { body: schema, isBodyOptional }: Pick<Route<string>, 'body' | 'isBodyOptional'>,
  body: unknown,
  judge?: BodyJudge,
): readonly Problem[] {
  if (schema === undefined) return body === undefined ? [] : [UNTAKEN_BODY];
  if (body === undefined)
    return isBodyOptional === true ? [] : [{ path: '', reason: 'is missing' }];
  return judge === undefined ? schemaProblems(schema, body) : judge(body);
}

/** Judges the body of a route of the control plane. `context`: what a descriptor has to agree with. */
export function bodyValueProblems(
  name: RouteName,
  body: unknown,
  context: DescriptorContext,
): readonly Problem[] {
  const { body: schema = {} }: Route = ROUTES[name];
  return name === 'applyService' ? descriptorProblems(body, context) : schemaProblems(schema, body);
}

/**
 * Returns why a value cannot be a segment of a path. Clients resolve the segments `.` and `..`, encoded ones too, before
 * they send a path, so such a request would be one of another route.
 */
function segmentProblems(name: string, value: unknown): readonly Problem[] {
  const path = `/${name}`;
  if (typeof value !== 'string') return [{ path, reason: 'is not a text' }];
  if (value === '') return [{ path, reason: 'is empty' }];
  if (value === '.' || value === '..') return [{ path, reason: 'cannot be sent in a path' }];
  return isWellFormed(value) ? [] : [{ path, reason: 'has half of a character' }];
}

/** Returns whether a text has no lone surrogate. */
function isWellFormed(value: string): boolean {
  return !/\p{Surrogate}/u.test(value);
}

function queryProblems({ query = {} }: Route<string>, input: RouteInput): readonly Problem[] {
  return Object.entries(query).flatMap(([name, schema]) =>
    input[name] === undefined
      ? []
      : schemaProblems(schema, input[name]).map(({ reason }) => ({ path: `/${name}`, reason })),
  );
}

function queryOf({ query = {} }: Route<string>, input: RouteInput): string {
  const fields = Object.keys(query).filter(
    (name) => input[name] !== undefined && input[name] !== false,
  );
  if (fields.length === 0) return '';
  const encoded = new URLSearchParams(fields.map((name) => [name, String(input[name])]));
  return `?${encoded.toString()}`;
}
