// The routes of projects.
import { Ok } from '@svc/host';
import { actorOf } from '../access/caller-identity.ts';
import { disabledRefusal, noAccess } from '../access/route-authorization.ts';
import { membershipIn } from '../access/membership.ts';
import { reauthorizationFor } from '../access/reauthorization.ts';
import { membershipsOf } from '../flows/change-members.ts';
import { createProject } from '../flows/create-project.ts';
import { deleteProject } from '../flows/delete-project.ts';
import type { ListQueries } from '../views/list-queries.ts';
import { project } from '../model/project.ts';
import { NO_SUCH_ORGANIZATION } from '../model/refusals.ts';
import type { ApiHandlers } from './control-plane-table.ts';

type ProjectRoute =
  | 'listProjects'
  | 'getProject'
  | 'createProject'
  | 'renameProject'
  | 'deleteProject';

export function projectHandlers(lists: ListQueries): ApiHandlers<ProjectRoute> {
  return {
    async listProjects({ input: { organization: only }, given: { caller }, call }) {
      const own = await membershipsOf(call, caller.subject);
      if (!own.isOk) return own;
      const ids = own.value.map(({ id }) => id).filter((id) => only === undefined || id === only);
      const { rows, servicesOf } = await lists.projects(ids);
      const summaries = [];
      for (const { id, name, organization: organizationId } of rows)
        summaries.push({ id, name, organizationId, services: await servicesOf(id) });
      return new Ok(summaries);
    },
    async getProject({ input: { projectId: id }, call }) {
      const summary = await call(project, id).summary();
      if (!summary.isOk) return summary;
      const { name, organization: organizationId, services } = summary.value;
      return new Ok({ id, name, organizationId, services });
    },
    async createProject({ input: { projectId, body }, given, call }) {
      const { caller } = given;
      const membership = await membershipIn(call, body.organizationId, caller);
      if (membership?.role === undefined) return noAccess(given, NO_SUCH_ORGANIZATION);
      const refused = disabledRefusal(membership);
      if (refused !== undefined) return refused;
      return await createProject(call, projectId, body, actorOf(caller));
    },
    async renameProject({ input: { projectId, body }, given: { caller }, call }) {
      return await call(project, projectId).rename({ name: body.name, by: actorOf(caller) });
    },
    async deleteProject({ input: { projectId }, given, call }) {
      const reauthorization = reauthorizationFor('deleteProject', given, call);
      return await deleteProject(call, projectId, actorOf(given.caller), reauthorization);
    },
  };
}
