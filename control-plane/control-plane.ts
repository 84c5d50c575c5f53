// ControlPlane: the embedded service that the control plane is, made of its parts: components, and endpoints behind the checks
// of access/, and the orchestrator that follows them. It reads no settings and no environment, and ends nothing that it was given.
import type { LoginInformation, RouteName } from '@svc/client';
import type { Log } from '@svc/kit/log';
import {
  createService,
  defineEndpoint,
  type Components,
  type Service,
  type ServiceOptions,
} from '@svc/host';
import { SYSTEM_CLOCK } from './clock.ts';
import { Entrance, type Judge } from './access/entrance.ts';
import { Gates, UNLIMITED, type RequestLimits } from './access/gates.ts';
import { componentsWith } from './components.ts';
import { apiRoutes, type ApiHandlers } from './endpoints/api-routes.ts';
import type { CreationPolicy } from './endpoints/creation-policy.ts';
import { baseDomainOf, type BaseDomain } from './endpoints/derived-hostname.ts';
import { identityHandlers } from './endpoints/identity.ts';
import { memberHandlers } from './endpoints/members.ts';
import { openApiRoute } from './endpoints/open-api.ts';
import { organizationHandlers } from './endpoints/organizations.ts';
import { projectHandlers } from './endpoints/projects.ts';
import { serviceRecordHandlers } from './endpoints/service-records.ts';
import { serviceHandlers } from './endpoints/services.ts';
import { FaultLog } from './orchestration/fault-log.ts';
import { Lists } from './lists/lists.ts';
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
  /** Absent: none. */
  readonly limits?: RequestLimits;
  /** Version of the control plane, for the OpenAPI document. */
  readonly version: string;
}

/** Options of the embedded service: its journal, where it listens, and its introspection. */
type WithoutComponents<Options> = Options extends ServiceOptions
  ? Omit<Options, 'name' | 'log' | 'responses' | 'http' | keyof Components> & {
      readonly http?: Exclude<Options['http'], false | undefined>;
    }
  : never;
export type HostOptions = WithoutComponents<ServiceOptions>;

export interface ControlPlaneParts {
  readonly judge: Judge;
  readonly orchestrator: Orchestrator;
  readonly settings: ControlPlaneSettings;
  readonly host: HostOptions;
  readonly log: Log;
}

export interface ControlPlane extends AsyncDisposable {
  readonly service: Service;
  /** Address of the API. */
  readonly url: string;
  /** Resolves when nothing is stored any more, and the program should end. */
  readonly failure: Service['failure'];
  /** Ends what is under way with the orchestrator, and then the service, as its `stop` does. */
  stop(graceMs?: number): Promise<void>;
}

/** Rejects as `createService` does. */
export async function startControlPlane({
  judge,
  orchestrator,
  settings,
  host,
  log,
}: ControlPlaneParts): Promise<ControlPlane> {
  const base = settings.baseDomain === undefined ? undefined : baseDomainOf(settings.baseDomain);
  const orchestration = new Orchestration({
    orchestrator,
    section: settings.orchestration,
    log,
    httpsPort: base?.port,
  });
  // A request may arrive before the start has returned.
  const running = Promise.withResolvers<Service>();
  const service = await createService({
    ...host,
    ...componentsWith(orchestration.changed),
    name: 'control-plane',
    log,
    responses: { errors: 'plain', headers: { 'cache-control': 'no-store' }, position: false },
    endpoints: [
      defineEndpoint({
        name: 'api',
        prefix: '',
        access: 'internet',
        routes: routesOf({ judge, settings, orchestration, base, running: running.promise, log }),
      }),
    ],
  });
  orchestration.start(service);
  running.resolve(service);
  const stop = async (graceMs?: number) => {
    await orchestration.stop();
    await service.stop(graceMs);
  };
  return {
    service,
    url: service.url!,
    failure: service.failure,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface RouteParts extends Pick<ControlPlaneParts, 'judge' | 'settings' | 'log'> {
  readonly orchestration: Orchestration;
  readonly base: BaseDomain | undefined;
  readonly running: Promise<Service>;
}

function routesOf({ judge, settings, orchestration, base, running, log }: RouteParts) {
  const { login, policy, baseDomain, version, limits = UNLIMITED } = settings;
  const faults = new FaultLog(log, SYSTEM_CLOCK);
  const report = (what: string, error: unknown) => faults.report(what, undefined, error);
  const gates = new Gates(new Entrance({ judge, running, clock: SYSTEM_CLOCK, report }), limits);
  const lists = new Lists(running);
  const handlers: ApiHandlers<RouteName> = {
    ...identityHandlers(login),
    ...organizationHandlers(lists, policy),
    ...memberHandlers(),
    ...projectHandlers(lists),
    ...serviceHandlers({ orchestration, lists, baseDomain: base }),
    ...serviceRecordHandlers(orchestration, lists),
  };
  const url = baseDomain === undefined ? undefined : `https://api.${baseDomain}`;
  return {
    ...apiRoutes(handlers, { gates, baseDomain }),
    openApi: openApiRoute(gates, { version, url }),
  };
}
