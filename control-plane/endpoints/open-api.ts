// OpenApi: the document that describes the routes, for every caller with a valid token. It is the only route that is not in the
// table of routes, which it is made of.
import { jsonAnswer } from '@svc/api/api-answer';
import { definedRoute } from '@svc/api/api-routes';
import { UNTAKEN_BODY, openApiDocument, problemsText, refusalsOf, type Route } from '@svc/client';
import { respondError, type RouteDefinition } from '@svc/host';
import type { RouteAuthorization } from '../access/route-authorization.ts';

const ROUTE = {
  method: 'GET',
  path: '/openapi.json',
  who: 'caller',
  summary: 'Describes these routes',
  answer: { type: 'object', description: 'the document of OpenAPI 3.1' },
} as const satisfies Route;

/** `version`: version of the control plane; `url`: its base URL, if it is known. */
export function openApiRoute(
  authorization: RouteAuthorization,
  { version, url }: { readonly version: string; readonly url: string | undefined },
): RouteDefinition {
  const text = JSON.stringify(openApiDocument(version, url));
  const row = {
    route: ROUTE,
    refusals: refusalsOf(ROUTE),
    checked: authorization.authenticated,
  };
  return definedRoute(row, async ({ body }) =>
    body.byteLength === 0
      ? jsonAnswer(text, { status: 200 })
      : respondError(400, problemsText([UNTAKEN_BODY])),
  );
}
