// FilledFolder: fills the folder of a control plane before a measurement: an organization, a project, and its services with their
// histories. The entities, flows, views and consumers are those of the control plane; only requests are left out.
import { createService, type Service } from '@svc/host';
import { components } from '../../control-plane/components.ts';
import { applyService } from '../../control-plane/flows/apply-service.ts';
import type { Call } from '../../control-plane/flows/call.ts';
import { createOrganization } from '../../control-plane/flows/create-organization.ts';
import { createProject } from '../../control-plane/flows/create-project.ts';
import { serviceId } from '../../control-plane/flows/service-id.ts';
import { service as serviceEntity } from '../../control-plane/model/service.ts';

/** The owner of the organization, as the subject of tokens. */
export const OWNER = 'ann';
const ORGANIZATION = 'acme';
const PROJECT = 'shop';
/** Path of the services, without the slash before a name. */
export const SERVICES = `/services/${PROJECT}`;
/** Events of a service and of its creation in the project. */
const EVENTS_OF_SERVICE = 20;
const EVENTS_OF_CREATION = 3;
const IN_FLIGHT = 64;
const BY = { subject: OWNER, display: OWNER, administrative: false };

export function serviceName(index: number): string {
  return `s${index}`;
}

export function descriptorOf(name: string) {
  return { name, image: `registry.example/${name}:1`, env: { CURRENCY: 'EUR', TAX: '19' } };
}

/** Stores this many services, of 20 events each. */
export async function fillFolder(dataFolder: string, services: number): Promise<void> {
  const control = await createService({
    ...components,
    name: 'control-plane',
    dataFolder,
    http: { host: '127.0.0.1', port: 0 },
    deployed: true,
    log: 'none',
  });
  try {
    await create(control, services);
    const restarts = services * (EVENTS_OF_SERVICE - EVENTS_OF_CREATION);
    await inFlight(restarts, async (turn) => {
      const id = serviceId({ project: PROJECT, service: serviceName(turn % services) });
      succeeded(await control.call(serviceEntity, id).restart({ by: BY }));
    });
  } finally {
    await control.stop();
  }
}

async function create(control: Service, services: number): Promise<void> {
  const call: Call = (entity, id) => control.call(entity, id);
  const owner = { subject: OWNER, email: '', emailKey: '', display: OWNER };
  succeeded(await createOrganization(call, ORGANIZATION, { name: 'Acme', owner }, BY));
  const project = { organizationId: ORGANIZATION, name: 'Shop' };
  succeeded(await createProject(call, PROJECT, project, BY));
  await inFlight(services, async (turn) => {
    const name = serviceName(turn);
    const key = { project: PROJECT, service: name };
    succeeded(await applyService(call, key, descriptorOf(name), BY));
  });
}

/** Does the work for each turn from 0 up, some at the same time. */
async function inFlight(turns: number, work: (turn: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    // oxlint-disable-next-line no-await-in-loop -- a worker does one turn after the other
    while (next < turns) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

function succeeded(result: { readonly isOk: true } | { readonly isOk: false; message: string }) {
  if (!result.isOk) throw new Error(result.message);
}
