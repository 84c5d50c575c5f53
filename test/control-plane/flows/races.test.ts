// Requests that delete a parent while others create its children: nothing is left without its parent.
import { describe, expect, test } from 'vitest';
import { applyService } from '../../../control-plane/flows/apply-service.ts';
import { createProject } from '../../../control-plane/flows/create-project.ts';
import { deleteOrganization } from '../../../control-plane/flows/delete-organization.ts';
import { deleteProject } from '../../../control-plane/flows/delete-project.ts';
import { deleteService } from '../../../control-plane/flows/delete-service.ts';
import { exposeService } from '../../../control-plane/flows/expose-service.ts';
import { organization } from '../../../control-plane/model/organization.ts';
import { project } from '../../../control-plane/model/project.ts';
import {
  accepted,
  actor,
  descriptor,
  givenOrganization,
  givenProject,
  outcomeOf,
  outcomesOf,
  startControlPlane,
} from '../control-plane-under-test.ts';
import { expectSettled } from '../expect-settled.ts';

const ann = actor('ann');
const ROUNDS = 10;
const rounds = Array.from({ length: ROUNDS }, (_, n) => n);

describe('deleting', () => {
  test('hard case 2: an organization while a project is created leaves no project without organization', async () => {
    const { call } = await startControlPlane();
    const outcomes: string[] = [];
    for (const n of rounds) {
      const [organizationId, id] = [`o${n}`, `p${n}`];
      await givenOrganization(call, organizationId);
      const create = () => createProject(call, id, { organizationId, name: id }, ann);
      const remove = () => deleteOrganization(call, organizationId, ann);
      // Every second time, the id is claimed already when the organization is to be deleted.
      const late = async () => {
        while (accepted(await call(organization, organizationId).projectIds()).length === 0);
        return remove();
      };
      const requests = n % 2 === 0 ? [create, late] : [remove, create];
      const results = await Promise.all(requests.map((send) => send()));
      outcomes.push(outcomesOf(results).join());
    }
    // One is refused, always: an organization that has a project is not deleted, and one that is deleted takes none.
    expect(new Set(outcomes)).toEqual(new Set(['CONFLICT,ok', 'NOT_FOUND,ok']));
    await expectSettled(call, {
      organizations: rounds.map((n) => `o${n}`),
      projects: rounds.map((n) => `p${n}`),
      services: [],
      hostnames: [],
    });
  });

  test('hard case 3: a project while a service is applied leaves no service without project', async () => {
    const { call } = await startControlPlane();
    const outcomes: string[] = [];
    for (const n of rounds) {
      const id = `p${n}`;
      await givenProject(call, `o${n}`, id);
      const apply = () =>
        applyService(call, { project: id, service: 'cart' }, descriptor('cart'), ann);
      const remove = () => deleteProject(call, id, ann);
      // Every second time, the name is claimed already when the project is to be deleted.
      const late = async () => {
        while (accepted(await call(project, id).serviceNames()).length === 0);
        return remove();
      };
      const results = await Promise.all([apply(), n % 2 === 0 ? remove() : late()]);
      outcomes.push(outcomesOf(results).join());
    }
    expect(new Set(outcomes)).toEqual(new Set(['CONFLICT,ok', 'NOT_FOUND,ok']));
    await expectSettled(call, {
      organizations: rounds.map((n) => `o${n}`),
      projects: rounds.map((n) => `p${n}`),
      services: rounds.map((n) => `p${n}/cart`),
      hostnames: [],
    });
  });

  test('a service while it is exposed frees its hostname', async () => {
    const { call } = await startControlPlane();
    await givenProject(call, 'shop', 'web');
    for (const n of rounds) {
      const key = { project: 'web', service: `s${n}` };
      accepted(await applyService(call, key, descriptor(key.service), ann));
      const [, deleted] = await Promise.all([
        exposeService(call, key, `s${n}.example`, ann),
        deleteService(call, key, ann),
      ]);
      accepted(deleted);
    }
    const settled = expectSettled(call, {
      organizations: ['shop'],
      projects: ['web'],
      services: rounds.map((n) => `web/s${n}`),
      hostnames: rounds.map((n) => `s${n}.example`),
    });
    await expect(settled).resolves.toBeUndefined();
  });
});

describe('an id of a project', () => {
  test('is given once, whichever organization asks, and never again', async () => {
    const { call } = await startControlPlane();
    const organizations = ['a', 'b', 'c'];
    for (const id of organizations) await givenOrganization(call, id);
    const create = (organizationId: string) =>
      createProject(call, 'web', { organizationId, name: 'Web' }, ann);
    const results = await Promise.all([...organizations, ...organizations].map(create));
    expect(outcomesOf(results)).toEqual([...Array<string>(5).fill('CONFLICT'), 'ok']);
    const ids = { organizations, projects: ['web'], services: [], hostnames: [] };
    await expectSettled(call, ids);
    accepted(await deleteProject(call, 'web', ann));
    expect(outcomeOf(await create('a'))).toBe('CONFLICT');
    expect(outcomeOf(await deleteProject(call, 'web', ann))).toBe('NOT_FOUND');
    await expectSettled(call, ids);
  });

  test('that 50 requests create at once is created by one of them', async () => {
    const { call } = await startControlPlane();
    await givenOrganization(call, 'shop');
    const create = () => createProject(call, 'web', { organizationId: 'shop', name: 'Web' }, ann);
    const results = await Promise.all(Array.from({ length: 50 }, create));
    expect(outcomesOf(results)).toEqual([...Array<string>(49).fill('CONFLICT'), 'ok']);
    await expectSettled(call, {
      organizations: ['shop'],
      projects: ['web'],
      services: [],
      hostnames: [],
    });
  });

  test('of a deleted organization is not asked for', async () => {
    const { call } = await startControlPlane();
    const created = await createProject(call, 'web', { organizationId: 'gone', name: 'Web' }, ann);
    expect(outcomeOf(created)).toBe('NOT_FOUND');
    await givenProject(call, 'shop', 'web');
  });
});

test('an organization with projects and a project with services are not deleted', async () => {
  const { call } = await startControlPlane();
  await givenProject(call, 'shop', 'web');
  const key = { project: 'web', service: 'cart' };
  accepted(await applyService(call, key, descriptor('cart'), ann));
  const removeShop = () => call(organization, 'shop').delete({ by: ann });
  expect(outcomeOf(await removeShop())).toBe('CONFLICT');
  expect(outcomeOf(await deleteProject(call, 'web', ann))).toBe('CONFLICT');
  accepted(await deleteService(call, key, ann));
  accepted(await deleteProject(call, 'web', ann));
  accepted(await removeShop());
});
