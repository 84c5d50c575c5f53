// FaultCauses: what has failed, once each: a fault of an entity ends the request that has led to it, too, and is then
// told with its route. A fault of an endpoint's own code is one of its own. Pure.
import type { Fault, ServiceRoute } from '@svc/contract';
import { placeText } from './fault-advice.ts';

export interface FaultCause {
  /** With the error id that the caller was told, if it came through a route. */
  readonly fault: Fault;
  readonly route: ServiceRoute | undefined;
}

export interface FaultGroup {
  readonly key: string;
  readonly newest: FaultCause;
  readonly count: number;
}

/** `faults`: the newest first, and so are the causes. */
export function faultCauses(
  faults: readonly Fault[],
  routes: readonly ServiceRoute[],
): FaultCause[] {
  const routeOf = ({ component, handler }: Fault) =>
    routes.find((route) => route.endpoint === component && route.handler === handler);
  const causes = faults.map((fault) => ({ fault, route: routeOf(fault) }));
  const ofRequests = causes.filter(({ route }) => route !== undefined);
  const told = new Set<FaultCause>();
  for (const request of ofRequests) {
    const at = causes.findIndex(
      (call) => call.route === undefined && isCauseOf(call.fault, request.fault),
    );
    if (at === -1) continue;
    const { fault } = causes[at]!;
    causes[at] = { fault: withErrorId(fault, request.fault), route: request.route };
    told.add(request);
  }
  return causes.filter((cause) => !told.has(cause));
}

/** 'bill.share'; a shard that ended, with all that was under way in it, is of no component. */
export function faultName({ component, handler }: Fault): string {
  return component === '' ? 'the runtime' : `${component}.${handler}`;
}

/** One entry for all that failed in the same way at the same place, the newest of each first. */
export function groupFaults(causes: readonly FaultCause[]): FaultGroup[] {
  const groups = new Map<string, FaultGroup>();
  for (const cause of causes) {
    const { component, handler, fault } = cause.fault;
    const place = fault.places[0];
    const where = place === undefined ? fault.reason : placeText(place);
    const key = [fault.code, component, handler, where].join('\n');
    const known = groups.get(key);
    groups.set(
      key,
      known === undefined ? { key, newest: cause, count: 1 } : { ...known, count: known.count + 1 },
    );
  }
  return [...groups.values()];
}

/** What ended the call has ended the request as well: in its trace, not after it, and in the same words. */
function isCauseOf(call: Fault, request: Fault): boolean {
  return (
    call.traceId !== null &&
    call.traceId === request.traceId &&
    call.at <= request.at &&
    call.fault.code === request.fault.code &&
    call.fault.reason === request.fault.reason &&
    call.fault.guestMessage === request.fault.guestMessage
  );
}

function withErrorId(call: Fault, request: Fault): Fault {
  return { ...call, fault: { ...call.fault, errorId: request.fault.errorId } };
}
