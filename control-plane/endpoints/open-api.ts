// OpenApi: the document that describes the routes, for every caller with a valid token. It is the only route that is not in the
// table of routes, which it is made of.
import { openApiDocument } from '@svc/client';
import { respond, type RouteDefinition } from '@svc/host';
import type { Gates } from '../access/gates.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** `version`: version of the control plane; `url`: its base URL, if it is known. */
export function openApiRoute(
  gates: Gates,
  { version, url }: { readonly version: string; readonly url: string | undefined },
): RouteDefinition {
  const text = JSON.stringify(openApiDocument(version, url));
  return gates.known.get(
    '/openapi.json',
    { summary: 'Describes these routes', answers: [200], reply: 'text' },
    () => respond(text, { headers: JSON_TYPE }),
  );
}
