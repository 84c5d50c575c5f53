// EmbeddedEndpoints: implements the engine's endpoints for the routes of TypeScript endpoints. Requests are
// served concurrently, each by one call of its handler. An error that a handler throws fails only its
// request; the failure of a call passes through unchanged unless the handler handles it.
//
// Invariant: the body of a request is read only after all checks of its route have let the request pass.
import { principalOf } from './bearer.ts';
import type { GuestEndpoints, HostCalls } from '@svc/model/guest';
import { type CallContext, type Refusal, refusal } from '@svc/model/call';
import type { Body, EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import { callingContext, type ReachableComponents } from './calling-context.ts';
import type { AnyCheck, CheckDefinition } from './check-definition.ts';
import { CodecProblem } from './codec.ts';
import type { EndpointDefinition } from './endpoint-definition.ts';
import { Ok, Refused, refusalOf } from './result.ts';
import { ErrorResponse, Response } from './route-answer.ts';
import { type RouteBody, type RouteDefinition, isOptionalBody } from './route-definition.ts';
import type { CheckRequest, EndpointContext, RouteRequest } from './route-request.ts';
import { RunningHandlers } from './running-handlers.ts';
import { valueOfQuery, valueOfText } from './sent-text.ts';

/** Context of one request; `given` is set to the result of each check in turn. */
interface GivingContext extends EndpointContext {
  given: unknown;
}

interface ServedRoute {
  readonly route: RouteDefinition;
  readonly checks: readonly AnyCheck[];
  /** Subject in the messages of the route's faults. */
  readonly source: string;
}

export class EmbeddedEndpoints implements GuestEndpoints {
  readonly readsBodies = true;
  readonly #routes: readonly ServedRoute[];
  readonly #reachable: ReachableComponents;
  readonly #hasDetails: boolean;
  readonly #running = new RunningHandlers();

  /** `hasDetails`: whether an error that a handler makes keeps its details. */
  constructor(
    endpoints: readonly EndpointDefinition[],
    reachable: ReachableComponents,
    hasDetails = true,
  ) {
    this.#hasDetails = hasDetails;
    const started = new Map<CheckDefinition, AnyCheck>();
    const start = (check: CheckDefinition): AnyCheck => {
      let running = started.get(check);
      if (running === undefined) started.set(check, (running = check.start()));
      return running;
    };
    this.#routes = endpoints.flatMap(({ name, routes }) =>
      Object.entries(routes).map(([handler, route]) => ({
        route,
        checks: route.checks.map(start),
        source: `handler '${handler}' of endpoint '${name}'`,
      })),
    );
    this.#reachable = reachable;
  }

  handle(
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Promise<EndpointResponse | Refusal> {
    const served = this.#routes[request.route]!;
    return this.#running.run(served.source, () => this.#serve(served, context, request, calls));
  }

  /** Fails the running requests. */
  close(): void {
    this.#running.close();
  }

  async #serve(
    { route, checks }: ServedRoute,
    context: CallContext,
    request: EndpointRequest,
    calls: HostCalls,
  ): Promise<EndpointResponse | Refusal> {
    const known: GivingContext = Object.assign(callingContext(context, calls, this.#reachable), {
      given: null,
      scopeIdempotencyKey: (scope: string) =>
        calls.scopeKeys?.(JSON.stringify([scope, ...request.parameters])),
    });
    let checked: CheckRequest | undefined;
    for (const check of checks) {
      checked ??= checkRequestOf(route, request);
      const answer = await check(checked, known);
      const end = this.#endOf(answer);
      if (end !== undefined) return end;
      known.given = answer instanceof Ok ? (answer.value as unknown) : answer;
    }
    const body = request.body.kind === 'unread' ? await request.body.read() : request.body;
    if (body.kind === 'response' || body.kind === 'refusal') return body;
    let given: RouteRequest<unknown, unknown, unknown>;
    try {
      given = requestOf(route, request, body);
    } catch (error) {
      if (error instanceof CodecProblem) return refusal('BAD_REQUEST', error.message);
      throw error;
    }
    return this.#answerOf(route, await route.handle(given, known));
  }

  /**
   * Returns the response or refusal with which a check ends the request; undefined if the request goes on. Throws if the
   * check returned nothing, so that a forgotten `return` admits nobody, or a response with a value.
   */
  #endOf(answer: unknown): EndpointResponse | Refusal | undefined {
    if (answer instanceof Refused) return refusalOf(answer);
    if (answer instanceof ErrorResponse) return this.#errorOf(answer);
    if (answer instanceof Response) {
      if (answer.value !== null)
        throw new Error('a check answers no value: a refusal, an error, or respond(null, …)');
      const { status = 204, headers } = answer;
      return { kind: 'response', status, headers, body: { kind: 'none' } };
    }
    if (answer === undefined)
      throw new Error('a check answered nothing: return what the handler is given, or a refusal');
    return undefined;
  }

  #answerOf({ reply, answers }: RouteDefinition, answer: unknown): EndpointResponse | Refusal {
    if (answer instanceof Refused) return refusalOf(answer);
    if (answer instanceof ErrorResponse) return this.#errorOf(answer);
    const response = answer instanceof Response ? answer : new Response(answer);
    const value: unknown = response.value instanceof Ok ? response.value.value : response.value;
    const plain = answers?.find((one) => one < 300) ?? (reply === undefined ? 204 : 200);
    const { status = plain, headers } = response;
    return { kind: 'response', status, headers, body: replyBody(reply, value) };
  }

  #errorOf({ status, headers, error, details }: ErrorResponse): EndpointResponse {
    const text = JSON.stringify({ status, error, details: this.#hasDetails ? details : undefined });
    return { kind: 'response', status, headers, body: { kind: 'json', text } };
  }
}

function checkRequestOf({ method, path, parameters }: RouteDefinition, request: EndpointRequest) {
  return {
    ...anyRequestOf(request),
    parameter(name) {
      const text = request.parameters[parameters.findIndex((one) => one.name === name)];
      if (text === undefined)
        throw new Error(`the route ${method} ${path} has no parameter '${name}'`);
      return text;
    },
  } satisfies CheckRequest;
}

function anyRequestOf({ headers, query, caller }: EndpointRequest) {
  return {
    queryText: query,
    headers,
    header(name: string) {
      const wanted = name.toLowerCase();
      return headers.find(([known]) => known === wanted)?.[1];
    },
    caller,
    principal: principalOf(headers),
  };
}

/** Decodes the request. Throws CodecProblem, which has the problems of all its parts. */
function requestOf(
  route: RouteDefinition,
  request: EndpointRequest,
  given: Body,
): RouteRequest<unknown, unknown, unknown> {
  const problems: string[] = [];
  const decoded = (decode: () => unknown): unknown => {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof CodecProblem)) throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const parameters = Object.fromEntries(
    route.parameters.map(({ name, codec }, index) => {
      const value = valueOfText(request.parameters[index]!, codec.shape);
      return [name, decoded(() => codec.decodeValue(value, `path parameter '${name}'`))];
    }),
  );
  const sent = route.query && valueOfQuery(request.query, route.query.shape);
  problems.push(...(sent?.problems ?? []));
  const query = sent && decoded(() => route.query?.decodeValue(sent.value, 'query'));
  const body = decoded(() => bodyOf(route.body, given));
  if (problems.length > 0) throw new CodecProblem(problems.join('; '));
  return { parameters, query, body, ...anyRequestOf(request) };
}

function bodyOf(wanted: RouteBody | undefined, body: Body): unknown {
  switch (wanted?.kind) {
    case undefined:
      return undefined;
    case 'json':
      if (body.kind === 'none' && isOptionalBody(wanted))
        return wanted.codec.decodeValue(null, 'body');
      if (body.kind !== 'json') throw new CodecProblem('body: must be JSON');
      return wanted.codec.decode(body.text, 'body');
    case 'text':
      if (body.kind === 'text' || body.kind === 'json') return body.text;
      throw new CodecProblem('body: must be text');
    case 'bytes':
      if (body.kind === 'bytes') return body.bytes;
      if (body.kind === 'none') return new Uint8Array();
      throw new CodecProblem('body: must be bytes');
  }
}

function replyBody(reply: RouteBody | undefined, value: unknown): Body {
  switch (reply?.kind) {
    case undefined:
      return { kind: 'none' };
    case 'json':
      return { kind: 'json', text: reply.codec.encode(value, 'reply') };
    case 'text':
      if (typeof value !== 'string') throw new CodecProblem('reply: must be a string');
      return { kind: 'text', text: value.toWellFormed() };
    case 'bytes':
      if (!(value instanceof Uint8Array)) throw new CodecProblem('reply: must be a Uint8Array');
      return { kind: 'bytes', bytes: value };
  }
}
