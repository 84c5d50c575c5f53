// ROUTES: the table of the control plane's routes. Server, OpenAPI, client, command line and the page of the reference are held
// against it.
//
// Invariant: whether a caller may use a route is judged by its role in the organization that the path names, for a new
// project by that of the body.
import * as bodies from './bodies.ts';
import type { Route } from './route.ts';
import { boolean, integer, list, text } from './schema.ts';
import { LOG_LINES_MAX, LOG_SECONDS_MAX } from './vocabularies.ts';

const ORGANIZATION = '/organizations/{organizationId}';
const PROJECT = '/projects/{projectId}';
const SERVICE = '/services/{projectId}/{name}';

const IDENTITY_ROUTES = {
  getLoginInformation: {
    method: 'GET',
    path: '/auth',
    who: 'anyone',
    summary: 'Says how to get a token',
    answer: bodies.loginInformation,
  },
  whoami: {
    method: 'GET',
    path: '/auth/whoami',
    who: 'caller',
    summary: 'Says who the caller is',
    description: "Invitations of the caller's verified address become memberships first.",
    answer: bodies.identity,
  },
} as const satisfies Readonly<Record<string, Route>>;

const ORGANIZATION_ROUTES = {
  listOrganizations: {
    method: 'GET',
    path: '/organizations',
    who: 'caller',
    summary: "Lists the caller's organizations",
    description: 'A platform administrator gets all organizations.',
    answer: list('organizations by id', bodies.organizationSummary),
  },
  getOrganization: {
    method: 'GET',
    path: ORGANIZATION,
    who: 'reader',
    summary: 'Shows an organization',
    answer: bodies.organizationSummary,
  },
  createOrganization: {
    method: 'POST',
    path: ORGANIZATION,
    who: 'caller',
    summary: 'Creates an organization',
    description:
      'The caller becomes its first owner. A platform administrator may name another one.',
    body: bodies.organizationCreation,
    refusals: {
      403: 'the policy of the installation lets others create organizations, or a caller who is no platform administrator names an owner',
      409: 'the id has been used before, even by an organization that is deleted; the caller has created as many as it may',
    },
  },
  renameOrganization: {
    method: 'PUT',
    path: `${ORGANIZATION}/name`,
    who: 'owner',
    summary: 'Renames an organization',
    body: bodies.renaming,
  },
  deleteOrganization: {
    method: 'DELETE',
    path: ORGANIZATION,
    who: 'owner',
    summary: 'Deletes an organization',
    description: 'Its id can never be used again.',
    refusals: { 409: 'the organization has projects' },
  },
  listMembers: {
    method: 'GET',
    path: `${ORGANIZATION}/members`,
    who: 'reader',
    summary: 'Lists the members and invitations of an organization',
    answer: bodies.memberList,
  },
  inviteMember: {
    method: 'POST',
    path: `${ORGANIZATION}/members`,
    who: 'owner',
    summary: 'Invites a person by address',
    description:
      'The invitation becomes a membership with the first token that has the address, verified by the identity provider. Inviting again replaces the role. The invitation of somebody who is a member already, without this address being known, ends with the next request of this member and changes nothing.',
    body: bodies.inviting,
    refusals: {
      409: 'the address is that of a member, the caller has too many invitations of it, or the organization has as many as it may',
    },
  },
  removeMember: {
    method: 'DELETE',
    path: `${ORGANIZATION}/members/{subject}`,
    who: 'owner',
    summary: 'Removes a member',
    description: 'The removal is effective from the next request of the member.',
    refusals: { 409: 'the member is the last owner' },
  },
  setMemberRole: {
    method: 'PUT',
    path: `${ORGANIZATION}/members/{subject}/role`,
    who: 'owner',
    summary: 'Changes the role of a member',
    body: bodies.roleChange,
    refusals: { 409: 'the member is the last owner' },
  },
  withdrawInvitation: {
    method: 'DELETE',
    path: `${ORGANIZATION}/invitations/{email}`,
    who: 'owner',
    summary: 'Withdraws an invitation that nobody has claimed',
  },
  repairMember: {
    method: 'POST',
    path: `${ORGANIZATION}/members/{subject}/repair`,
    who: 'administrator',
    summary: 'Adds a member directly',
    description:
      'For an organization whose owners have all left. The role of a member is changed to the given one.',
    body: bodies.repair,
    isBodyOptional: true,
    refusals: {
      409: 'the role is `member`, and the member is the last owner; a limit of members or of organizations is reached',
    },
  },
  disableOrganization: {
    method: 'POST',
    path: `${ORGANIZATION}/disable`,
    who: 'administrator',
    summary: 'Disables an organization',
    description: 'Its services are suspended. Its members can read everything, and change nothing.',
  },
  enableOrganization: {
    method: 'POST',
    path: `${ORGANIZATION}/enable`,
    who: 'administrator',
    summary: 'Enables an organization again',
    description: 'Each service returns to the state that it had.',
  },
} as const satisfies Readonly<Record<string, Route>>;

const PROJECT_ROUTES = {
  listProjects: {
    method: 'GET',
    path: '/projects',
    who: 'caller',
    summary: "Lists the projects of the caller's organizations",
    query: {
      organization: text(
        'id of one organization; the list is empty if the caller does not belong to it',
      ),
    },
    answer: list('projects by name', bodies.projectSummary),
  },
  getProject: {
    method: 'GET',
    path: PROJECT,
    who: 'member',
    summary: 'Shows a project',
    answer: bodies.projectSummary,
  },
  createProject: {
    method: 'POST',
    path: PROJECT,
    who: 'member',
    summary: 'Creates a project in an organization',
    description: 'The caller is a member of the organization that the body names.',
    body: bodies.projectCreation,
    refusals: {
      409: 'the id has been used before, even by a project that is deleted; the organization has as many as it may',
    },
  },
  renameProject: {
    method: 'PUT',
    path: `${PROJECT}/name`,
    who: 'member',
    summary: 'Renames a project',
    body: bodies.renaming,
  },
  deleteProject: {
    method: 'DELETE',
    path: PROJECT,
    who: 'owner',
    summary: 'Deletes a project',
    description: 'Its id can never be used again.',
    refusals: { 409: 'the project has services' },
  },
} as const satisfies Readonly<Record<string, Route>>;

const SERVICE_ROUTES = {
  listServices: {
    method: 'GET',
    path: '/services/{projectId}',
    who: 'member',
    summary: 'Lists the services of a project',
    description:
      'The list has every change that was answered before. What runs of each service is as it was observed last, so a status of one service may be newer.',
    answer: list('services by name', bodies.serviceStatus),
  },
  getService: {
    method: 'GET',
    path: SERVICE,
    who: 'member',
    summary: 'Shows the status of a service',
    answer: bodies.serviceStatus,
  },
  applyService: {
    method: 'PUT',
    path: SERVICE,
    who: 'member',
    summary: 'Creates or changes a service',
    description:
      'The generation increases even if nothing has changed, so that the tag of an image is pulled again. A paused service stays paused.',
    body: bodies.serviceDescriptor,
    answer: bodies.serviceStatus,
    refusals: {
      409: 'a custom hostname belongs to another service; the project has as many services as it may',
    },
  },
  pauseService: {
    method: 'POST',
    path: `${SERVICE}/pause`,
    who: 'member',
    summary: 'Stops every instance of a service',
    description: 'Descriptor, database and hostname are kept.',
    answer: bodies.serviceStatus,
  },
  resumeService: {
    method: 'POST',
    path: `${SERVICE}/resume`,
    who: 'member',
    summary: 'Starts the instances of a paused service again',
    answer: bodies.serviceStatus,
  },
  restartService: {
    method: 'POST',
    path: `${SERVICE}/restart`,
    who: 'member',
    summary: 'Replaces every instance of a service',
    description: 'The generation increases.',
    answer: bodies.serviceStatus,
    refusals: { 409: 'the service is paused' },
  },
  exposeService: {
    method: 'POST',
    path: `${SERVICE}/expose`,
    who: 'member',
    summary: 'Lets the internet reach a service at its derived hostname',
    answer: bodies.serviceStatus,
    refusals: {
      409: 'the service serves no HTTP, no base domain is configured, the first label of the hostname would have more than 63 characters, or another service has the hostname',
    },
  },
  unexposeService: {
    method: 'POST',
    path: `${SERVICE}/unexpose`,
    who: 'member',
    summary: 'Ends the exposure of a service',
    answer: bodies.serviceStatus,
  },
  getServiceLogs: {
    method: 'GET',
    path: `${SERVICE}/logs`,
    who: 'member',
    summary: 'Shows recent output of the instances of a service',
    query: {
      instance: text('name of one instance; otherwise every instance'),
      previous: boolean('present, or `true`: the output before the last restart of the instance'),
      tail: integer('only the last lines', { minimum: 0, maximum: LOG_LINES_MAX }),
      since: integer('only the last seconds', { minimum: 0, maximum: LOG_SECONDS_MAX }),
    },
    answer: bodies.serviceLogs,
    refusals: { 404: 'the service has no running instance' },
  },
  getServiceHistory: {
    method: 'GET',
    path: `${SERVICE}/history`,
    who: 'member',
    summary: 'Lists the changes of a service',
    answer: list('entries, the newest first', bodies.historyEntry),
  },
  deleteService: {
    method: 'DELETE',
    path: SERVICE,
    who: 'member',
    summary: 'Deletes a service',
    description:
      'Its database is kept, and a service that is applied with the same name later has it.',
  },
} as const satisfies Readonly<Record<string, Route>>;

export const ROUTES = {
  ...IDENTITY_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...PROJECT_ROUTES,
  ...SERVICE_ROUTES,
} as const;
export type RouteName = keyof typeof ROUTES;
