// RequestAdmission: what is decided about a request before anything of it but its head is looked at. It checks in this order: stop,
// caller, target, route, method, load, access. Whoever is not admitted learns nothing but the paths and methods of the service.
import type { Socket } from 'node:net';
import type { ServerExchange } from '@svc/http1';
import { SvcError } from '@svc/kit/svc-error';
import type { HeaderList } from '@svc/model/endpoint';
import { tooMuchUnsent } from '@svc/model/kept-bytes';
import { callerName, isAdmitted } from './access.ts';
import { type Answer, errorAnswer } from './answers.ts';
import type { Admitted, ExchangeParts } from './exchange-parts.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { parseRequestTarget } from './request-target.ts';
import type { Route } from './route-table.ts';

export interface Admission {
  /** Undefined: the request has no route. */
  readonly route: Route | undefined;
  /** The facts about an admitted request, or the answer to one that is not. */
  readonly admitted: Admitted | Answer;
}

/** Throws SVC_STOPPING, SVC_OVERLOADED, and what `tooMuchUnsent` makes. */
export function admission(
  { settings, routes, load, project, cors, budgets, callerOf }: ExchangeParts,
  { head, socket }: Pick<ServerExchange, 'head' | 'socket'>,
): Admission {
  const { method, path, fields } = head;
  if (load.isStopping) throw new SvcError('SVC_STOPPING', 'The server is stopping.');
  // In the process itself, a stream is in the place of the socket.
  const caller = callerOf(socket as Socket);
  if (caller.kind === 'refused') return unrouted(errorAnswer(403, caller.reason));
  const target = parseRequestTarget(path);
  if (target.kind === 'malformed') return unrouted(errorAnswer(400, target.reason));
  if (target.kind === 'server') return unrouted({ status: 204, headers: [], body: undefined });
  const found = routes.find(method, target.segments);
  if (found.kind === 'none') return unrouted(errorAnswer(404, 'There is no such path.'));
  if (found.kind === 'other-methods') {
    const headers: HeaderList = [['allow', found.allow]];
    if (method !== 'OPTIONS')
      return unrouted(errorAnswer(405, `This path takes ${found.allow}.`, headers));
    const preflight = cors?.preflightHeaders(fields, target.segments) ?? [];
    return unrouted({ status: 204, headers: [...headers, ...preflight], body: undefined });
  }
  // The limit is checked only here: the answers above cost no more than a refusal, and a page can read the 503 of
  // its request only after a preflight that was answered.
  if (load.inFlight > settings.requestsInFlightMax)
    throw new SvcError('SVC_OVERLOADED', 'The server has too many requests in flight.');
  if (budgets.unsent.isUsedUp) throw tooMuchUnsent();
  const { route, parameters } = found;
  if (!isAdmitted(route.access, caller, project)) {
    const reason = `The caller '${callerName(caller)}' is not admitted to this path.`;
    return { route, admitted: errorAnswer(403, reason) };
  }
  const idempotencyKey = idempotencyKeyOf(method, fields, settings.idempotencyKeyBytesMax);
  return { route, admitted: { route, parameters, query: target.query, caller, idempotencyKey } };
}

function unrouted(answer: Answer): Admission {
  return { route: undefined, admitted: answer };
}
