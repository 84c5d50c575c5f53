// svc auth, svc whoami: how to get a token, and who the caller is.
import { routeCommand } from '../platform/route-command.ts';

export const auth = routeCommand(
  'getLoginInformation',
  {
    name: 'auth',
    summary: 'show how an installation takes logins',
    about: `Shows the identity provider of the installation, the client that svc login uses there, and the
audience that tokens need. It needs no login.`,
    words: [],
    examples: ['svc auth', 'SVC_URL=https://api.example.com svc auth -o json'],
  },
  {
    input: () => ({}),
    fields: ({ issuer, clientId, audience }) => ({ issuer, client: clientId, audience }),
  },
);

export const whoami = routeCommand(
  'whoami',
  {
    name: 'whoami',
    summary: 'show who you are to an installation',
    about: `Shows who you are to the installation, and your organizations with your roles. Invitations of
your verified address become memberships first.`,
    words: [],
    examples: ['svc whoami', 'svc whoami -o json'],
  },
  {
    input: () => ({}),
    fields: ({ subject, name, email, emailVerified, platformAdmin, organizations }) => ({
      subject,
      name,
      email: email === undefined || emailVerified ? email : `${email} (not verified)`,
      platform: platformAdmin ? 'administrator' : undefined,
      organizations: organizations.map(({ id, role }) => `${id} (${role})`).join(', ') || undefined,
    }),
    note: ({ organizations }) =>
      organizations.length > 0
        ? undefined
        : 'You belong to no organization. Create one with svc org create, or ask an owner to invite you.',
  },
);
