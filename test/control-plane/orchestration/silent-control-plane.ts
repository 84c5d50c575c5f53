// SilentControlPlane: a program that applies a service while the orchestrator never answers, and then waits to be killed.
// Its argument is the folder of the journal.
import { createService } from '@svc/host';
import { reconcileServices } from '../../../control-plane/consumers/reconcile-services.ts';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import { createOrganization } from '../../../control-plane/flows/create-organization.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { email } from '../../../control-plane/model/email.ts';
import { hostname } from '../../../control-plane/model/hostname.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { person } from '../../../control-plane/model/person.ts';
import { project } from '../../../control-plane/model/project.ts';
import { service } from '../../../control-plane/model/service.ts';
import { workload } from '../../../control-plane/model/workload.ts';
import { knownServices } from '../../../control-plane/orchestration/known-services.ts';
import { Orchestration } from '../../../control-plane/orchestration/orchestration.ts';
import { ORCHESTRATOR_DEFAULTS } from '../../../control-plane/orchestration/orchestrator-section.ts';
import type { Orchestrator } from '../../../control-plane/orchestration/orchestrator.ts';
import { GOOD_IMAGE } from '../../support/scripted-orchestrator/scripted-orchestrator.ts';

const never = () => new Promise<never>(() => {});
const asked = Promise.withResolvers<void>();
const orchestrator: Orchestrator = {
  problems: async () => [],
  reconcile: never,
  logs: never,
  observe() {
    asked.resolve();
    return never();
  },
  watch: () => ({ [Symbol.dispose]() {} }),
};
const orchestration = new Orchestration({
  orchestrator,
  section: ORCHESTRATOR_DEFAULTS,
  log: () => {},
});
const running = await createService({
  name: 'control-plane',
  entities: [organization, project, service, hostname, email, person, workload],
  views: [knownServices],
  consumers: [reconcileServices(orchestration.changed)],
  http: false,
  log: 'none',
  dataFolder: process.argv[2]!,
});
orchestration.start(running);

const by = { subject: 'ann', display: 'ann', administrative: false };
const owner = {
  subject: 'ann',
  email: 'ann@example.com',
  emailKey: 'ann@example.com',
  display: 'ann',
};
const call: typeof running.call = (entity, id) => running.call(entity, id);
await createOrganization(call, 'shop', { name: 'shop', owner }, by);
await createProject(call, 'web', { organizationId: 'shop', name: 'web' }, by);
const descriptor = { name: 'cart', image: GOOD_IMAGE, instances: 2 };
const applied = await applyService(call, { project: 'web', service: 'cart' }, descriptor, by);
await asked.promise;
process.stdout.write(
  applied.isOk
    ? `applied generation ${applied.value}, and asked the orchestrator\n`
    : `refused: ${applied.message}\n`,
);
