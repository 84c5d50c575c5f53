// The routes of organizations, without those of their members.
import type { OwnerDesignation } from '@svc/client';
import { Ok, refuse } from '@svc/host';
import { actorOf, personOf } from '../access/caller-identity.ts';
import { createOrganization } from '../flows/create-organization.ts';
import { organization } from '../model/organization.ts';
import type { Person } from '../model/organization-state.ts';
import type { ApiError } from './api-answer.ts';
import type { ApiHandlers } from './api-routes.ts';
import { creationRefusal, type CreationPolicy } from './creation-policy.ts';
import { emailKey } from './email-key.ts';

const NAMES_OWNER = 'only platform administrators may name the owner of a new organization';

export function organizationHandlers(
  policy: CreationPolicy,
): ApiHandlers<'getOrganization' | 'createOrganization'> {
  return {
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
  };
}

function designated({ subject, email = '', display }: OwnerDesignation): Person | ApiError {
  const key = email === '' ? '' : emailKey(email, '/owner/email');
  if (typeof key !== 'string') return key;
  return { subject, email, emailKey: key, display: display ?? (email === '' ? subject : email) };
}
