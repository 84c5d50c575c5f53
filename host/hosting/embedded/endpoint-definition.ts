// EndpointDefinition: the routes of a service below one prefix, and who may call them.
import type { AccessRule } from '@svc/contract';
import { type Access, type RouteDefinition, accessRule } from './route-definition.ts';

export interface EndpointDefinition {
  readonly name: string;
  readonly prefix: string;
  readonly access: AccessRule;
  /** By the names that the descriptor gives their handlers. */
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export interface EndpointSpecification {
  /** For the log and the descriptor; absent: made of the prefix. */
  readonly name?: string;
  /** Routes begin with it: `/carts`. */
  readonly prefix: string;
  readonly access: Access;
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export function defineEndpoint({
  name,
  prefix,
  access,
  routes,
}: EndpointSpecification): EndpointDefinition {
  const words = prefix.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return { name: name ?? `endpoint_${words}`, prefix, access: accessRule(access), routes };
}
