// Components: what the control plane stores, and what follows from it, without its routes. Tools read its journal with them:
// `svc entity --program control-plane/components.ts`.
import type { Components } from '@svc/host';
import { settleClaims } from './consumers/settle-claims.ts';
import { suspendServices } from './consumers/suspend-services.ts';
import { email } from './model/email.ts';
import { hostname } from './model/hostname.ts';
import { organization } from './model/organization.ts';
import { person } from './model/person.ts';
import { project } from './model/project.ts';
import { service } from './model/service.ts';

export const components = {
  entities: [organization, project, service, hostname, email, person],
  consumers: [settleClaims, suspendServices],
  // Changes when an entity computes another state of the same events: snapshots of other versions are not read.
  version: '1',
} satisfies Components;
