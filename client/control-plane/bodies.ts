// The bodies of the control plane's requests and answers: a schema for each, and its type. The descriptions are those of
// OpenAPI and of docs/reference/control-plane.md.
import { descriptorSchema } from './descriptor-schema.ts';
import {
  displayName,
  email,
  organizationId,
  projectId,
  serviceName,
  subject,
} from './identifiers.ts';
import {
  body,
  boolean,
  integer,
  list,
  nullable,
  object,
  openWord,
  text,
  word,
  type ValueOf,
} from './schema.ts';
import { HISTORY_KINDS, HOSTINGS, LIFECYCLES, ROLES } from './vocabularies.ts';

const time = { format: 'date-time' } as const;
const role = openWord('role in the organization', ROLES);
const count = { minimum: 0 } as const;

export const failure = object('Failure', 'Every answer from 400 on.', {
  status: integer('status of the answer', { minimum: 400, maximum: 599 }),
  error: text('reason; problems of a body have a line `path: reason` each'),
});
export type Failure = ValueOf<typeof failure>;

export const loginInformation = object('LoginInformation', 'How to get a token.', {
  issuer: text("URL of the identity provider's issuer"),
  clientId: text('public client id of the command line'),
  audience: text('audience that a token has to have'),
});
export type LoginInformation = ValueOf<typeof loginInformation>;

export const identity = object(
  'Identity',
  'The caller, as its token says, and its organizations.',
  {
    subject: text('claim `sub` of the token'),
    emailVerified: boolean('whether the identity provider has verified the address'),
    platformAdmin: boolean('whether the caller is a platform administrator'),
    organizations: list(
      'every organization of the caller',
      object('IdentityOrganization', 'An organization of the caller.', {
        id: organizationId,
        name: displayName,
        role,
      }),
    ),
  },
  { name: text('name for people'), email: text('e-mail address') },
);
export type Identity = ValueOf<typeof identity>;

export const organizationSummary = object(
  'OrganizationSummary',
  'An organization.',
  {
    id: organizationId,
    name: displayName,
    projects: integer('number of projects', count),
    disabled: boolean('whether a platform administrator has disabled the organization'),
  },
  { role: openWord("the caller's role; absent for an administrator who is no member", ROLES) },
);
export type OrganizationSummary = ValueOf<typeof organizationSummary>;

export const member = object('Member', 'A member of an organization.', {
  subject: text('subject of the member'),
  role,
  email: text("the member's e-mail address, empty if it is not known"),
  display: text("the member's name for people"),
  since: text('time from which it is a member', time),
  addedBy: text('name of the person who added the member'),
});
export type Member = ValueOf<typeof member>;

export const invitation = object('Invitation', 'An invitation that nobody has claimed.', {
  email: text('invited address'),
  role,
  invitedAt: text('time of the invitation', time),
  invitedBy: text('name of the person who invited'),
});
export type Invitation = ValueOf<typeof invitation>;

export const memberList = object('MemberList', 'Who belongs to an organization.', {
  members: list('members', member),
  invitations: list('invitations that nobody has claimed', invitation),
});
export type MemberList = ValueOf<typeof memberList>;

export const projectSummary = object('ProjectSummary', 'A project.', {
  id: projectId,
  name: displayName,
  organizationId,
  services: integer('number of services', count),
});
export type ProjectSummary = ValueOf<typeof projectSummary>;

export const serviceStatus = object(
  'ServiceStatus',
  'A service: what it should be, and what was last observed of it.',
  {
    name: serviceName,
    projectId,
    lifecycle: openWord('state; later versions may have further states', LIFECYCLES),
    generation: integer('increases with each apply and each restart', { minimum: 1 }),
    image: text('image of the descriptor'),
    readyInstances: integer('instances that are ready', count),
    desiredInstances: integer('instances that should be running', count),
    confirmed: boolean('false: the status repeats what was last known'),
    exposed: boolean('whether the derived hostname leads to the service'),
    suspended: boolean('whether its organization is disabled'),
    paused: boolean('whether its members have paused it'),
    hosting: openWord('hosting of the descriptor', HOSTINGS),
  },
  {
    detail: text('why the service is in its state'),
    database: text("what the platform did about the service's database, such as `provisioned`"),
    hostname: text('URL of the service while it is exposed'),
    protocol: text('protocol of the descriptor'),
  },
);
export type ServiceStatus = ValueOf<typeof serviceStatus>;

export const serviceLogs = object('ServiceLogs', 'Recent output of the instances.', {
  instances: list(
    'an entry for each instance',
    object('InstanceLogs', 'Recent output of an instance.', {
      instance: text('name of the instance'),
      output: text('output'),
      error: nullable('why the output cannot be read', text('reason')),
    }),
  ),
});
export type ServiceLogs = ValueOf<typeof serviceLogs>;

export const historyEntry = object(
  'HistoryEntry',
  'A change of a service.',
  {
    kind: openWord('kind of the change', HISTORY_KINDS),
    generation: integer('generation after the change', { minimum: 1 }),
  },
  {
    actor: object('Actor', 'The caller that made the change.', {
      subject: text('subject of the caller'),
      display: text('name for people'),
      administrative: boolean('whether the role platform-admin allowed the change'),
    }),
    at: text('time of the change', time),
  },
);
export type HistoryEntry = ValueOf<typeof historyEntry>;

export const ownerDesignation = body(
  'OwnerDesignation',
  'The first owner of an organization. Platform administrators may name one.',
  { subject },
  { email, display: displayName },
);
export type OwnerDesignation = ValueOf<typeof ownerDesignation>;

export const organizationCreation = body(
  'OrganizationCreation',
  'A new organization.',
  { name: displayName },
  { owner: ownerDesignation },
);
export type OrganizationCreation = ValueOf<typeof organizationCreation>;

export const renaming = body('Renaming', 'A new name for people.', { name: displayName });
export type Renaming = ValueOf<typeof renaming>;

export const inviting = body(
  'Inviting',
  'An invitation.',
  { email },
  { role: word('role of the new member, `member` by default', ROLES) },
);
export type Inviting = ValueOf<typeof inviting>;

export const roleChange = body('RoleChange', 'Another role of a member.', {
  role: word('the new role', ROLES),
});
export type RoleChange = ValueOf<typeof roleChange>;

export const repair = body(
  'Repair',
  'A member that a platform administrator adds.',
  {},
  { role: word('role of the member, `owner` by default', ROLES) },
);
export type Repair = ValueOf<typeof repair>;

export const projectCreation = body('ProjectCreation', 'A new project.', {
  name: displayName,
  organizationId,
});
export type ProjectCreation = ValueOf<typeof projectCreation>;

export { descriptorSchema as serviceDescriptor };
