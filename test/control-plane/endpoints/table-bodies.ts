// TableBodies: the bodies of the successes in the table suite, without times, which are not determined, and of lists only that
// they have what the request names: other tests of the suite add to them.
import type { RouteName } from '@svc/client';
import { expect } from 'vitest';
import {
  CALLERS,
  type CallerName,
  type Place,
  type State,
  type TableCaller,
  guestOf,
} from './table-expectations.ts';

export const IMAGE = 'registry.example/it:1';

/** A success with a body: who asks, and for what. */
export interface Asked {
  readonly caller: CallerName;
  readonly state: State;
  readonly place: Place;
}

const TIME: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

function organizationOf({ caller, state, place }: Asked): object {
  const { role }: TableCaller = CALLERS[caller];
  return {
    id: place.organizationId,
    name: 'Organization',
    projects: 1,
    disabled: state === 'disabled',
    ...(role !== undefined && { role }),
  };
}

function projectOf({ place }: Asked): object {
  return {
    id: place.projectId,
    name: 'Project',
    organizationId: place.organizationId,
    services: 1,
  };
}

function serviceOf({ state, place }: Asked, changed: object = {}): object {
  const isSuspended = state === 'disabled';
  return {
    name: 'cart',
    projectId: place.projectId,
    lifecycle: isSuspended ? 'suspended' : 'pending',
    generation: 1,
    image: IMAGE,
    readyInstances: 0,
    desiredInstances: isSuspended ? 0 : 1,
    confirmed: false,
    exposed: false,
    suspended: isSuspended,
    paused: false,
    hosting: 'embedded',
    ...(isSuspended && { detail: 'the organization is disabled' }),
    ...changed,
  };
}

const PAUSED = { lifecycle: 'paused', paused: true, desiredInstances: 0 };

function repaired(subject: string): object {
  const addedBy = 'administrator';
  return { subject, role: 'member', email: '', display: subject, since: TIME, addedBy };
}

function membersOf({ place }: Asked): object {
  return {
    members: [
      { ...repaired('owner'), role: 'owner', display: 'Owner', addedBy: 'Owner' },
      ...['member', 'machine', 'administrator and member', 'target'].map(repaired),
    ],
    invitations: [{ email: guestOf(place), role: 'member', invitedAt: TIME, invitedBy: 'Owner' }],
  };
}

function historyOf({ state }: Asked): readonly object[] {
  const owner = { subject: 'owner', display: 'Owner', administrative: false };
  const applied = { kind: 'applied', generation: 1, actor: owner, at: TIME };
  if (state !== 'disabled') return [applied];
  const administrator = {
    subject: 'administrator',
    display: 'administrator',
    administrative: true,
  };
  return [{ kind: 'suspended', generation: 1, actor: administrator, at: TIME }, applied];
}

/** A list that has the item of the place if the caller sees it there, and else nothing of this id. */
function listWith(item: object, id: string, isSeen: boolean): unknown {
  return isSeen
    ? (expect.arrayContaining([item]) as unknown)
    : (expect.not.arrayContaining([expect.objectContaining({ id })]) as unknown);
}

function callerOf({ caller }: Asked): TableCaller {
  return CALLERS[caller];
}

const exists = ({ state }: Asked) => state === 'alive' || state === 'disabled';

const BODIES: { readonly [Name in RouteName]?: (asked: Asked) => unknown } = {
  getLoginInformation: () => ({
    issuer: expect.stringMatching(/^http:/) as unknown,
    audience: 'https://api.svc.test',
    clientId: 'svc-cli',
  }),
  whoami: (asked) => {
    const { role, isAdministrator = false } = callerOf(asked);
    const { organizationId: id } = asked.place;
    return {
      subject: asked.caller,
      ...(role === 'owner' && { name: 'Owner' }),
      emailVerified: false,
      platformAdmin: isAdministrator,
      organizations: listWith(
        { id, name: 'Organization', role },
        id,
        role !== undefined && exists(asked),
      ),
    };
  },
  listOrganizations: (asked) => {
    const { role, isAdministrator = false } = callerOf(asked);
    const isSeen = (role !== undefined || isAdministrator) && exists(asked);
    return listWith(organizationOf(asked), asked.place.organizationId, isSeen);
  },
  getOrganization: organizationOf,
  listMembers: membersOf,
  listProjects: (asked) => {
    const isSeen = callerOf(asked).role !== undefined && exists(asked);
    return listWith(projectOf(asked), asked.place.projectId, isSeen);
  },
  getProject: projectOf,
  listServices: (asked) => [serviceOf(asked)],
  getService: (asked) => serviceOf(asked),
  applyService: (asked) => serviceOf(asked, { generation: 2 }),
  pauseService: (asked) => serviceOf(asked, PAUSED),
  resumeService: (asked) => serviceOf(asked),
  restartService: (asked) => serviceOf(asked, { generation: 2 }),
  exposeService: (asked) => {
    const hostname = `https://cart-${asked.place.projectId}.svc.test`;
    return serviceOf(asked, { exposed: true, hostname });
  },
  unexposeService: (asked) => serviceOf(asked),
  getServiceLogs: () => ({ instances: [{ instance: 'cart-1', output: '', error: null }] }),
  getServiceHistory: historyOf,
};

/** Returns the body of a success; undefined where the route answers 204. */
export function expectedBody(route: RouteName, asked: Asked): unknown {
  return BODIES[route]?.(asked);
}
