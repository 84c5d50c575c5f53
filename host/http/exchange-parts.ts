// ExchangeParts: the state that all exchanges of a server share.
import type { HttpCounts } from './http-observer.ts';
import type { Socket } from 'node:net';
import type { RandomSource } from '../engine/needs/clock.ts';
import type { Recorder } from '../engine/needs/recorder.ts';
import type { Awaitable, Metadata, Refusal } from '@svc/model/call';
import type { AnswerWaiter, EndpointRequest, EndpointResponse } from '@svc/model/endpoint';
import type { RequestBudgets } from '@svc/model/request-budgets';
import type { Caller, RefusedPeer } from './access.ts';
import type { Answer } from './answers.ts';
import type { RequestPrincipal, RequestTokens } from './bearer.ts';
import type { Cors } from './cors.ts';
import type { RequestLimits } from './request-limits.ts';
import type { HttpLog } from './http-log.ts';
import type { HttpSettings } from './http-settings.ts';
import type { ResponseForm } from './response-form.ts';
import type { Route, RouteTable } from './route-table.ts';

/** Runs the handler of a route. Throws, or rejects with, GuestFault or SvcError. */
export type EndpointHandler = (
  request: EndpointRequest,
  metadata: Metadata,
  waiter: AnswerWaiter,
) => Awaitable<EndpointResponse | Refusal>;

/** State that all exchanges of a server share. */
export interface ExchangeParts {
  readonly routes: RouteTable;
  readonly handle: EndpointHandler;
  /** Whether handlers read bodies themselves; otherwise a body is read before its handler runs. */
  readonly readsBodies: boolean;
  readonly settings: HttpSettings;
  readonly form: ResponseForm;
  readonly log: HttpLog;
  readonly random: RandomSource;
  /** Identifies the caller at the other end of a connection. */
  readonly callerOf: (socket: Socket) => Caller | RefusedPeer;
  /** Returns the value of the header `date` of an answer; undefined: answers have none. */
  readonly date?: (() => string) | undefined;
  /** Undefined: nothing can verify tokens, and routes with a bearer rule are closed. */
  readonly tokens?: RequestTokens | undefined;
  /** Undefined: no route has a limit. */
  readonly limits: RequestLimits | undefined;
  /** The service's own project; undefined on a developer's machine. */
  readonly project: string | undefined;
  readonly budgets: RequestBudgets;
  /** Undefined: no page of another origin may read an answer. */
  readonly cors: Cors | undefined;
  readonly load: Load;
  /** Whether responses of handlers have the header Svc-Position, which they have if the service has views. */
  readonly hasPosition: boolean;
  readonly recorder: Recorder;
  /** Handler index of the first route, for the recorder. */
  readonly firstRouteIndex: number;
  readonly counts: HttpCounts;
}

export interface Load {
  /** The number of requests whose answer or handler is not finished. */
  inFlight: number;
  isStopping: boolean;
}

/** Facts about a request that are known before its body is read. */
export interface Admitted {
  readonly route: Route;
  readonly parameters: readonly string[];
  readonly query: string;
  readonly caller: Caller;
  /** The caller by its token; undefined: the route asks for none. */
  readonly principal?: RequestPrincipal;
  /** Value of the header Idempotency-Key, or the answer to one that is invalid. */
  readonly idempotencyKey: string | Answer | undefined;
}
