// OpenApi: the document that describes the routes, for every caller with a valid token. It is the only route that is not in the
// table of routes, which it is made of.
import { openApiDocument, refusalsOf } from '@svc/client';
import { respond, type RouteDefinition } from '@svc/host';
import type { Gates } from '../access/gates.ts';

const PATH = '/openapi.json';
/** Refusals by the checks of every route with a token. The route takes no input that could be invalid. */
const REFUSALS = Object.fromEntries(
  [...refusalsOf({ method: 'GET', path: PATH, who: 'caller', summary: '' })].filter(
    ([status]) => status !== 400,
  ),
);
const JSON_TYPE = { 'content-type': 'application/json' };

/** `version`: version of the control plane; `url`: its base URL, if it is known. */
export function openApiRoute(
  gates: Gates,
  { version, url }: { readonly version: string; readonly url: string | undefined },
): RouteDefinition {
  const text = JSON.stringify(openApiDocument(version, url));
  return gates.known.get(
    PATH,
    {
      summary: 'Describes these routes',
      answers: [200],
      refusals: REFUSALS,
      security: { scheme: 'bearer' },
      reply: 'text',
    },
    () => respond(text, { headers: JSON_TYPE }),
  );
}
