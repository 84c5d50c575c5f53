// ControlPlaneTable: the table of @svc/client with what its routes share, and handlers by the names of its routes.
import type { ApiHandlers as HandlersOf } from '@svc/api/api-routes';
import type { ApiTable } from '@svc/api/api-table';
import { PARAMETERS, ROUTES, bodyValueProblems, refusalsOf, type RouteName } from '@svc/client';
import type { GivenTo } from '../access/route-authorization.ts';
import { maySucceedLater } from '../model/refusals.ts';

type Givens = { readonly [Name in RouteName]: GivenTo<Name> };
export type AllHandlers = HandlersOf<typeof ROUTES, Givens>;
/** Handlers of some routes. */
export type ApiHandlers<Names extends RouteName> = Pick<AllHandlers, Names>;

/** `baseDomain`: that of the platform, under which no descriptor may declare a hostname. */
export function controlPlaneTable(baseDomain: string | undefined): ApiTable<typeof ROUTES> {
  return {
    routes: ROUTES,
    parameters: PARAMETERS,
    bodyProblems: (route, body, { name }) =>
      bodyValueProblems(route, body, name === undefined ? { baseDomain } : { name, baseDomain }),
    refusalsOf,
    maySucceedLater,
  };
}
