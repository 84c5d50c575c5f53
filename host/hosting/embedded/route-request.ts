// The parameters of a route's handler: the typed request, and the context. A check before the handler
// receives a request of which nothing is decoded yet.
import type { HeaderList } from '../../model/endpoint.ts';
import type { EntityClient } from './entity-client.ts';
import type { EntityDefinition } from './entity-definition.ts';

/** Parts of every request, whatever its route. */
interface AnyRequest {
  /** Query string as it arrived, without the question mark. */
  readonly queryText: string;
  /** Headers in their order, with names in lower case. */
  readonly headers: HeaderList;
  /** Returns the value of the first header of the name, in any case; undefined if there is none. */
  readonly header: (name: string) => string | undefined;
  /** The caller: `internet`, `service <project>/<service>` or `local`. */
  readonly caller: string;
}

export interface RouteRequest<Parameters, Query, Body> extends AnyRequest {
  /** Decoded parameters of the path. */
  readonly parameters: Parameters;
  /** Decoded query; undefined if the route declares none. */
  readonly query: Query;
  /** Decoded body; undefined if the route declares none. */
  readonly body: Body;
}

export interface CheckRequest extends AnyRequest {
  /** Returns a path parameter as text. Throws if the route has no such parameter. */
  readonly parameter: (name: string) => string;
}

export interface EndpointContext {
  /** Returns a client of an entity of this service; calls carry the request's metadata. */
  readonly call: <Definition extends EntityDefinition>(
    entity: Definition,
    id: string,
  ) => EntityClient<Definition>;
  /**
   * Milliseconds since 1970-01-01T00:00:00Z: the time of the request, or of the last call's result. Read it when you
   * need it.
   */
  readonly nowMs: number;
  /** 64 random bits. */
  readonly seed: bigint;
  /** Returns a number from 0 up to 1, derived from the seed. */
  readonly random: () => number;
  /** Returns metadata of the request, such as `traceparent` and `tracestate`; undefined if there is none. */
  readonly metadata: (name: string) => string | undefined;
}

/** Context of a handler behind a check. */
export interface CheckedContext<Given> extends EndpointContext {
  /** Result of the last check before the handler. */
  readonly given: Given;
}
