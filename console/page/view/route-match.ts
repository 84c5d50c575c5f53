// RouteMatch: finds the declared routes that have the path of a request, of all methods. It differs from the runtime in
// one point: a segment of the request with an invalid percent-encoding is compared as it is. The functions are pure.
import type { ServiceRoute } from '@svc/contract';

/** Returns the routes. `path`: path of the request, with or without a query string. */
export function routesOfPath(
  routes: readonly ServiceRoute[],
  path: string,
): readonly ServiceRoute[] {
  const segments = path
    .replace(/[?#].*$/s, '')
    .split('/')
    .map(decoded);
  return routes.filter((route) => isMatch(route.path.split('/'), segments));
}

function isMatch(template: readonly string[], segments: readonly string[]): boolean {
  return (
    template.length === segments.length &&
    template.every((part, at) => {
      const segment = segments[at]!;
      return part.startsWith('{') ? !['', '.', '..'].includes(segment) : decoded(part) === segment;
    })
  );
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
