// What the handler of a route is given: the request by its types, and the context; and what a check before it
// is given, to which nothing of the request has been decoded yet.
import type { HeaderList } from '../../model/endpoint.ts';
import type { EntityClient } from './entity-client.ts';
import type { EntityDefinition } from './entity-definition.ts';

/** Of a request, whatever its route. */
interface AnyRequest {
  /** As it arrived, without the question mark. */
  readonly queryText: string;
  /** In their order, names in lower case. */
  readonly headers: HeaderList;
  /** The first of the name, in whatever case. */
  readonly header: (name: string) => string | undefined;
  /** `internet`, `service <project>/<service>` or `local`. */
  readonly caller: string;
}

export interface RouteRequest<Parameters, Query, Body> extends AnyRequest {
  /** Of the path, decoded. */
  readonly parameters: Parameters;
  readonly query: Query;
  readonly body: Body;
}

export interface CheckRequest extends AnyRequest {
  /** Of the path, as text. Throws when the route has none of the name. */
  readonly parameter: (name: string) => string;
}

export interface EndpointContext {
  /** A client of an entity of this service; the request's metadata goes along. */
  readonly call: <Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
  ) => EntityClient<Definition>;
  /** Milliseconds since 1970-01-01T00:00:00Z: of the request, and after a call of its answer. Read it when it is needed. */
  readonly nowMs: number;
  /** 64 random bits. */
  readonly seed: bigint;
  /** From 0 up to 1, made from the seed. */
  readonly random: () => number;
  /** Of the request: `traceparent`, `tracestate`. */
  readonly metadata: (name: string) => string | undefined;
}

/** The context behind a check. */
export interface CheckedContext<Given> extends EndpointContext {
  /** What the last check before the handler has answered. */
  readonly given: Given;
}
