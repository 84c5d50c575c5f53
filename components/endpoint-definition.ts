// EndpointDefinition: the routes of a service below one prefix, and the callers that they admit.
import type { AccessRule, CorsDescriptor } from '@svc/contract';
import {
  type Access,
  type Cors,
  type RouteDefinition,
  accessRule,
  corsRule,
} from './route-definition.ts';

export interface EndpointDefinition {
  readonly name: string;
  readonly prefix: string;
  readonly access: AccessRule;
  readonly cors: CorsDescriptor | undefined;
  /** Routes by the names of their handlers in the descriptor. */
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export interface EndpointSpecification {
  /** Name in the log and the descriptor; absent: derived from the prefix. */
  readonly name?: string;
  /** Prefix of all routes: `/carts`. */
  readonly prefix: string;
  readonly access: Access;
  /** CORS of the routes that the internet may call. Absent: pages of other origins cannot read their responses. */
  readonly cors?: Cors;
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export function defineEndpoint({
  name,
  prefix,
  access,
  cors,
  routes,
}: EndpointSpecification): EndpointDefinition {
  const words = prefix.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return {
    name: name ?? `endpoint_${words}`,
    prefix,
    access: accessRule(access),
    cors: cors && corsRule(cors),
    routes,
  };
}
