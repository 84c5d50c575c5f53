// Components: what the control plane stores, what follows from it, and for tools its routes. Tools read its journal with them:
// `svc entity --program control-plane/components.ts`.
import type { ServiceKey } from '@svc/client';
import type { Components, Service } from '@svc/host';
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import { Provisioning } from './access/provisioning.ts';
import { reconcileServices } from './consumers/reconcile-services.ts';
import { settleClaims } from './consumers/settle-claims.ts';
import { suspendServices } from './consumers/suspend-services.ts';
import { apiEndpoint } from './endpoints/api-endpoint.ts';
import { views } from './views/list-queries.ts';
import { cluster } from './model/cluster.ts';
import { email } from './model/email.ts';
import { hostname } from './model/hostname.ts';
import { organization } from './model/organization.ts';
import { person } from './model/person.ts';
import { project } from './model/project.ts';
import { service } from './model/service.ts';
import { workload } from './model/workload.ts';
import { knownServices } from './orchestration/known-services.ts';
import { NO_ORCHESTRATOR } from './orchestration/no-orchestrator.ts';
import { Orchestration } from './orchestration/orchestration.ts';
import { ORCHESTRATOR_DEFAULTS } from './orchestration/orchestrator-section.ts';

/** `changed`: called after each change of a service; it must not wait for anything. */
export function componentsWith(changed: (key: ServiceKey) => void): Components {
  return {
    entities: [organization, project, service, hostname, email, person, workload, cluster],
    views: [...views, knownServices],
    consumers: [settleClaims, suspendServices, reconcileServices(changed)],
    // Changes when an entity computes another state of the same events: snapshots of other versions are not read.
    version: '2',
  };
}

/** The service that tools do not start. */
const NEVER = new Promise<Service>(() => {});

/** For tools, which run no consumer and answer no request: they compare the routes with those that the journal names. */
export const components: Components = {
  ...componentsWith(() => {}),
  endpoints: [
    apiEndpoint({
      verifier: { verify: () => Promise.resolve({ kind: 'missing' }) },
      provisioning: new Provisioning({
        running: NEVER,
        clock: SYSTEM_CLOCK,
        report: () => {},
      }),
      settings: {
        login: { issuer: '', clientId: '', audience: '' },
        policy: { creation: 'platform-admin' },
        version: '',
      },
      orchestration: new Orchestration({
        orchestrator: NO_ORCHESTRATOR,
        section: ORCHESTRATOR_DEFAULTS,
        log: () => {},
      }),
      running: NEVER,
    }),
  ],
};
