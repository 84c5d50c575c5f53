// ApiEndpoint: the routes of the API with their checks and handlers. Tools that run nothing have it too, so that they know its
// routes.
import { apiRoutes } from '@svc/api/api-routes';
import { UNLIMITED, type RequestLimits, type Verifier } from '@svc/api/caller-routes';
import type { LoginInformation } from '@svc/client';
import { defineEndpoint, type EndpointDefinition, type Service } from '@svc/host';
import type { Provisioning } from '../access/provisioning.ts';
import { RouteAuthorization } from '../access/route-authorization.ts';
import type { Caller } from '../access/token-caller.ts';
import { ListQueries } from '../views/list-queries.ts';
import type { Orchestration } from '../orchestration/orchestration.ts';
import { controlPlaneTable, type AllHandlers } from './control-plane-table.ts';
import type { CreationPolicy } from './creation-policy.ts';
import { baseDomainOf } from './derived-hostname.ts';
import { identityHandlers } from './identity.ts';
import { memberHandlers } from './members.ts';
import { openApiRoute } from './open-api.ts';
import { organizationHandlers } from './organizations.ts';
import { projectHandlers } from './projects.ts';
import { serviceRecordHandlers } from './service-records.ts';
import { serviceHandlers } from './services.ts';

/** Choices of the installation that concern the API. */
export interface ApiSettings {
  readonly login: LoginInformation;
  readonly policy: CreationPolicy;
  /** Domain of the derived hostnames, also with a port: `example.com:8443`. Undefined: no service can be exposed. */
  readonly baseDomain?: string | undefined;
  /** Absent: none. */
  readonly limits?: RequestLimits;
  /** Version of the control plane, for the OpenAPI document. */
  readonly version: string;
}

export interface ApiParts {
  readonly verifier: Verifier<Caller>;
  readonly provisioning: Provisioning;
  readonly settings: ApiSettings;
  readonly orchestration: Orchestration;
  /** The service of the entities. A request may arrive before its start has returned. */
  readonly running: Promise<Service>;
}

/** Which routes there are, and how they are described, does not depend on the parts. */
export function apiEndpoint({
  verifier,
  provisioning,
  settings,
  orchestration,
  running,
}: ApiParts): EndpointDefinition {
  const { login, policy, baseDomain, version, limits = UNLIMITED } = settings;
  const base = baseDomain === undefined ? undefined : baseDomainOf(baseDomain);
  const authorization = new RouteAuthorization({ verifier, limits }, provisioning);
  const lists = new ListQueries(running);
  const handlers: AllHandlers = {
    ...identityHandlers(login),
    ...organizationHandlers(lists, policy),
    ...memberHandlers(),
    ...projectHandlers(lists),
    ...serviceHandlers({ orchestration, lists, baseDomain: base }),
    ...serviceRecordHandlers(orchestration, lists),
  };
  const url = baseDomain === undefined ? undefined : `https://api.${baseDomain}`;
  return defineEndpoint({
    name: 'api',
    prefix: '',
    access: 'internet',
    // Which origins that are is a setting: browser-access.ts.
    cors: true,
    routes: {
      ...apiRoutes(controlPlaneTable(baseDomain), handlers, (name) => authorization.of(name)),
      openApi: openApiRoute(authorization, { version, url }),
    },
  });
}
