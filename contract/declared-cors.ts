// What a route declares of CORS: its own declaration or its endpoint's, and only where every caller is admitted. A page
// is never a service, and one of another origin has no business with what only the own machine may call.
import type {
  CorsDescriptor,
  EndpointDescriptor,
  RouteDescriptor,
} from './module-descriptor-schema.ts';

/** Undefined: pages of other origins cannot read what the route answers. */
export function declaredCors(
  endpoint: EndpointDescriptor,
  route: RouteDescriptor,
): CorsDescriptor | undefined {
  const { allow } = route.access ?? endpoint.access;
  return allow === 'internet' ? (route.cors ?? endpoint.cors) : undefined;
}
