// svc org …: organizations, their members and invitations. Each command is one call of one route.
import { ROLES, type OrganizationSummary, type Role } from '@svc/client';
import type { OptionDescription, WordDescription } from '../description.ts';
import { UsageError } from '../usage-error.ts';
import { routeCommand } from '../platform/route-command.ts';

const ID: WordDescription = { name: 'ID', completes: { kind: 'names', command: 'org list' } };
const SUBJECT: WordDescription = { name: 'SUBJECT' };
const EMAIL: WordDescription = { name: 'EMAIL' };
const ROLE: WordDescription = { name: 'ROLE', completes: { kind: 'choices', choices: ROLES } };

function roleOption(standard: Role) {
  return {
    type: 'string',
    value: 'ROLE',
    help: "'owner' or 'member'",
    default: standard,
    completes: { kind: 'choices', choices: ROLES },
  } as const satisfies OptionDescription;
}

export const orgList = routeCommand(
  'listOrganizations',
  {
    name: 'org list',
    summary: 'list your organizations',
    about: `Lists your organizations; for a platform administrator, all of them.`,
    words: [],
    examples: ['svc org list', "svc org list -o json | jq '.[].id'"],
  },
  {
    input: () => ({}),
    table: {
      heads: ['id', 'name', 'role', 'projects', 'state'],
      rows: (organizations) =>
        organizations.map(({ id, name, role = '', projects, disabled }) => [
          id,
          name,
          role,
          String(projects),
          disabled ? 'disabled' : '',
        ]),
    },
    names: (organizations) => organizations.map(({ id }) => id),
    note: (organizations) =>
      organizations.length > 0
        ? undefined
        : 'You belong to no organization. Create one with svc org create, or ask an owner to invite you.',
  },
);

export const orgGet = routeCommand(
  'getOrganization',
  {
    name: 'org get',
    summary: 'show an organization',
    about: 'Shows an organization, and your role in it.',
    words: [ID],
    examples: ['svc org get acme'],
  },
  {
    input: ([organizationId]) => ({ organizationId: organizationId! }),
    fields: organizationFields,
  },
);

function organizationFields({ id, name, role, projects, disabled }: OrganizationSummary) {
  return {
    id,
    name,
    role,
    projects: String(projects),
    state: disabled ? 'disabled by a platform administrator' : undefined,
  };
}

export const orgCreate = routeCommand(
  'createOrganization',
  {
    name: 'org create',
    summary: 'create an organization',
    about: `Creates an organization, of which you become the first owner. Its id can never be used again,
not even after it is deleted.`,
    words: [{ name: 'ID' }],
    options: {
      name: { type: 'string', value: 'NAME', help: 'name for people', otherwise: 'the id' },
      owner: {
        type: 'string',
        value: 'SUBJECT',
        help: 'first owner in your place, for platform administrators',
      },
      'owner-email': { type: 'string', value: 'EMAIL', help: "the owner's e-mail address" },
      'owner-name': { type: 'string', value: 'NAME', help: "the owner's name for people" },
    },
    examples: ['svc org create acme --name Acme'],
  },
  {
    input: ([id], { name, owner, 'owner-email': email, 'owner-name': display }) => {
      if (owner === undefined && (email ?? display) !== undefined)
        throw new UsageError('org create takes --owner-email and --owner-name with --owner.');
      const designation =
        owner === undefined
          ? {}
          : {
              owner: {
                subject: owner,
                ...(email === undefined ? {} : { email }),
                ...(display === undefined ? {} : { display }),
              },
            };
      return { organizationId: id!, body: { name: name ?? id!, ...designation } };
    },
    note: (_answer, { organizationId }) =>
      `Created the organization ${organizationId}. Create a project in it with svc project create ID --organization ${organizationId}.`,
  },
);

export const orgRename = routeCommand(
  'renameOrganization',
  {
    name: 'org rename',
    summary: 'change the name of an organization',
    about: 'Changes the name for people of an organization. Its id stays. For owners.',
    words: [ID, { name: 'NAME' }],
    examples: ['svc org rename acme Acme'],
  },
  {
    input: ([organizationId, name]) => ({ organizationId: organizationId!, body: { name: name! } }),
    note: (_answer, { organizationId }) => `Renamed the organization ${organizationId}.`,
  },
);

export const orgDelete = routeCommand(
  'deleteOrganization',
  {
    name: 'org delete',
    summary: 'delete an organization',
    about: `Deletes an organization without projects. Its id can never be used again. For owners.`,
    words: [ID],
    examples: ['svc org delete acme', 'svc org delete acme --yes'],
  },
  {
    input: ([organizationId]) => ({ organizationId: organizationId! }),
    question: ({ organizationId }) =>
      `Delete the organization ${organizationId}? Its id can never be used again.`,
    note: (_answer, { organizationId }) => `Deleted the organization ${organizationId}.`,
  },
);

export const orgMembers = routeCommand(
  'listMembers',
  {
    name: 'org members',
    summary: 'list members and invitations of an organization',
    about: `Lists the members of an organization, and the invitations that nobody has claimed.`,
    words: [ID],
    examples: ['svc org members acme'],
  },
  {
    input: ([organizationId]) => ({ organizationId: organizationId! }),
    table: {
      heads: ['subject', 'name', 'email', 'role', 'since', 'by'],
      rows: ({ members, invitations }) => [
        ...members.map(({ subject, display, email, role, since, addedBy }) => [
          subject,
          display,
          email,
          role,
          since,
          addedBy,
        ]),
        ...invitations.map(({ email, role, invitedAt, invitedBy }) => [
          '(invited)',
          '',
          email,
          role,
          invitedAt,
          invitedBy,
        ]),
      ],
    },
    names: ({ members }) => members.map(({ subject }) => subject),
  },
);

export const orgInvite = routeCommand(
  'inviteMember',
  {
    name: 'org invite',
    summary: 'invite a person by address',
    about: `Invites a person, who becomes a member with the first login that has the address, verified by the
identity provider. Inviting again replaces the role. No message is sent. For owners.`,
    words: [ID, EMAIL],
    options: { role: roleOption('member') },
    examples: [
      'svc org invite acme ben@example.com',
      'svc org invite acme ben@example.com --role owner',
    ],
  },
  {
    input: ([organizationId, email], { role }) => ({
      organizationId: organizationId!,
      body: { email: email!, role: role as Role },
    }),
    note: (_answer, { organizationId, body: { email } }) =>
      `Invited ${email} to ${organizationId}. Ask the person to log in: svc sends no message.`,
  },
);

export const orgRemove = routeCommand(
  'removeMember',
  {
    name: 'org remove',
    summary: 'remove a member',
    about: `Removes a member from an organization, from the member's next request on. For owners.`,
    words: [ID, SUBJECT],
    notes: `svc org members shows the subjects.`,
    examples: ['svc org remove acme 5f7c8ec7c33c6c00'],
  },
  {
    input: ([organizationId, subject]) => ({ organizationId: organizationId!, subject: subject! }),
    note: (_answer, { organizationId, subject }) => `Removed ${subject} from ${organizationId}.`,
  },
);

export const orgRole = routeCommand(
  'setMemberRole',
  {
    name: 'org role',
    summary: 'change the role of a member',
    about: `Changes the role of a member. The last owner stays one. For owners.`,
    words: [ID, SUBJECT, ROLE],
    notes: `svc org members shows the subjects.`,
    examples: ['svc org role acme 5f7c8ec7c33c6c00 owner'],
  },
  {
    input: ([organizationId, subject, role]) => ({
      organizationId: organizationId!,
      subject: subject!,
      body: { role: role as Role },
    }),
    note: (_answer, { organizationId, subject, body: { role } }) =>
      `${subject} has the role ${role} in ${organizationId} now.`,
  },
);

export const orgWithdraw = routeCommand(
  'withdrawInvitation',
  {
    name: 'org withdraw',
    summary: 'withdraw an invitation',
    about: `Withdraws an invitation that nobody has claimed. For owners.`,
    words: [ID, EMAIL],
    examples: ['svc org withdraw acme ben@example.com'],
  },
  {
    input: ([organizationId, email]) => ({ organizationId: organizationId!, email: email! }),
    note: (_answer, { organizationId, email }) =>
      `Withdrew the invitation of ${email} to ${organizationId}.`,
  },
);

export const orgRepair = routeCommand(
  'repairMember',
  {
    name: 'org repair',
    summary: 'add a member directly, as a platform administrator',
    about: `Adds a member by subject, for an organization whose owners have all left. For platform
administrators.`,
    words: [ID, SUBJECT],
    options: { role: roleOption('owner') },
    examples: ['svc org repair acme 5f7c8ec7c33c6c00'],
  },
  {
    input: ([organizationId, subject], { role }) => ({
      organizationId: organizationId!,
      subject: subject!,
      body: { role: role as Role },
    }),
    note: (_answer, { organizationId, subject }) =>
      `${subject} is a member of ${organizationId} now.`,
  },
);

export const orgDisable = routeCommand(
  'disableOrganization',
  {
    name: 'org disable',
    summary: 'disable an organization, as a platform administrator',
    about: `Suspends all services of an organization. Its members can read everything, and change nothing.
For platform administrators.`,
    words: [ID],
    examples: ['svc org disable acme'],
  },
  {
    input: ([organizationId]) => ({ organizationId: organizationId! }),
    note: (_answer, { organizationId }) =>
      `Disabled ${organizationId}. svc org enable ${organizationId} reverses it.`,
  },
);

export const orgEnable = routeCommand(
  'enableOrganization',
  {
    name: 'org enable',
    summary: 'enable an organization again, as a platform administrator',
    about: `Enables an organization. Each of its services returns to the state that it had. For platform
administrators.`,
    words: [ID],
    examples: ['svc org enable acme'],
  },
  {
    input: ([organizationId]) => ({ organizationId: organizationId! }),
    note: (_answer, { organizationId }) => `Enabled ${organizationId}.`,
  },
);
