// ControlPlane: the embedded service that the control plane is, made of its parts: components, and endpoints behind the checks
// of access/. It reads no settings and no environment, and stops nothing that it was given.
import type { LoginInformation } from '@svc/client';
import type { Log } from '@svc/kit/log';
import {
  createService,
  defineEndpoint,
  type Components,
  type Service,
  type ServiceOptions,
} from '@svc/host';
import { Entrance, type Judge } from './access/entrance.ts';
import { Gates } from './access/gates.ts';
import { components } from './components.ts';
import { apiRoutes } from './endpoints/api-routes.ts';
import type { CreationPolicy } from './endpoints/creation-policy.ts';
import { identityHandlers } from './endpoints/identity.ts';
import { openApiRoute } from './endpoints/open-api.ts';
import { organizationHandlers } from './endpoints/organizations.ts';
import { serviceHandlers } from './endpoints/services.ts';
import type { OrchestratorSection } from './orchestration/orchestrator-section.ts';
import type { Orchestrator } from './orchestration/orchestrator.ts';
import { Orchestration } from './orchestration/orchestration.ts';

/** Choices of the installation. */
export interface ControlPlaneSettings {
  readonly login: LoginInformation;
  readonly policy: CreationPolicy;
  /** Domain of the derived hostnames, also with a port: `example.com:8443`. Undefined: no service can be exposed. */
  readonly baseDomain?: string | undefined;
  readonly orchestration: OrchestratorSection;
  /** Version of the control plane, for the OpenAPI document. */
  readonly version: string;
}

/** Options of the embedded service: its journal, where it listens, its log and its introspection. */
type WithoutComponents<Options> = Options extends unknown
  ? Omit<Options, 'name' | 'log' | keyof Components>
  : never;
export type HostOptions = WithoutComponents<ServiceOptions>;

export interface ControlPlaneParts {
  readonly judge: Judge;
  readonly orchestrator: Orchestrator;
  readonly settings: ControlPlaneSettings;
  readonly host: HostOptions;
  readonly log: Log;
}

/** Starts the control plane; `stop` of the service ends it. Rejects as `createService` does. */
export async function startControlPlane({
  judge,
  orchestrator,
  settings,
  host,
  log,
}: ControlPlaneParts): Promise<Service> {
  const { login, policy, baseDomain, version, orchestration: section } = settings;
  // A request may arrive before the start has returned.
  const running = Promise.withResolvers<Service>();
  const gates = new Gates(new Entrance(judge, running.promise));
  const url = baseDomain === undefined ? undefined : `https://api.${baseDomain}`;
  const orchestration = new Orchestration({ orchestrator, section, log });
  const routes = apiRoutes(
    {
      ...identityHandlers(login),
      ...organizationHandlers(policy),
      ...serviceHandlers(orchestration),
    },
    { gates, baseDomain },
  );
  const service = await createService({
    ...host,
    ...components,
    name: 'control-plane',
    log,
    endpoints: [
      defineEndpoint({
        name: 'api',
        prefix: '',
        access: 'internet',
        routes: { ...routes, openApi: openApiRoute(gates, { version, url }) },
      }),
    ],
  });
  running.resolve(service);
  return service;
}
