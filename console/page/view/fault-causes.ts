// FaultCauses: the list of failures, without duplicates. A fault of an entity also ends the request that called it;
// such a pair is one entry, with the route of the request. A fault of an endpoint's own code is an entry of its own.
// The functions are pure.
import type { Fault, ServiceRoute } from '@svc/contract';
import { locationText } from './fault-advice.ts';

export interface FaultCause {
  /** The fault, with the error id that the caller received if it failed a request. */
  readonly fault: Fault;
  /** Route of the failed request; undefined if the fault failed no request to a route. */
  readonly route: ServiceRoute | undefined;
}

export interface FaultGroup {
  readonly key: string;
  readonly newest: FaultCause;
  readonly count: number;
}

/** Returns the causes. `faults` and the causes are sorted newest first. */
export function faultCauses(
  faults: readonly Fault[],
  routes: readonly ServiceRoute[],
): FaultCause[] {
  const routeOf = ({ component, handler }: Fault) =>
    routes.find((route) => route.endpoint === component && route.handler === handler);
  const causes = faults.map((fault) => ({ fault, route: routeOf(fault) }));
  const ofRequests = causes.filter(({ route }) => route !== undefined);
  const merged = new Set<FaultCause>();
  for (const request of ofRequests) {
    const at = causes.findIndex(
      (call) => call.route === undefined && isCauseOf(call.fault, request.fault),
    );
    if (at === -1) continue;
    const { fault } = causes[at]!;
    causes[at] = { fault: withErrorId(fault, request.fault), route: request.route };
    merged.add(request);
  }
  return causes.filter((cause) => !merged.has(cause));
}

/** Returns the failed handler, such as 'bill.share'; 'the runtime' for the failure of a whole shard. */
export function faultName({ component, handler }: Fault): string {
  return component === '' ? 'the runtime' : `${component}.${handler}`;
}

/**
 * Groups the failures with the same code, handler and source location, or reason where no location is known. `causes`
 * and the groups are sorted newest first.
 */
export function groupFaults(causes: readonly FaultCause[]): FaultGroup[] {
  const groups = new Map<string, FaultGroup>();
  for (const cause of causes) {
    const { component, handler, fault } = cause.fault;
    const location = fault.places[0];
    const where = location === undefined ? fault.reason : locationText(location);
    const key = [fault.code, component, handler, where].join('\n');
    const known = groups.get(key);
    groups.set(
      key,
      known === undefined ? { key, newest: cause, count: 1 } : { ...known, count: known.count + 1 },
    );
  }
  return [...groups.values()];
}

/**
 * Returns whether the call's failure also ended the request: both have the same trace, code, reason and message, and
 * the call did not fail later.
 */
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
