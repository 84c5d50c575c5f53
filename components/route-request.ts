// The parameters of a route's handler: the typed request, and the context. A check before the handler
// receives a request of which nothing is decoded yet.
import type { HeaderList } from '@svc/model/endpoint';
import type { Principal } from './bearer.ts';
import type { CallingContext } from './calling-context.ts';

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
  /** The sender of the request, by its access token; null on routes without a bearer rule, whatever a request says. */
  readonly principal: Principal | null;
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

/** Context of a handler of a route. */
export interface EndpointContext extends CallingContext {
  /**
   * Restricts the request's `Idempotency-Key` to `scope` and the parameters of the path, for the calls from now on. Use it in a
   * check that knows the user: the same key of another user, or with another path, is then another key. The scope must be
   * the same when the request is repeated, so pass the user's id rather than a token.
   */
  readonly scopeIdempotencyKey: (scope: string) => void;
}

/** Context of a handler behind a check. */
export interface CheckedContext<Given> extends EndpointContext {
  /** Result of the last check before the handler. */
  readonly given: Given;
}
