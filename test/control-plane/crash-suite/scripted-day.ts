// ScriptedDay: one request after the other, each of which is done: every route that changes something, and every flow that spans
// entities. The ids are those of the histories of the model suite.
import type { Input, Person, Request } from '../model-suite/requests.ts';

/** Added to the ids of the day: see `SentRequest`. */
export const RUN = 'zzdayz';

export function keyOf(index: number): string {
  return `${RUN}-${index}`;
}

const request =
  (as: Person) =>
  (route: Request['route'], input: Input): Request => ({ as, route, input });
const ann = request('ann');
const bob = request('bob');
const root = request('root');

const shop = { organizationId: 'o1' };
const bank = { organizationId: 'o2' };
const cart = { projectId: 'p', name: 's' };
const till = { projectId: 'p', name: 's-s' };
/** The derived hostnames of this one and of `till` are the same. */
const other = { projectId: 's-p', name: 's' };
const applied = (
  key: { readonly projectId: string; readonly name: string },
  more: { readonly hostnames?: readonly string[]; readonly http?: boolean } = {},
): Input => ({ ...key, body: { name: key.name, image: 'it:1', ...more } });

export const DAY: readonly Request[] = [
  ann('createOrganization', { ...shop, body: { name: 'One' } }),
  ann('createProject', { projectId: 'p', body: { name: 'One', ...shop } }),
  ann('applyService', applied(cart, { hostnames: ['h1', 'h2'] })),
  ann('exposeService', cart),
  ann('inviteMember', { ...shop, body: { email: 'bob@example.com', role: 'owner' } }),
  bob('renameOrganization', { ...shop, body: { name: 'Two' } }),
  bob('createOrganization', { ...bank, body: { name: 'Two' } }),
  bob('createProject', { projectId: 's-p', body: { name: 'Two', ...bank } }),
  bob('applyService', applied(other)),
  // One service takes the hostname that another one gives up.
  ann('applyService', applied(cart, { hostnames: ['h2'] })),
  bob('applyService', applied(other, { hostnames: ['h1'] })),
  ann('applyService', applied(till)),
  ann('exposeService', till),
  ann('unexposeService', till),
  bob('exposeService', other),
  ann('pauseService', cart),
  root('disableOrganization', shop),
  root('disableOrganization', bank),
  root('repairMember', { ...shop, subject: 'mia', body: { role: 'member' } }),
  root('enableOrganization', shop),
  root('enableOrganization', bank),
  ann('resumeService', cart),
  ann('restartService', cart),
  // Gives up its derived hostname and its custom one.
  ann('applyService', applied(cart, { http: false })),
  bob('deleteService', other),
  ann('applyService', applied(till, { hostnames: ['h1', 'h2'] })),
  ann('exposeService', till),
  ann('deleteService', cart),
  // A name is used again, and so are the hostnames of a deleted service.
  ann('applyService', applied(cart)),
  ann('deleteService', till),
  ann('applyService', applied(cart, { hostnames: ['h1'] })),
  bob('applyService', applied(other, { hostnames: ['h2'] })),
  bob('renameProject', { projectId: 's-p', body: { name: 'One' } }),
  bob('deleteService', other),
  bob('deleteProject', { projectId: 's-p' }),
  bob('deleteOrganization', bank),
  ann('inviteMember', { ...shop, body: { email: 'cid@example.com', role: 'member' } }),
  ann('withdrawInvitation', { ...shop, email: 'cid@example.com' }),
  ann('setMemberRole', { ...shop, subject: 'bob', body: { role: 'member' } }),
  ann('removeMember', { ...shop, subject: 'bob' }),
  root('disableOrganization', shop),
];
