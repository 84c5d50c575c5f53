// The CORS declaration of a route: its own or that of its endpoint. A route has one only if it admits the internet: a
// web page is never a service, and a page of another origin must not call routes that admit only the own machine.
import type {
  CorsDescriptor,
  EndpointDescriptor,
  RouteDescriptor,
} from './module-descriptor-schema.ts';

/**
 * Returns the CORS declaration that applies to a route; undefined if pages of other origins cannot read its answers.
 */
export function declaredCors(
  endpoint: EndpointDescriptor,
  route: RouteDescriptor,
): CorsDescriptor | undefined {
  const { allow } = route.access ?? endpoint.access;
  return allow === 'internet' ? (route.cors ?? endpoint.cors) : undefined;
}
