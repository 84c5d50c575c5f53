// Reference: what the contract says of each request, one after the other, in a state that is copied with each change. It knows
// nothing of entities. A request has up to three steps, between which others may come: the invitations of its caller become
// memberships, it is judged whether the caller may do it, and it is done.
import { sortedRows, type Person, type Request } from './requests.ts';

type Role = 'owner' | 'member';
type Records<Value> = Readonly<Record<string, Value>>;

interface Organization {
  readonly isAlive: boolean;
  readonly name: string;
  readonly isDisabled: boolean;
  readonly members: Records<Role>;
  /** Addresses of members, where they are known. */
  readonly addresses: Records<string>;
  /** Roles by address. */
  readonly invitations: Records<Role>;
}

interface Project {
  readonly isAlive: boolean;
  readonly name: string;
  readonly organization: string;
}

interface Service {
  readonly isAlive: boolean;
  readonly generation: number;
  readonly hasHttp: boolean;
  readonly isExposed: boolean;
  readonly isPaused: boolean;
  readonly hostnames: readonly string[];
  /** `<kind> <generation> <subject>`, the oldest first. */
  readonly history: readonly string[];
}

export interface State {
  readonly organizations: Records<Organization>;
  readonly projects: Records<Project>;
  /** By `<project>/<name>`. */
  readonly services: Records<Service>;
}

export const EMPTY: State = { organizations: {}, projects: {}, services: {} };

export interface Answer {
  readonly status: number;
  /** The part of the body that the reference knows. */
  readonly body?: unknown;
}

/** Result of a step: another state, or the answer, or both. */
export interface Stepped {
  readonly state?: State;
  readonly answer?: Answer;
}
export type Step = (state: State) => Stepped;

const NO_SERVICE: Service = {
  isAlive: false,
  generation: 0,
  hasHttp: true,
  isExposed: false,
  isPaused: false,
  hostnames: [],
  history: [],
};

const ADMINISTRATOR: Person = 'root';
const VERIFIED: ReadonlySet<Person> = new Set<Person>(['ann', 'bob', 'cid']);
const DONE: Answer = { status: 204 };
const refused = (status: number): Stepped => ({ answer: { status } });

/** Returns the steps of a request. The last one always gives an answer. */
export function stepsOf(request: Request): readonly Step[] {
  return [
    ...(VERIFIED.has(request.as) ? [(state: State) => joined(state, request.as)] : []),
    (state) => judged(state, request),
    (state) => done(state, request),
  ];
}

function addressOf(person: string): string {
  return `${person}@example.com`;
}

function organizationWith(state: State, id: string, change: Partial<Organization>): State {
  const organizations = { ...state.organizations };
  organizations[id] = { ...state.organizations[id]!, ...change };
  return { ...state, organizations };
}

function without<Value>(records: Records<Value>, name: string): Records<Value> {
  return Object.fromEntries(Object.entries(records).filter(([each]) => each !== name));
}

/** The invitations of a verified address become memberships; a member's role stays. */
function joined(state: State, person: Person): Stepped {
  const address = addressOf(person);
  let next = state;
  for (const [id, { invitations, members, addresses }] of Object.entries(state.organizations)) {
    const role = invitations[address];
    if (role === undefined) continue;
    next = organizationWith(next, id, {
      invitations: without(invitations, address),
      ...(members[person] === undefined && {
        members: { ...members, [person]: role },
        addresses: { ...addresses, [person]: address },
      }),
    });
  }
  return { state: next };
}

/** Returns the organization that the request is about, if it exists. */
function concernedBy(state: State, { input, route }: Request): string | undefined {
  const { organizationId, projectId, body } = input;
  if (route === 'createProject') return body?.['organizationId'] as string;
  if (organizationId !== undefined) return organizationId;
  const project = state.projects[projectId ?? ''];
  return project?.isAlive === true ? project.organization : undefined;
}

const FREE: ReadonlySet<string> = new Set(['whoami', 'createOrganization']);
const ADMINISTRATIVE: ReadonlySet<string> = new Set([
  'repairMember',
  'disableOrganization',
  'enableOrganization',
]);
const OWNERS: ReadonlySet<string> = new Set([
  'renameOrganization',
  'deleteOrganization',
  'inviteMember',
  'withdrawInvitation',
  'removeMember',
  'setMemberRole',
  'deleteProject',
]);

function judged(state: State, request: Request): Stepped {
  const { as, route, input } = request;
  if (FREE.has(route)) return {};
  const found = state.organizations[concernedBy(state, request) ?? ''];
  const role = found?.members[as];
  const seesAll = as === ADMINISTRATOR && input.organizationId !== undefined;
  if (found?.isAlive !== true || (role === undefined && !seesAll)) return refused(404);
  if (ADMINISTRATIVE.has(route)) return as === ADMINISTRATOR ? {} : refused(403);
  if (OWNERS.has(route) && role !== 'owner') return refused(403);
  return found.isDisabled && !/^(get|list)/.test(route) ? refused(403) : {};
}

function done(state: State, request: Request): Stepped {
  const { organizationId, projectId, name } = request.input;
  if (request.route === 'whoami')
    return { answer: { status: 200, body: identity(state, request.as) } };
  if (name !== undefined) return doneToService(state, request, `${projectId!}/${name}`);
  if (projectId !== undefined) return doneToProject(state, request, projectId);
  return doneToOrganization(state, request, organizationId!);
}

function identity(state: State, person: Person): unknown {
  return Object.keys(state.organizations)
    .filter((id) => state.organizations[id]!.members[person] !== undefined)
    .toSorted()
    .map((id) => [id, state.organizations[id]!.name, state.organizations[id]!.members[person]]);
}

function childrenOf(state: State, organization: string): number {
  return Object.values(state.projects).filter(
    (project) => project.isAlive && project.organization === organization,
  ).length;
}

function isLastOwner({ members }: Organization, person: string): boolean {
  const owners = Object.keys(members).filter((each) => members[each] === 'owner');
  return owners.length === 1 && owners[0] === person;
}

function doneToOrganization(state: State, { as, route, input }: Request, id: string): Stepped {
  const found = state.organizations[id];
  const { body = {}, subject = '', email = '' } = input;
  const changed = (change: Partial<Organization>): Stepped => ({
    state: organizationWith(state, id, change),
    answer: DONE,
  });
  if (route === 'createOrganization') {
    if (found !== undefined) return refused(409);
    return changed({
      isAlive: true,
      name: body['name'] as string,
      isDisabled: false,
      members: { [as]: 'owner' },
      addresses: VERIFIED.has(as) ? { [as]: addressOf(as) } : {},
      invitations: {},
    });
  }
  if (found?.isAlive !== true) return refused(404);
  const { members, invitations, addresses } = found;
  const role = body['role'] as Role;
  switch (route as string) {
    case 'getOrganization': {
      const read = [id, found.name, childrenOf(state, id), found.isDisabled, members[as] ?? null];
      return { answer: { status: 200, body: read } };
    }
    case 'listMembers': {
      const read = [sortedRows(Object.entries(members)), sortedRows(Object.entries(invitations))];
      return { answer: { status: 200, body: read } };
    }
    case 'renameOrganization':
      return changed({ name: body['name'] as string });
    case 'deleteOrganization':
      if (childrenOf(state, id) > 0) return refused(409);
      return changed({ isAlive: false, name: '', members: {}, invitations: {}, addresses: {} });
    case 'inviteMember':
      if (Object.values(addresses).includes(body['email'] as string)) return refused(409);
      return changed({ invitations: { ...invitations, [body['email'] as string]: role } });
    case 'withdrawInvitation':
      if (invitations[email] === undefined) return refused(404);
      return changed({ invitations: without(invitations, email) });
    case 'removeMember':
      if (members[subject] === undefined) return refused(404);
      if (isLastOwner(found, subject)) return refused(409);
      return changed({
        members: without(members, subject),
        addresses: without(addresses, subject),
      });
    case 'setMemberRole':
      if (members[subject] === undefined) return refused(404);
      if (role === 'member' && isLastOwner(found, subject)) return refused(409);
      return changed({ members: { ...members, [subject]: role } });
    case 'repairMember':
      if (role === 'member' && isLastOwner(found, subject)) return refused(409);
      return changed({ members: { ...members, [subject]: role } });
    case 'disableOrganization':
      return changed({ isDisabled: true });
    case 'enableOrganization':
      return changed({ isDisabled: false });
    default:
      throw new Error(`the reference does not know ${route}`);
  }
}

function doneToProject(state: State, { route, input }: Request, id: string): Stepped {
  const found = state.projects[id];
  const { body = {} } = input;
  const changed = (change: Project): Stepped => ({
    state: { ...state, projects: { ...state.projects, [id]: change } },
    answer: DONE,
  });
  if (route === 'createProject') {
    const organization = body['organizationId'] as string;
    if (state.organizations[organization]?.isAlive !== true) return refused(404);
    if (found !== undefined) return refused(409);
    return changed({ isAlive: true, name: body['name'] as string, organization });
  }
  if (found?.isAlive !== true) return refused(404);
  const services = Object.keys(state.services).filter(
    (each) => each.startsWith(`${id}/`) && state.services[each]!.isAlive,
  ).length;
  switch (route as string) {
    case 'getProject':
      return { answer: { status: 200, body: [id, found.name, found.organization, services] } };
    case 'renameProject':
      return changed({ ...found, name: body['name'] as string });
    case 'deleteProject':
      return services > 0 ? refused(409) : changed({ ...found, isAlive: false });
    default:
      throw new Error(`the reference does not know ${route}`);
  }
}

function derived(id: string): string {
  const [project, name] = id.split('/') as [string, string];
  return `${name}-${project}`;
}

function isTaken(state: State, id: string, hostname: string): boolean {
  return Object.entries(state.services).some(
    ([other, { hostnames, isExposed }]) =>
      other !== id && (hostnames.includes(hostname) || (isExposed && derived(other) === hostname)),
  );
}

function doneToService(state: State, { as, route, input }: Request, id: string): Stepped {
  const found = state.services[id] ?? NO_SERVICE;
  const entry = (kind: string, generation = found.generation) => [
    ...found.history,
    `${kind} ${generation} ${as}`,
  ];
  const changed = (change: Partial<Service>): Stepped => {
    const service = { ...found, ...change };
    const next = { ...state, services: { ...state.services, [id]: service } };
    return { state: next, answer: { status: 200, body: statusOf(next, id) } };
  };
  if (route === 'applyService') {
    const { hostnames = [], http = true } = input.body as { hostnames?: string[]; http?: boolean };
    if (hostnames.some((hostname) => isTaken(state, id, hostname))) return refused(409);
    if (state.projects[input.projectId!]?.isAlive !== true) return refused(404);
    const generation = found.generation + 1;
    const history = entry('applied', generation);
    if (found.isExposed && !http) history.push(`unexposed ${generation} ${as}`);
    const isExposed = found.isExposed && http;
    return changed({ isAlive: true, generation, hasHttp: http, isExposed, hostnames, history });
  }
  if (!found.isAlive) return refused(404);
  switch (route as string) {
    case 'getService':
      return { answer: { status: 200, body: statusOf(state, id) } };
    case 'getServiceHistory':
      return { answer: { status: 200, body: found.history.toReversed() } };
    case 'pauseService':
      return changed(found.isPaused ? {} : { isPaused: true, history: entry('paused') });
    case 'resumeService':
      return changed(found.isPaused ? { isPaused: false, history: entry('resumed') } : {});
    case 'restartService': {
      const generation = found.generation + 1;
      if (found.isPaused) return refused(409);
      return changed({ generation, history: entry('restarted', generation) });
    }
    case 'exposeService':
      if (!found.hasHttp || isTaken(state, id, derived(id))) return refused(409);
      return changed(found.isExposed ? {} : { isExposed: true, history: entry('exposed') });
    case 'unexposeService':
      return changed(found.isExposed ? { isExposed: false, history: entry('unexposed') } : {});
    case 'deleteService': {
      const { generation } = found;
      const gone = { ...NO_SERVICE, generation, history: entry('deleted') };
      return { state: changed(gone).state!, answer: DONE };
    }
    default:
      throw new Error(`the reference does not know ${route}`);
  }
}

function statusOf(state: State, id: string): unknown {
  const { generation, isExposed, isPaused } = state.services[id]!;
  const project = state.projects[id.split('/')[0]!];
  const isSuspended = state.organizations[project?.organization ?? '']?.isDisabled === true;
  return [generation, isExposed ? derived(id) : null, isPaused, isSuspended];
}
