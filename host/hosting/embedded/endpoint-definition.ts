// EndpointDefinition: the routes of a service below one prefix, and who may call them.
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
  /** By the names that the descriptor gives their handlers. */
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export interface EndpointSpecification {
  /** For the log and the descriptor; absent: made of the prefix. */
  readonly name?: string;
  /** Routes begin with it: `/carts`. */
  readonly prefix: string;
  readonly access: Access;
  /** Of the routes that the internet may call. Absent: pages of other origins cannot read what they answer. */
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
