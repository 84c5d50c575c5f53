// TableExpectations: the status of every route for every caller in every state of what it names, written from the contract
// (who may do what, and in which order a request is judged), and not from the checks of the control plane.
import type { RouteName } from '@svc/client';

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

/** The organization that a path names, with a project and a service in it: disabled, deleted with all, or never created. */
export const STATES = ['alive', 'disabled', 'deleted', 'never there'] as const;
export type State = (typeof STATES)[number];

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

export function expectedStatus(route: RouteName, name: CallerName, state: State): number {
  const caller: TableCaller = CALLERS[name];
  const { role, isAdministrator = false } = caller;
  const success = ALIVE[route];
  if (route === 'getLoginInformation') return success;
  if (caller.token !== 'good') return 401;
  if (OF_EVERY_CALLER.has(route)) return success;
  if (route === 'createOrganization') return state === 'never there' ? 204 : 409;
  const exists = state === 'alive' || state === 'disabled';
  const isDisabled = state === 'disabled';
  if (READ.has(route)) return exists && (role ?? isAdministrator) !== false ? success : 404;
  if (OWNERS.has(route)) {
    if (!exists || (role === undefined && !isAdministrator)) return 404;
    return role === 'owner' && !isDisabled ? success : 403;
  }
  if (ADMINISTRATORS.has(route)) {
    if (!exists || (role === undefined && !isAdministrator)) return 404;
    return isAdministrator ? success : 403;
  }
  if (!exists || role === undefined) return 404;
  if (READ_BY_MEMBERS.has(route)) return success;
  // Nothing runs in a disabled organization, so there are no logs.
  if (route === 'getServiceLogs') return isDisabled ? 404 : success;
  if (route === 'deleteProject' && role !== 'owner') return 403;
  return isDisabled ? 403 : success;
}
