// DeclaredRoute: finds the routes that a service has declared for a request that the user wants to send. The console
// sends no other request of the user.
import { parseRouteTemplate, SEGMENTS_MAX, type ServiceRoute } from '@svc/contract';

/**
 * Returns the routes that are declared for the request; HEAD counts as GET. The service takes one with a literal before one with a
 * parameter. `path`: its path, without the query.
 */
export function declaredFor<Route extends Pick<ServiceRoute, 'method' | 'path'>>(
  routes: readonly Route[],
  method: string,
  path: string,
): readonly Route[] {
  const raw = path.slice(1).split('/', SEGMENTS_MAX + 1);
  const segments = raw.map(decoded).filter((segment) => segment !== undefined);
  if (segments.length < raw.length) return [];
  return routes.filter((route) => {
    if (route.method !== (method === 'HEAD' ? 'GET' : method)) return false;
    const template = parseRouteTemplate(route.path);
    if (!template.ok || template.segments.length !== segments.length) return false;
    return template.segments.every((part, at) =>
      part.kind === 'literal' ? part.text === segments[at] : canBind(segments[at]!),
    );
  });
}

/**
 * Returns whether a segment may be the value of a parameter. As in the service, segments that change the meaning of a
 * path are not values.
 */
function canBind(segment: string): boolean {
  return segment !== '' && segment !== '.' && segment !== '..';
}

/** Decodes a path segment; returns undefined if its percent-encoding is invalid. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
