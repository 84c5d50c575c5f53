// The routes of members and invitations.
import type { Invitation, Member } from '@svc/client';
import { Ok, type ReadonlyDeep, type ValueOf } from '@svc/host';
import { actorOf } from '../access/caller-identity.ts';
import type { Call } from '../flows/call.ts';
import { invite, repairMember } from '../flows/change-members.ts';
import { organization } from '../model/organization.ts';
import type {
  Invitation as StoredInvitation,
  Member as StoredMember,
  Person,
} from '../model/organization-state.ts';
import { person } from '../model/person.ts';
import type { ApiHandlers } from './control-plane-table.ts';
import { emailKey } from './email-key.ts';

type MemberRoute =
  | 'listMembers'
  | 'inviteMember'
  | 'removeMember'
  | 'setMemberRole'
  | 'withdrawInvitation'
  | 'repairMember';

export function memberHandlers(): ApiHandlers<MemberRoute> {
  return {
    async listMembers({ input: { organizationId }, call }) {
      const people = await call(organization, organizationId).people();
      if (!people.isOk) return people;
      const members: Member[] = [];
      for (const [subject, member] of earliestFirst(people.value.members, 'sinceMs'))
        members.push(await memberOf(call, subject, member));
      const invitations = earliestFirst(people.value.invitations, 'invitedAtMs');
      return new Ok({ members, invitations: invitations.map(([, each]) => invitationOf(each)) });
    },
    async inviteMember({ input: { organizationId, body }, given: { caller }, call }) {
      const email = body.email.trim();
      const key = emailKey(email, '/email');
      if (typeof key !== 'string') return key;
      const { role = 'member' } = body;
      return await invite(call, organizationId, { key, email, role }, actorOf(caller));
    },
    async removeMember({ input: { organizationId, subject }, given: { caller }, call }) {
      return await call(organization, organizationId).removeMember({
        subject,
        by: actorOf(caller),
      });
    },
    async setMemberRole({ input: { organizationId, subject, body }, given: { caller }, call }) {
      return await call(organization, organizationId).setRole({
        subject,
        role: body.role,
        by: actorOf(caller),
      });
    },
    async withdrawInvitation({ input: { organizationId, email }, given: { caller }, call }) {
      const key = emailKey(email, '/email');
      if (typeof key !== 'string') return key;
      return await call(organization, organizationId).withdrawInvitation({
        key,
        by: actorOf(caller),
      });
    },
    async repairMember({ input: { organizationId, subject, body }, given: { caller }, call }) {
      const { role = 'owner' } = body ?? {};
      // Names are looked up when members are listed: with one in it, a repeated request could be another one.
      const repaired = { person: { subject, email: '', emailKey: '', display: subject }, role };
      return await repairMember(call, organizationId, repaired, actorOf(caller, true));
    },
  };
}

/** A person of whom no token has been seen has no name but the subject. Whether the address is verified is not known. */
async function personBySubject(call: Call, subject: string): Promise<Person> {
  const profile = await call(person, subject).profile();
  const { name, email } = profile.isOk ? profile.value : { name: '', email: '' };
  return { subject, email, emailKey: '', display: name || email || subject };
}

/** A member of whom nothing was known when it was added is shown as its tokens say since. */
async function memberOf(
  call: Call,
  subject: string,
  { role, email, display, sinceMs, addedBy }: ReadonlyDeep<StoredMember>,
): Promise<Member> {
  const since = new Date(sinceMs).toISOString();
  if (email !== '') return { subject, role, email, display, since, addedBy };
  const known = await personBySubject(call, subject);
  const shown = display === subject ? known.display : display;
  return { subject, role, email: known.email, display: shown, since, addedBy };
}

function invitationOf({
  email,
  role,
  invitedAtMs,
  invitedBy,
}: ReadonlyDeep<ValueOf<typeof StoredInvitation>>): Invitation {
  return { email, role, invitedAt: new Date(invitedAtMs).toISOString(), invitedBy };
}

function earliestFirst<Time extends string, Value extends Readonly<Record<Time, number>>>(
  entries: Readonly<Record<string, Value>>,
  time: Time,
): [string, Value][] {
  return Object.entries(entries).toSorted(
    ([a, left], [b, right]) => left[time] - right[time] || (a < b ? -1 : 1),
  );
}
