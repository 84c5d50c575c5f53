// svc project …: the projects of organizations. Each command is one call of one route.
import type { OptionDescription, WordDescription } from '../description.ts';
import { UsageError } from '../usage-error.ts';
import { routeCommand } from '../platform/route-command.ts';

const ID: WordDescription = { name: 'ID', completes: { kind: 'names', command: 'project list' } };
const ORGANIZATION_OPTION = {
  type: 'string',
  value: 'ID',
  help: 'organization',
  completes: { kind: 'names', command: 'org list' },
} as const satisfies OptionDescription;

export const projectList = routeCommand(
  'listProjects',
  {
    name: 'project list',
    summary: 'list the projects of your organizations',
    about: 'Lists the projects of your organizations, or of one of them.',
    words: [],
    options: {
      organization: { ...ORGANIZATION_OPTION, help: 'only projects of this organization' },
    },
    examples: ['svc project list', 'svc project list --organization acme'],
  },
  {
    input: (_words, { organization }) => (organization === undefined ? {} : { organization }),
    table: {
      heads: ['id', 'name', 'organization', 'services'],
      rows: (projects) =>
        projects.map(({ id, name, organizationId, services }) => [
          id,
          name,
          organizationId,
          String(services),
        ]),
    },
    names: (projects) => projects.map(({ id }) => id),
    note: (projects) =>
      projects.length > 0
        ? undefined
        : 'There are no projects. Create one with svc project create.',
  },
);

export const projectGet = routeCommand(
  'getProject',
  {
    name: 'project get',
    summary: 'show a project',
    about: 'Shows a project.',
    words: [ID],
    examples: ['svc project get shop'],
  },
  {
    input: ([projectId]) => ({ projectId: projectId! }),
    fields: ({ id, name, organizationId, services }) => ({
      id,
      name,
      organization: organizationId,
      services: String(services),
    }),
  },
);

export const projectCreate = routeCommand(
  'createProject',
  {
    name: 'project create',
    summary: 'create a project',
    about: `Creates a project in an organization. Its id can never be used again, not even after it is
deleted.`,
    words: [{ name: 'ID' }],
    options: {
      name: { type: 'string', value: 'NAME', help: 'name for people', otherwise: 'the id' },
      organization: { ...ORGANIZATION_OPTION, otherwise: "the context's organization" },
    },
    examples: ['svc project create shop --organization acme --name Shop'],
  },
  {
    input: ([id], { name, organization }, target) => {
      const organizationId = organization ?? target.organization;
      if (organizationId === undefined)
        throw new UsageError(
          'project create needs an organization: give --organization ID, or set one with svc context set NAME --organization ID.',
        );
      return { projectId: id!, body: { name: name ?? id!, organizationId } };
    },
    note: (_answer, { projectId, body: { organizationId } }) =>
      `Created the project ${projectId} in ${organizationId}. svc context set NAME --project ${projectId} lets commands use it.`,
  },
);

export const projectRename = routeCommand(
  'renameProject',
  {
    name: 'project rename',
    summary: 'change the name of a project',
    about: 'Changes the name for people of a project. Its id stays.',
    words: [ID, { name: 'NAME' }],
    examples: ['svc project rename shop Shop'],
  },
  {
    input: ([projectId, name]) => ({ projectId: projectId!, body: { name: name! } }),
    note: (_answer, { projectId }) => `Renamed the project ${projectId}.`,
  },
);

export const projectDelete = routeCommand(
  'deleteProject',
  {
    name: 'project delete',
    summary: 'delete a project',
    about: `Deletes a project without services. Its id can never be used again. For owners.`,
    words: [ID],
    examples: ['svc project delete shop', 'svc project delete shop --yes'],
  },
  {
    input: ([projectId]) => ({ projectId: projectId! }),
    question: ({ projectId }) => `Delete the project ${projectId}? Its id can never be used again.`,
    note: (_answer, { projectId }) => `Deleted the project ${projectId}.`,
  },
);
