// Membership: what is asked for what a caller may not see, and for what does not exist.
import { expect, test } from 'vitest';
import {
  membershipIn,
  membershipInOrganizationOf,
  type Membership,
} from '../../../control-plane/access/membership.ts';
import type { Call } from '../../../control-plane/flows/call.ts';
import { givenProject, startControlPlane } from '../control-plane-under-test.ts';

/** Records the component and the name of each query. */
function recorded(call: Call): { readonly call: Call; readonly asked: string[] } {
  const asked: string[] = [];
  const recording = (...[entity, id]: Parameters<Call>) =>
    new Proxy(call(entity, id), {
      get(client, name) {
        asked.push(`${entity.component}.${String(name)}`);
        const query = client[name as keyof typeof client] as unknown as () => unknown;
        return query.bind(client);
      },
    });
  return { call: recording as Call, asked };
}

test('hidden things cost the same queries as those that do not exist, whatever their ids', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const stranger = { subject: 'eve' };
  const queriesOf = async (
    ask: (call: Call) => Promise<Membership | undefined>,
  ): Promise<readonly string[]> => {
    const { call: recording, asked } = recorded(call);
    expect((await ask(recording))?.role).toBeUndefined();
    return asked;
  };
  for (const id of ['shop', 'never', 'No_Id', '__proto__', '', 'x'.repeat(5000)])
    expect(await queriesOf((asking) => membershipIn(asking, id, stranger))).toEqual([
      'organization.access',
    ]);
  for (const id of ['web', 'never', 'web-', '__proto__', '', 'x'.repeat(5000)])
    expect(await queriesOf((asking) => membershipInOrganizationOf(asking, id, stranger))).toEqual([
      'project.organization',
      'organization.access',
    ]);
});
