// TableExpectations: the answer of every route for every caller in every state of what it names, written from the contract
// (who may do what, and in which order a request is judged), and not from the checks of the control plane. The bodies of
// successes are in table-bodies.ts.
import type { Failure, RouteName } from '@svc/client';

/** A caller: its token, and what it is in the organization. */
export interface TableCaller {
  readonly token: 'none' | 'bad' | 'good';
  readonly role?: 'owner' | 'member';
  readonly isAdministrator?: boolean;
}

export const CALLERS = {
  'no token': { token: 'none' },
  'bad token': { token: 'bad' },
  stranger: { token: 'good' },
  member: { token: 'good', role: 'member' },
  owner: { token: 'good', role: 'owner' },
  administrator: { token: 'good', isAdministrator: true },
  'administrator and member': { token: 'good', role: 'member', isAdministrator: true },
  machine: { token: 'good', role: 'member' },
} as const satisfies Readonly<Record<string, TableCaller>>;
export type CallerName = keyof typeof CALLERS;

/**
 * The organization that a path names, with a project and a service in it: disabled, deleted with all, or never created.
 * Empty: alive, and without what stands in the way of the request, which is a project of an organization to delete, a service
 * of a project to delete, and a project with the id of one to create.
 */
export type State = 'alive' | 'disabled' | 'deleted' | 'never there' | 'empty';
const STATES: readonly State[] = ['alive', 'disabled', 'deleted', 'never there'];
const CONFLICTS_WHILE_ALIVE: ReadonlySet<RouteName> = new Set([
  'deleteOrganization',
  'createProject',
  'deleteProject',
]);

export function statesOf(route: RouteName): readonly State[] {
  return CONFLICTS_WHILE_ALIVE.has(route) ? [...STATES, 'empty'] : STATES;
}

/** Ids of an organization and a project; the service in it is `cart`. */
export interface Place {
  readonly organizationId: string;
  readonly projectId: string;
}

/** The address that a place has invited: one of its own, since an inviter invites an address to a few organizations. */
export function guestOf({ organizationId }: Place): string {
  return `guest@${organizationId}.example.com`;
}

/** Success of each route while the organization is alive; a conflict where the organization, or the project, has children. */
const ALIVE: Readonly<Record<RouteName, number>> = {
  getLoginInformation: 200,
  whoami: 200,
  listOrganizations: 200,
  getOrganization: 200,
  createOrganization: 409,
  renameOrganization: 204,
  deleteOrganization: 409,
  listMembers: 200,
  inviteMember: 204,
  removeMember: 204,
  setMemberRole: 204,
  withdrawInvitation: 204,
  repairMember: 204,
  disableOrganization: 204,
  enableOrganization: 204,
  listProjects: 200,
  getProject: 200,
  createProject: 409,
  renameProject: 204,
  deleteProject: 409,
  listServices: 200,
  getService: 200,
  applyService: 200,
  pauseService: 200,
  resumeService: 200,
  restartService: 200,
  exposeService: 200,
  unexposeService: 200,
  getServiceLogs: 200,
  getServiceHistory: 200,
  deleteService: 204,
};

const OF_EVERY_CALLER: ReadonlySet<RouteName> = new Set([
  'whoami',
  'listOrganizations',
  'listProjects',
]);
const READ: ReadonlySet<RouteName> = new Set(['getOrganization', 'listMembers']);
const OWNERS: ReadonlySet<RouteName> = new Set([
  'renameOrganization',
  'deleteOrganization',
  'inviteMember',
  'removeMember',
  'setMemberRole',
  'withdrawInvitation',
]);
const ADMINISTRATORS: ReadonlySet<RouteName> = new Set([
  'repairMember',
  'disableOrganization',
  'enableOrganization',
]);
const READ_BY_MEMBERS: ReadonlySet<RouteName> = new Set([
  'getProject',
  'listServices',
  'getService',
  'getServiceHistory',
]);

const OF_ORGANIZATIONS: ReadonlySet<RouteName> = new Set([
  ...READ,
  ...OWNERS,
  ...ADMINISTRATORS,
  'createProject',
]);

const NO_TOKEN: Failure = {
  status: 401,
  error:
    'the request has no access token: send one as Authorization: Bearer TOKEN; GET /auth says how to get one',
};
const BAD_TOKEN: Failure = {
  status: 401,
  error: 'The access token is not a JSON Web Token that can be read.',
};
const NOT_OWNER: Failure = {
  status: 403,
  error: 'only owners of the organization may do this: ask one of them',
};
const NOT_ADMINISTRATOR: Failure = {
  status: 403,
  error: 'only platform administrators may do this',
};
const DISABLED: Failure = {
  status: 403,
  error:
    'the organization is disabled, so nothing in it can be changed: a platform administrator has to enable it first',
};
const NO_LOGS: Failure = {
  status: 404,
  error: 'the service has no running instance, so there are no logs',
};
const CONFLICTS: { readonly [Name in RouteName]?: string } = {
  createOrganization:
    'this organization id was used before, and an id is never used again: choose another',
  createProject: 'this project id was used before, and an id is never used again: choose another',
  deleteOrganization: 'the organization has projects: delete them first',
  deleteProject: 'the project has services: delete them first',
};

function notFound(route: RouteName): Failure {
  const error = OF_ORGANIZATIONS.has(route)
    ? 'there is no such organization, or you are not a member of it'
    : 'there is no such project, or you are not a member of its organization';
  return { status: 404, error };
}

function success(route: RouteName, state: State): Success | Failure {
  const status = state === 'empty' ? 204 : ALIVE[route];
  return status === 409 ? { status, error: CONFLICTS[route]! } : { status };
}

/** A success, whose body is that of the route: see table-bodies.ts. */
export interface Success {
  readonly status: number;
  readonly error?: undefined;
}

/** Returns the status of a success, and the whole body of a failure. */
export function expectedOutcome(
  route: RouteName,
  name: CallerName,
  state: State,
): Success | Failure {
  const caller: TableCaller = CALLERS[name];
  const { role, isAdministrator = false } = caller;
  const done = success(route, state);
  if (route === 'getLoginInformation') return done;
  if (caller.token !== 'good') return caller.token === 'none' ? NO_TOKEN : BAD_TOKEN;
  if (OF_EVERY_CALLER.has(route)) return done;
  if (route === 'createOrganization') return state === 'never there' ? { status: 204 } : done;
  const exists = state !== 'deleted' && state !== 'never there';
  const isDisabled = state === 'disabled';
  const seesOrganization = exists && (role !== undefined || isAdministrator);
  if (READ.has(route)) return seesOrganization ? done : notFound(route);
  if (OWNERS.has(route)) {
    if (!seesOrganization) return notFound(route);
    if (role !== 'owner') return NOT_OWNER;
    return isDisabled ? DISABLED : done;
  }
  if (ADMINISTRATORS.has(route)) {
    if (!seesOrganization) return notFound(route);
    return isAdministrator ? done : NOT_ADMINISTRATOR;
  }
  if (!exists || role === undefined) return notFound(route);
  if (READ_BY_MEMBERS.has(route)) return done;
  // Nothing runs in a disabled organization, so there are no logs.
  if (route === 'getServiceLogs') return isDisabled ? NO_LOGS : done;
  if (route === 'deleteProject' && role !== 'owner') return NOT_OWNER;
  return isDisabled ? DISABLED : done;
}
