// Requests of a history: random ones of all routes that change something, and reads, of few people about few things, so that
// they meet. Their ids are short; whoever sends them adds the run of the history, so that histories share a control plane.
import {
  type Arbitrary,
  constantFrom,
  oneof,
  record,
  subarray,
  constant,
  boolean,
} from 'fast-check';
import type { RouteName } from '@svc/client';

export type Person = 'ann' | 'bob' | 'cid' | 'mia' | 'root';
export const PEOPLE: readonly Person[] = ['ann', 'bob', 'cid', 'mia', 'root'];
export const ORGANIZATIONS = ['o1', 'o2'];
/** The hostnames of a service `x-s` in `p` and of `s` in `p-x` are the same: see `DERIVED`. */
export const PROJECTS = ['p', 's-p'];
export const SERVICES = ['s', 's-s'];
export const HOSTNAMES = ['h1', 'h2'];

/** Input of a route, as the client of the control plane takes it. */
export interface Input {
  readonly organizationId?: string;
  readonly projectId?: string;
  readonly name?: string;
  readonly subject?: string;
  readonly email?: string;
  readonly body?: Readonly<Record<string, unknown>>;
}

export interface Request {
  readonly as: Person;
  readonly route: RouteName;
  readonly input: Input;
}

/** Requests that are sent at the same time. */
export type Round = readonly Request[];

const organizationId = constantFrom('o1', 'o1', 'o2');
const projectId = constantFrom('p', 'p', 's-p');
const name = constantFrom('s', 's', 's-s');
const role = constantFrom('owner', 'member');
const label = constantFrom('One', 'Two');
/** The owner of the beginning, mostly: others are refused. */
const byAnyone = oneof(
  { weight: 8, arbitrary: constant<Person>('ann') },
  { weight: 2, arbitrary: constantFrom<Person>('mia', 'bob', 'cid', 'root') },
);
const byAdministrator = constantFrom<Person>('root', 'root', 'root', 'ann');
const subject = constantFrom('ann', 'bob', 'mia', 'mia');
/** Nobody else is invited: the address of a member whom an administrator added is not known. */
const email = constantFrom('bob@example.com', 'cid@example.com');

function requests(
  routes: readonly RouteName[],
  input: { readonly [Field in keyof Input]: Arbitrary<Input[Field]> },
  as = byAnyone,
): Arbitrary<Request> {
  return record({ as, route: constantFrom(...routes), input: record(input) });
}

const ofMembers = oneof(
  requests(['inviteMember'], { organizationId, body: record({ email, role }) }),
  requests(['withdrawInvitation'], { organizationId, email }),
  requests(['removeMember'], { organizationId, subject }),
  requests(['setMemberRole'], { organizationId, subject, body: record({ role }) }),
  requests(
    ['repairMember'],
    { organizationId, subject: constantFrom('ann', 'mia'), body: record({ role }) },
    byAdministrator,
  ),
);

const ofOrganizations = oneof(
  requests(['createOrganization'], { organizationId, body: record({ name: label }) }),
  requests(['renameOrganization'], { organizationId, body: record({ name: label }) }),
  requests(['deleteOrganization'], { organizationId }),
  requests(['disableOrganization'], { organizationId }, byAdministrator),
  {
    weight: 3,
    arbitrary: requests(['enableOrganization'], { organizationId }, byAdministrator),
  },
  requests(['getOrganization', 'listMembers'], { organizationId }),
  requests(['whoami'], {}),
);

const ofProjects = oneof(
  {
    weight: 3,
    arbitrary: requests(['createProject'], {
      projectId,
      body: record({ name: label, organizationId }),
    }),
  },
  requests(['renameProject'], { projectId, body: record({ name: label }) }),
  requests(['deleteProject'], { projectId }),
  requests(['getProject'], { projectId }),
);

const ofServices = oneof(
  {
    weight: 4,
    arbitrary: record({
      as: byAnyone,
      route: constant('applyService' as const),
      input: record({ projectId, name, hostnames: subarray(HOSTNAMES), http: boolean() }).map(
        ({ projectId: project, name: service, hostnames, http }) => ({
          projectId: project,
          name: service,
          body: {
            name: service,
            image: 'it:1',
            ...(http ? { hostnames } : { http: false }),
          },
        }),
      ),
    }),
  },
  { weight: 2, arbitrary: requests(['exposeService'], { projectId, name }) },
  {
    weight: 4,
    arbitrary: requests(
      [
        'pauseService',
        'pauseService',
        'resumeService',
        'resumeService',
        'restartService',
        'unexposeService',
        'deleteService',
      ],
      { projectId, name },
    ),
  },
  { weight: 2, arbitrary: requests(['getService', 'getServiceHistory'], { projectId, name }) },
);

export const anyRequest: Arbitrary<Request> = oneof(
  { weight: 2, arbitrary: ofOrganizations },
  { weight: 2, arbitrary: ofMembers },
  { weight: 3, arbitrary: ofProjects },
  { weight: 5, arbitrary: ofServices },
);

const BEGINNING_SERVICE = { name: 's', image: 'it:1', hostnames: ['h1'] };

/** First requests of each history, so that the others have something to meet at. */
export const BEGINNING: readonly Request[] = [
  {
    as: 'ann',
    route: 'createOrganization',
    input: { organizationId: 'o1', body: { name: 'One' } },
  },
  {
    as: 'ann',
    route: 'createProject',
    input: { projectId: 'p', body: { name: 'One', organizationId: 'o1' } },
  },
  {
    as: 'ann',
    route: 'applyService',
    input: { projectId: 'p', name: 's', body: BEGINNING_SERVICE },
  },
  {
    as: 'root',
    route: 'repairMember',
    input: { organizationId: 'o1', subject: 'mia', body: { role: 'owner' } },
  },
];

/** Reads of everything, which show what a history has led to. */
export const READS: readonly Request[] = [
  ...ORGANIZATIONS.flatMap((id): Request[] => [
    { as: 'root', route: 'getOrganization', input: { organizationId: id } },
    { as: 'root', route: 'listMembers', input: { organizationId: id } },
  ]),
  ...PROJECTS.flatMap((id): Request[] => [
    { as: 'ann', route: 'getProject', input: { projectId: id } },
    ...SERVICES.flatMap((each): Request[] => [
      { as: 'ann', route: 'getService', input: { projectId: id, name: each } },
      { as: 'ann', route: 'getServiceHistory', input: { projectId: id, name: each } },
    ]),
  ]),
  ...PEOPLE.map((as): Request => ({ as, route: 'whoami', input: {} })),
];

/** Returns the input with the run added to every id that is unique in an installation. */
export function inputOf({ input }: Request, run: string): Input {
  const {
    organizationId: organization,
    projectId: project,
    subject: person,
    body,
    email: address,
  } = input;
  return {
    ...input,
    ...(organization !== undefined && { organizationId: organization + run }),
    ...(project !== undefined && { projectId: project + run }),
    ...(person !== undefined && { subject: person + run }),
    ...(address !== undefined && { email: addressIn(address, run) }),
    ...(body !== undefined && { body: bodyIn(body, run) }),
  };
}

function bodyIn(body: Readonly<Record<string, unknown>>, run: string) {
  const { organizationId: organization, email: address, hostnames } = body;
  return {
    ...body,
    ...(typeof organization === 'string' && { organizationId: organization + run }),
    ...(typeof address === 'string' && { email: addressIn(address, run) }),
    ...(Array.isArray(hostnames) && {
      hostnames: hostnames.map((each) => `${String(each)}${run}.example.org`),
    }),
  };
}

export function addressIn(address: string, run: string): string {
  return address.replace('@', `${run}@`);
}

/** Returns rows in the order of their first cells. */
export function sortedRows(rows: readonly (readonly [string, string])[]) {
  return rows.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
