// ControlPlane: the embedded service that the control plane is, made of its parts: components, and endpoints behind the checks
// of access/, and the orchestrator that follows them. It reads no settings and no environment, and ends nothing that it was given.
import type { Verifier } from '@svc/api/caller-routes';
import type { Log } from '@svc/kit/log';
import { createService, type Components, type Service, type ServiceOptions } from '@svc/host';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import { Provisioning } from './access/provisioning.ts';
import type { Caller } from './access/token-caller.ts';
import { componentsWith } from './components.ts';
import { apiEndpoint, type ApiSettings } from './endpoints/api-endpoint.ts';
import { baseDomainOf } from './endpoints/derived-hostname.ts';
import { FaultLog } from './orchestration/fault-log.ts';
import type { OrchestratorSection } from './orchestration/orchestrator-section.ts';
import type { Orchestrator } from './orchestration/orchestrator.ts';
import { Orchestration } from './orchestration/orchestration.ts';

/** Choices of the installation. */
export interface ControlPlaneSettings extends ApiSettings {
  readonly orchestration: OrchestratorSection;
}

/** Options of the embedded service: its journal, where it listens, and its introspection. */
type WithoutComponents<Options> = Options extends ServiceOptions
  ? Omit<Options, 'name' | 'log' | 'responses' | 'http' | keyof Components> & {
      readonly http?: Exclude<Options['http'], false | undefined>;
    }
  : never;
export type HostOptions = WithoutComponents<ServiceOptions>;

export interface ControlPlaneParts {
  readonly verifier: Verifier<Caller>;
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
  verifier,
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
  const faults = new FaultLog(log, SYSTEM_CLOCK);
  const provisioning = new Provisioning({
    running: running.promise,
    clock: SYSTEM_CLOCK,
    report: (what, error) => faults.report(what, undefined, error),
  });
  const service = await createService({
    ...host,
    ...componentsWith(orchestration.changed),
    name: 'control-plane',
    metrics: [...orchestration.metrics, ...(host.metrics ?? [])],
    log,
    responses: { errors: 'plain', headers: { 'cache-control': 'no-store' }, position: false },
    endpoints: [
      apiEndpoint({ verifier, provisioning, settings, orchestration, running: running.promise }),
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
