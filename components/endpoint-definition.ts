// EndpointDefinition: the routes of a service below one prefix, and the callers that they admit.
import type { AccessRule, BearerRule, CorsDescriptor } from '@svc/contract';
import { type Bearer, bearerRule } from './bearer.ts';
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
  readonly bearer: BearerRule | undefined;
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
  /**
   * Asks all callers for an access token, which the runtime verifies. A route may replace the rule, and not take it away. An embedded service
   * cannot verify tokens, and refuses such an endpoint.
   */
  readonly bearer?: Bearer;
  /** CORS of the routes that the internet may call. Absent: pages of other origins cannot read their responses. */
  readonly cors?: Cors;
  readonly routes: Readonly<Record<string, RouteDefinition>>;
}

export function defineEndpoint({
  name,
  prefix,
  access,
  bearer,
  cors,
  routes,
}: EndpointSpecification): EndpointDefinition {
  const words = prefix.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  return {
    name: name ?? `endpoint_${words}`,
    prefix,
    access: accessRule(access),
    bearer: bearer && bearerRule(bearer),
    cors: cors && corsRule(cors),
    routes,
  };
}
