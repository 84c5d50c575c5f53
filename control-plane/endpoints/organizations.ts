// The routes of organizations, without those of their members.
import type { ApiError } from '@svc/api/api-answer';
import type { OrganizationSummary, OwnerDesignation } from '@svc/client';
import { Ok, refuse } from '@svc/host';
import { actorOf, personOf } from '../access/caller-identity.ts';
import { reauthorizationFor } from '../access/reauthorization.ts';
import { membershipsOf } from '../flows/change-members.ts';
import { createOrganization } from '../flows/create-organization.ts';
import { deleteOrganization } from '../flows/delete-organization.ts';
import type { ListQueries } from '../views/list-queries.ts';
import { organization } from '../model/organization.ts';
import type { Person } from '../model/organization-state.ts';
import type { ApiHandlers } from './control-plane-table.ts';
import { creationRefusal, type CreationPolicy } from './creation-policy.ts';
import { emailKey } from './email-key.ts';

type OrganizationRoute =
  | 'listOrganizations'
  | 'getOrganization'
  | 'createOrganization'
  | 'renameOrganization'
  | 'deleteOrganization'
  | 'disableOrganization'
  | 'enableOrganization';

const NAMES_OWNER = 'only platform administrators may name the owner of a new organization';

export function organizationHandlers(
  lists: ListQueries,
  policy: CreationPolicy,
): ApiHandlers<OrganizationRoute> {
  return {
    async listOrganizations({ given: { caller }, call }) {
      const own = await membershipsOf(call, caller.subject);
      if (!own.isOk || !caller.platformAdmin) return own;
      return new Ok(await withAllOthers(lists, own.value));
    },
    async getOrganization({ input: { organizationId: id }, given: { caller }, call }) {
      const summary = await call(organization, id).summary({ subject: caller.subject });
      return summary.isOk ? new Ok({ id, ...summary.value }) : summary;
    },
    async createOrganization({ input: { organizationId: id, body }, given: { caller }, call }) {
      const { name, owner: designation } = body;
      const owner = designation === undefined ? personOf(caller) : designated(designation);
      if ('status' in owner) return owner;
      if (designation !== undefined && !caller.platformAdmin)
        return refuse(NAMES_OWNER, 'FORBIDDEN');
      const refused = creationRefusal(policy, caller);
      if (refused !== undefined) return refused;
      const isAdministrative = designation !== undefined || policy.creation === 'platform-admin';
      return await createOrganization(call, id, { name, owner }, actorOf(caller, isAdministrative));
    },
    async renameOrganization({ input: { organizationId: id, body }, given: { caller }, call }) {
      return await call(organization, id).rename({ name: body.name, by: actorOf(caller) });
    },
    async deleteOrganization({ input: { organizationId: id }, given, call }) {
      const reauthorization = reauthorizationFor('deleteOrganization', given, call);
      return await deleteOrganization(call, id, actorOf(given.caller), reauthorization);
    },
    async disableOrganization({ input: { organizationId: id }, given: { caller }, call }) {
      return await call(organization, id).disable({ by: actorOf(caller, true) });
    },
    async enableOrganization({ input: { organizationId: id }, given: { caller }, call }) {
      return await call(organization, id).enable({ by: actorOf(caller, true) });
    },
  };
}

/** Returns all organizations by id. Those of the caller are as the organizations themselves say. */
async function withAllOthers(
  lists: ListQueries,
  own: readonly OrganizationSummary[],
): Promise<OrganizationSummary[]> {
  const { rows, projectsOf } = await lists.organizations();
  const byId = new Map(own.map((summary) => [summary.id, summary]));
  for (const row of rows)
    if (!byId.has(row.id)) byId.set(row.id, { ...row, projects: await projectsOf(row.id) });
  return [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function designated({ subject, email = '', display }: OwnerDesignation): Person | ApiError {
  const key = email === '' ? '' : emailKey(email, '/owner/email');
  if (typeof key !== 'string') return key;
  return { subject, email, emailKey: key, display: display ?? (email === '' ? subject : email) };
}
