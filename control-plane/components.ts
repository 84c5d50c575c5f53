// Components: what the control plane stores, and what follows from it, without its routes. Tools read its journal with them:
// `svc entity --program control-plane/components.ts`.
import type { ServiceKey } from '@svc/client';
import type { Components } from '@svc/host';
import { reconcileServices } from './consumers/reconcile-services.ts';
import { settleClaims } from './consumers/settle-claims.ts';
import { suspendServices } from './consumers/suspend-services.ts';
import { views } from './lists/lists.ts';
import { email } from './model/email.ts';
import { hostname } from './model/hostname.ts';
import { organization } from './model/organization.ts';
import { person } from './model/person.ts';
import { project } from './model/project.ts';
import { service } from './model/service.ts';
import { workload } from './model/workload.ts';
import { knownServices } from './orchestration/known-services.ts';

/** `changed`: called after each change of a service; it must not wait for anything. */
export function componentsWith(changed: (key: ServiceKey) => void): Components {
  return {
    entities: [organization, project, service, hostname, email, person, workload],
    views: [...views, knownServices],
    consumers: [settleClaims, suspendServices, reconcileServices(changed)],
    // Changes when an entity computes another state of the same events: snapshots of other versions are not read.
    version: '2',
  };
}

/** For tools, which run no consumer. */
export const components = componentsWith(() => {});
